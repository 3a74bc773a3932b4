/**
 * Single objects by their ids, as the service reads commits, folders and files of a repository: out of the files that
 * hold them, where `git upload-pack` would start two programs for each. Whatever is not as plain is left to it: `null`.
 */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type GitObject, hasHostConfig, readLooseObject } from './bare-repository.ts';
import { argumentsOf, pktLine } from './pkt-line.ts';

/** With this filter, of what a wanted object names only commits are sent (git-rev-list, `--filter=tree:0`). */
const ONLY_WANTED = 'filter tree:0';
const UNTOLD = new Set(['no-progress', 'ofs-delta', 'thin-pack', ONLY_WANTED, 'done']);

const TYPES = new Map([
  ['commit', 1],
  ['tree', 2],
  ['blob', 3],
]);
/** The most that a packet holds (gitprotocol-common), less its length and the number of its band. */
const BAND_BYTES = 65_520 - 5;

/** The answer to the command `fetch` of protocol version 2 (gitprotocol-v2). */
export function fetchedObjects(path: string, body: Buffer): Buffer | null {
  const args = argumentsOf('fetch', body);
  if (args === null || !args.includes(ONLY_WANTED) || !args.includes('done')) return null;
  const wanted = args.flatMap((line) => (line.startsWith('want ') ? [line.slice('want '.length)] : []));
  const isShallow = args.includes('deepen 1');
  const others = args.filter((line) => !UNTOLD.has(line) && !line.startsWith('want ') && line !== 'deepen 1');
  if (others.length > 0 || wanted.length === 0 || !hasHostConfig(path)) return null;
  const objects: GitObject[] = [];
  const shallow: string[] = [];
  for (const oid of new Set(wanted)) {
    const object = readLooseObject(path, oid);
    // Of a commit without a depth, all commits before it would be sent.
    if (object === undefined || !TYPES.has(object.type) || (object.type === 'commit' && !isShallow))
      return null;
    if (object.type === 'commit') shallow.push(oid);
    objects.push(object);
  }
  // Of several, git leaves out what it meets on its way to another.
  if (objects.length > 1 && objects.some(({ type }) => type !== 'blob')) return null;
  const depths = isShallow ? `${pktLine('shallow-info')}${shallow.map(shallowLine).join('')}0001` : '';
  return Buffer.concat([
    Buffer.from(depths + pktLine('packfile')),
    ...inBand(packOf(objects)),
    Buffer.from('0000'),
  ]);
}

/** git writes no line feed behind it. */
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

/** Type and size in groups of bits, the lowest first (gitformat-pack). */
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
