/**
 * Answers fetches of single objects by their ids, and of the commits of the last weeks, as the
 * service reads a repository. Reads the files that hold them, where `git upload-pack` would start
 * two programs for each. Everything that is not plain is left to git: then the result is `null`.
 */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type GitObject, hasHostConfig, readLooseObject, readRefs } from './bare-repository.ts';
import { argumentsOf, pktLine } from './pkt-line.ts';

/**
 * Filter with which only the commits that a wanted object names are sent (git-rev-list,
 * `--filter=tree:0`).
 */
const ONLY_WANTED = 'filter tree:0';
const WITH_TAGS = 'include-tag';
const UNTOLD = new Set(['no-progress', 'ofs-delta', 'thin-pack', WITH_TAGS, ONLY_WANTED, 'done']);

const TYPES = new Map([
  ['commit', 1],
  ['tree', 2],
  ['blob', 3],
]);
/** Most bytes of a packet (gitprotocol-common), less its length and the number of its band. */
const BAND_BYTES = 65_520 - 5;

const TAG = /^refs\/tags\//;

/** Longest history that is read here. For a longer one, git is as fast. */
const LONGEST_LINE = 50;

interface Found {
  readonly objects: readonly GitObject[];
  /** Ids of commits that are sent without their parents. */
  readonly shallow: readonly string[];
}

/** Makes the answer to the command `fetch` of protocol version 2 (gitprotocol-v2). */
export function fetchedObjects(path: string, body: Buffer): Buffer | null {
  const args = argumentsOf('fetch', body);
  if (args === null || !args.includes(ONLY_WANTED) || !args.includes('done')) return null;
  const wanted = new Set(
    args.flatMap((line) => (line.startsWith('want ') ? [line.slice('want '.length)] : [])),
  );
  const [depth, ...others] = args.filter((line) => !UNTOLD.has(line) && !line.startsWith('want '));
  if (others.length > 0 || wanted.size === 0 || !hasHostConfig(path)) return null;
  if (args.includes(WITH_TAGS) && [...readRefs(path).keys()].some((name) => TAG.test(name))) return null;
  const found = depth === undefined ? filesOf(path, wanted) : commitsOf(path, wanted, depth);
  if (found === null) return null;
  const depths =
    depth === undefined ? '' : `${pktLine('shallow-info')}${found.shallow.map(shallowLine).join('')}0001`;
  return Buffer.concat([
    Buffer.from(depths + pktLine('packfile')),
    ...inBand(packOf(found.objects)),
    Buffer.from('0000'),
  ]);
}

/**
 * Finds a folder, or files. If several objects are wanted that are no files, git leaves out those
 * that it meets on its way to another.
 */
function filesOf(path: string, wanted: ReadonlySet<string>): Found | null {
  const objects: GitObject[] = [];
  for (const oid of wanted) {
    const object = readLooseObject(path, oid);
    if (object?.type !== 'blob' && (object?.type !== 'tree' || wanted.size > 1)) return null;
    objects.push(object);
  }
  return { objects, shallow: [] };
}

/**
 * Form of a commit as git reads it (commit.c takes a date from no other place), with at most one
 * parent.
 */
const PLAIN_COMMIT = /^tree .{40}\n(?:parent (.{40})\n)?author .*\ncommitter .*> (\d{1,12}) [+-]\d{4}\n/;

/**
 * Finds a commit and the commits before it that are wanted with it.
 * @param depth `deepen` and their number, or `deepen-since` and seconds since 1970 that all of them
 * have passed. git reads a number that begins with a zero as octal, or refuses it.
 */
function commitsOf(path: string, wanted: ReadonlySet<string>, depth: string): Found | null {
  const [, most] = /^deepen ([1-9]\d{0,8})$/.exec(depth) ?? [];
  const [, since] = /^deepen-since ([1-9]\d{0,11})$/.exec(depth) ?? [];
  if (wanted.size > 1 || (most ?? since) === undefined) return null;
  const objects: GitObject[] = [];
  for (let [oid] = wanted; oid !== undefined;) {
    const object = readLooseObject(path, oid);
    if (object?.type !== 'commit' || objects.length === LONGEST_LINE) return null;
    objects.push(object);
    if (objects.length === Number(most)) return { objects, shallow: [oid] };
    const plain = PLAIN_COMMIT.exec(object.content.toString('latin1'));
    if (plain === null || Number(plain[2]) < Number(since ?? 0)) return null;
    oid = plain[1];
  }
  return { objects, shallow: [] };
}

/** Writes a line without a line feed, as git does here. */
const shallowLine = (oid: string): string => `0034shallow ${oid}`;

function packOf(objects: readonly GitObject[]): Buffer {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  head.writeUInt32BE(objects.length, 8);
  const entries = objects.flatMap(({ type, content }) => [
    entryHeader(TYPES.get(type) ?? 0, content.length),
    deflateSync(content),
  ]);
  const pack = Buffer.concat([head, ...entries]);
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()]);
}

/** Writes type and size in groups of bits, the lowest first (gitformat-pack). */
function entryHeader(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = size >>> 4; rest > 0; rest >>>= 7) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
}

function inBand(bytes: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += BAND_BYTES) {
    const part = bytes.subarray(start, start + BAND_BYTES);
    packets.push(Buffer.from(`${(part.length + 5).toString(16).padStart(4, '0')}\x01`, 'latin1'), part);
  }
  return packets;
}
