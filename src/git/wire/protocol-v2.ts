/**
 * Protocol v2 with the host (gitprotocol-v2). Stateless over HTTP, so it takes no round trip for
 * capabilities.
 */
import type { ByteReader } from './byte-reader.ts';
import { concatBytes, decodeUtf8, utf8 } from '../bytes.ts';
import { type Memory, UNCOUNTED } from '../memory.ts';
import type { OidBeginnings } from '../objects/oid-beginnings.ts';
import { type Oid, OID_HEX_LENGTH, oidFromHex } from '../objects/oid.ts';
import {
  DELIM_PKT,
  encodePktLine,
  FLUSH_PKT,
  readPacket,
  refuseErrorPacket,
  takePayload,
} from './pkt-line.ts';
import { badRequest, ProtocolError } from './protocol-error.ts';
import type { Ref } from './ref-advertisement.ts';

/** Refs of one list that are kept: the largest public repositories have half a million. */
export const MAX_REFS = 20_000;
/** Memory of a ref in a list and in an advertisement, besides its line in both. */
export const REF_BYTES = 200;
const COUNTED_STEP = 64 * 1024;
/** For the ids of all refs of a repository: some 780,000 of them. */
const MAX_ADVERTISED_BYTES = 6 * 1024 * 1024;
/** The names and ids of one list, for a host with very long names. */
const MAX_REF_LIST_BYTES = 4 * 1024 * 1024;
/** No file system takes a longer name. */
const MAX_REF_LINE_BYTES = 4096;
const BRANCHES = 'refs/heads/';
const NOTHING = new Uint8Array(0);
const UNBORN = utf8('unborn');
const SYMREF_TARGET = / symref-target:([^ \n]*)/;
const SPACE = 0x20;
const LF = 0x0a;
const COLON = 0x3a;

const encodedLines = (lines: readonly string[]) => lines.map((line) => encodePktLine(`${line}\n`));

/** The name of every Git toward a host, the clients' and the service's own. */
export const AGENT = 'agent=git/2.0';

/**
 * The lines with which every request begins: a host cannot tell a relayed one from the service's
 * own.
 */
export function headOf(command: string): readonly string[] {
  return [`command=${command}`, AGENT, 'object-format=sha1'];
}

function encodeCommand(command: string, args: readonly string[]): Uint8Array {
  return concatBytes([...encodedLines(headOf(command)), DELIM_PKT, ...encodedLines(args), FLUSH_PKT]);
}

function malformedAnswer(what: string): ProtocolError {
  return badRequest(`The code host sent a malformed ${what}.`);
}

/** Asks for what Git asks for in a clone or a fetch, which are relayed. */
export function encodeLsRefs(prefixes: readonly string[]): Uint8Array {
  const attributes = ['peel', 'symrefs', 'unborn'];
  return encodeCommand('ls-refs', [...attributes, ...prefixes.map((prefix) => `ref-prefix ${prefix}`)]);
}

/**
 * All refs, such as those that a host keeps for pull requests, and what annotated tags stand for.
 */
export function encodePeeledLsRefs(): Uint8Array {
  return encodeCommand('ls-refs', ['peel', 'ref-prefix refs/']);
}

export interface RefList {
  readonly refs: readonly Ref[];
  /**
   * The ref that HEAD points to, even if that branch has no commit yet; null if HEAD was not
   * listed.
   */
  readonly head: string | null;
  /**
   * Null while the branch of HEAD has no commit: an empty repository, or a fork whose objects are
   * on their way.
   */
  readonly headTip: Oid | null;
  /** Not if the list was cut within the branches. */
  readonly hasAllBranches: boolean;
}

/**
 * Reads a ref list up to its limits, and cancels the rest. Git lists HEAD first and then by name,
 * so branches come before tags. A ref whose name is not UTF-8, or is too long, is left out.
 * @throws ProtocolError, what `memory` throws.
 * @param beforeWait called before it waits for memory.
 */
export async function readLsRefs(
  reader: ByteReader,
  memory: Memory = UNCOUNTED,
  beforeWait?: () => void,
): Promise<RefList> {
  const refs: Ref[] = [];
  const claim = memory.claim();
  let head: string | null = null;
  let headTip: Oid | null = null;
  let keptBytes = 0;
  for (;;) {
    const payload = takePayload(reader) ?? (await readLine(reader));
    if (payload === null) return { refs, head, headTip, hasAllBranches: true };
    refuseErrorPacket(payload);
    const { oid, name } = idAndName(payload);
    if (name === 'HEAD') {
      head = SYMREF_TARGET.exec(decodeUtf8(payload) ?? '')?.[1] ?? null;
      headTip = oid;
    }
    if (oid === null || name === null || name === 'HEAD') continue;
    keptBytes += payload.byteLength;
    if (refs.length === MAX_REFS || keptBytes > MAX_REF_LIST_BYTES) {
      await reader.cancel();
      const hasAllBranches = refs[0]?.name.startsWith(BRANCHES) === true && !name.startsWith(BRANCHES);
      return { refs, head, headTip, hasAllBranches };
    }
    refs.push({ name, oid });
    const usedBytes = REF_BYTES * refs.length + 2 * keptBytes;
    if (usedBytes > claim.bytes) await claim.set(usedBytes + COUNTED_STEP, beforeWait);
  }
}

/**
 * Which of some ids refs name or peel to, with the first ref of each. Keeps nothing else.
 * @param enough ends the reading.
 * @throws ProtocolError
 */
export async function readAdvertised(
  reader: ByteReader,
  oids: ReadonlySet<Oid>,
  enough?: AbortSignal,
): Promise<Map<Oid, string>> {
  const found = new Map<Oid, string>();
  while (found.size < oids.size) {
    if (enough?.aborted) break;
    const payload = takePayload(reader) ?? (await readLine(reader));
    if (payload === null) return found;
    for (const oid of advertisedBy(payload)) {
      if (oids.has(oid) && !found.has(oid)) found.set(oid, idAndName(payload).name ?? '');
    }
  }
  await reader.cancel();
  return found;
}

/**
 * Adds the ids that refs name or peel to, until there are too many.
 * @param beforeWait called before it waits for memory.
 * @throws ProtocolError, what `memory` throws.
 */
export async function readAdvertisedIds(
  reader: ByteReader,
  ids: OidBeginnings,
  memory: Memory,
  beforeWait?: () => void,
): Promise<void> {
  const claim = memory.claim();
  try {
    while (ids.byteLength < MAX_ADVERTISED_BYTES) {
      const payload = takePayload(reader) ?? (await readLine(reader));
      if (payload === null) return;
      for (const oid of advertisedBy(payload)) ids.push(oid);
      // Twice, because the list grows by copying.
      const usedBytes = 2 * ids.byteLength;
      if (usedBytes > claim.bytes) await claim.set(usedBytes + COUNTED_STEP, beforeWait);
    }
    await reader.cancel();
  } finally {
    // From here on, the cache bounds them.
    claim.setNow(0);
  }
}

/**
 * Returns the id of a ref, and of what it peels to.
 * @throws ProtocolError, ErrorPacket
 */
function advertisedBy(line: Uint8Array): readonly Oid[] {
  refuseErrorPacket(line);
  const end = line.at(-1) === LF ? line.byteLength - 1 : line.byteLength;
  if (end < OID_HEX_LENGTH) throw malformedAnswer('ref list');
  // What it peels to is the last attribute. No name of a ref contains a colon.
  const peeledAt = end - OID_HEX_LENGTH;
  const starts = line[peeledAt - 1] === COLON ? [0, peeledAt] : [0];
  return starts.flatMap((start) => oidFromHex(line, start, start + OID_HEX_LENGTH) ?? []);
}

async function readLine(reader: ByteReader): Promise<Uint8Array | null> {
  const packet = await readPacket(reader);
  if (packet.kind === 'flush') return null;
  return packet.kind === 'data' ? packet.payload : NOTHING;
}

/**
 * How a line begins. The id is null before the first commit of HEAD's branch, and the name if it
 * cannot be used.
 */
function idAndName(line: Uint8Array): { readonly oid: Oid | null; readonly name: string | null } {
  const isUnborn = UNBORN.every((byte, at) => line[at] === byte);
  const idEnd = isUnborn ? UNBORN.byteLength : OID_HEX_LENGTH;
  const oid = isUnborn || line.byteLength < idEnd ? null : oidFromHex(line, 0, idEnd);
  if ((!isUnborn && oid === null) || line[idEnd] !== SPACE) throw malformedAnswer('ref list');
  let end = idEnd + 1;
  while (end < line.byteLength && line[end] !== SPACE && line[end] !== LF) end++;
  const isUsable = line.byteLength <= MAX_REF_LINE_BYTES;
  return { oid, name: isUsable ? decodeUtf8(line.subarray(idEnd + 1, end)) : null };
}

const DAY_SECONDS = 24 * 60 * 60;

/** Rounds seconds since 1970 down to a day, for `deepen-since`. Git refuses 0. */
export function startOfDay(seconds: number): number {
  return Math.max(1, Math.floor(seconds / DAY_SECONDS) * DAY_SECONDS);
}

/**
 * Commits without their trees, or other objects by their ids. A wanted object always comes,
 * whatever the filter leaves out, and version 2 serves any object, not only tips. Of the filters by
 * depth, GitHub allows `tree:0` alone.
 */
export interface ObjectRequest {
  readonly wants: readonly Oid[];
  /** Commits that these reach are left out. */
  readonly haves?: readonly Oid[];
  /**
   * Seconds since 1970: only commits since then. All of history only by date: depth runs along
   * every merge.
   */
  readonly since?: number;
  /** For commits: how many of the history, the wanted one included. */
  readonly depth?: number;
  readonly withFolders?: boolean;
}

export function encodeFetch(request: ObjectRequest): Uint8Array {
  return encodeFetchWith(['no-progress', 'ofs-delta'], request);
}

/**
 * Asks for a history as `git fetch --filter=tree:0 --shallow-since=<date>` does. Only where commits
 * are left out, it asks for no thin pack: a delta must not stand on one of them.
 */
export function encodeHistoryFetch(request: ObjectRequest): Uint8Array {
  const thin = request.haves === undefined || request.haves.length === 0 ? ['thin-pack'] : [];
  return encodeFetchWith([...thin, 'no-progress', 'include-tag', 'ofs-delta'], request);
}

function encodeFetchWith(
  settings: readonly string[],
  { wants, haves = [], since, depth, withFolders }: ObjectRequest,
): Uint8Array {
  return encodeCommand('fetch', [
    ...settings,
    ...(since === undefined ? [] : [`deepen-since ${since}`]),
    ...(depth === undefined ? [] : [`deepen ${depth}`]),
    withFolders === true ? 'filter blob:none' : 'filter tree:0',
    ...wants.map((oid) => `want ${oid}`),
    ...haves.map((oid) => `have ${oid}`),
    'done',
  ]);
}

/**
 * Reads up to the pack. False: the answer ends without one.
 * @throws ProtocolError `bad-request`, ErrorPacket
 */
export async function readFetchSections(reader: ByteReader): Promise<boolean> {
  while (!(await reader.isAtEnd())) {
    const packet = await readPacket(reader);
    if (packet.kind === 'delim') continue;
    if (packet.kind === 'flush') return false;
    if (packet.kind !== 'data') throw malformedAnswer('fetch answer');
    refuseErrorPacket(packet.payload);
    if (decodeUtf8(packet.payload)?.replace(/\n$/, '') === 'packfile') return true;
  }
  return false;
}
