/**
 * Protocol version 2 with the host (gitprotocol-v2). It is stateless over HTTP, so a command needs
 * no request for capabilities before it.
 */
import type { ByteReader } from './byte-reader.ts';
import { concatBytes, decodeUtf8, NO_BYTES, utf8 } from '../bytes.ts';
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

/**
 * Maximum number of refs that are kept of one list. The largest public repositories have half a
 * million.
 */
export const MAX_REFS = 20_000;
/** Memory of a ref in a list and in an advertisement, without its line in both. */
export const REF_BYTES = 200;
const COUNTED_STEP = 64 * 1024;
/** Maximum memory for the ids of all refs of a repository, some 780,000. */
const MAX_ADVERTISED_BYTES = 6 * 1024 * 1024;
/**
 * Maximum size of the names and ids that are kept of one list, in case a host has very long names.
 */
const MAX_REF_LIST_BYTES = 4 * 1024 * 1024;
/** Maximum length of a line. Linux takes no longer path (PATH_MAX). */
const MAX_REF_LINE_BYTES = 4096;
const BRANCHES = 'refs/heads/';
const UNBORN = utf8('unborn');
const SYMREF_TARGET = / symref-target:([^ \n]*)/;
const SPACE = 0x20;
const LF = 0x0a;
const COLON = 0x3a;

const encodedLines = (lines: readonly string[]) => lines.map((line) => encodePktLine(`${line}\n`));

/** The agent that the host sees in every fetch, relayed or the service's own. */
export const AGENT = 'agent=git/2.0';

/**
 * Returns the lines with which every request of version 2 begins, so that a host cannot tell a
 * relayed one from one of the service's own.
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

/**
 * Encodes a request for refs with the attributes that Git asks for in a clone or fetch, so that it
 * looks like a relayed one.
 */
export function encodeLsRefs(prefixes: readonly string[]): Uint8Array {
  const attributes = ['peel', 'symrefs', 'unborn'];
  return encodeCommand('ls-refs', [...attributes, ...prefixes.map((prefix) => `ref-prefix ${prefix}`)]);
}

/**
 * Encodes a request for all refs, such as those that a host keeps for pull requests, and the
 * objects that annotated tags point to.
 */
export function encodePeeledLsRefs(): Uint8Array {
  return encodeCommand('ls-refs', ['peel', 'ref-prefix refs/']);
}

export interface RefList {
  readonly refs: readonly Ref[];
  /**
   * The ref that HEAD points to, even if that branch has no commit yet. It is null if HEAD was not
   * listed, or points to none.
   */
  readonly head: string | null;
  /**
   * The commit of HEAD. It is null if HEAD was not listed, or has none yet: in an empty repository,
   * or in a fork whose objects have not arrived.
   */
  readonly headTip: Oid | null;
  /** False if the list was cut among the branches. */
  readonly hasAllBranches: boolean;
}

/**
 * Reads a ref list up to its limits, and cancels the rest. Git lists HEAD first and the others by
 * name, so branches come before tags. A ref whose name is too long or not UTF-8 is left out.
 * @param beforeWait is called before it waits for memory.
 * @throws ProtocolError, ErrorPacket, and what `memory` throws.
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
 * Finds which of some ids refs point to, directly or through an annotated tag, and the first ref
 * for each.
 * @param enough ends the reading early.
 * @throws ProtocolError, ErrorPacket
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
 * Adds the ids that refs point to, directly or through an annotated tag, up to a limit.
 * @param beforeWait is called before it waits for memory.
 * @throws ProtocolError, ErrorPacket, and what `memory` throws.
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
      // Twice the size, because the list grows by copying.
      const usedBytes = 2 * ids.byteLength;
      if (usedBytes > claim.bytes) await claim.set(usedBytes + COUNTED_STEP, beforeWait);
    }
    await reader.cancel();
  } finally {
    // The cache that keeps the list bounds its memory.
    claim.setNow(0);
  }
}

/**
 * Returns the id of a ref, and of the object that it peels to.
 * @throws ProtocolError, ErrorPacket
 */
function advertisedBy(line: Uint8Array): readonly Oid[] {
  refuseErrorPacket(line);
  const end = line.at(-1) === LF ? line.byteLength - 1 : line.byteLength;
  if (end < OID_HEX_LENGTH) throw malformedAnswer('ref list');
  // The peeled id is the last attribute. No ref's name contains a colon.
  const peeledAt = end - OID_HEX_LENGTH;
  const starts = line[peeledAt - 1] === COLON ? [0, peeledAt] : [0];
  return starts.flatMap((start) => oidFromHex(line, start, start + OID_HEX_LENGTH) ?? []);
}

async function readLine(reader: ByteReader): Promise<Uint8Array | null> {
  const packet = await readPacket(reader);
  if (packet.kind === 'flush') return null;
  return packet.kind === 'data' ? packet.payload : NO_BYTES;
}

/**
 * Parses the id and the name at the start of a line. The id is null before the first commit of
 * HEAD's branch. The name is null if it cannot be used.
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
 * A request for commits without their trees, or for other objects by their ids. A wanted object is
 * always sent, whatever the filter leaves out, and version 2 serves any object, not only tips.
 * GitHub allows no filter by depth but `tree:0`.
 */
export interface ObjectRequest {
  readonly wants: readonly Oid[];
  /** Commits that the host leaves out, with all their ancestors. */
  readonly haves?: readonly Oid[];
  /**
   * The date, in seconds since 1970, from which commits are sent. History is bounded by date
   * because a depth counts along every branch of a merge.
   */
  readonly since?: number;
  /** The number of generations of commits, including the wanted one. */
  readonly depth?: number;
  readonly withFolders?: boolean;
  /** The size from which files below a wanted folder are left out. By default, all are. */
  readonly filesBelowBytes?: number;
}

export function encodeFetch(request: ObjectRequest): Uint8Array {
  return encodeFetchWith(['no-progress', 'ofs-delta'], request);
}

/**
 * Encodes the request of `git fetch --filter=tree:0 --shallow-since=<date>`. It asks for no thin
 * pack if commits are left out, because a delta could be based on one of them.
 */
export function encodeHistoryFetch(request: ObjectRequest): Uint8Array {
  const thin = request.haves === undefined || request.haves.length === 0 ? ['thin-pack'] : [];
  return encodeFetchWith([...thin, 'no-progress', 'include-tag', 'ofs-delta'], request);
}

function encodeFetchWith(
  settings: readonly string[],
  { wants, haves = [], since, depth, withFolders, filesBelowBytes }: ObjectRequest,
): Uint8Array {
  return encodeCommand('fetch', [
    ...settings,
    ...(since === undefined ? [] : [`deepen-since ${since}`]),
    ...(depth === undefined ? [] : [`deepen ${depth}`]),
    `filter ${filesBelowBytes !== undefined ? `blob:limit=${filesBelowBytes}` : withFolders === true ? 'blob:none' : 'tree:0'}`,
    ...wants.map((oid) => `want ${oid}`),
    ...haves.map((oid) => `have ${oid}`),
    'done',
  ]);
}

/**
 * Reads an answer up to its pack.
 * @returns false if the answer has none.
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
