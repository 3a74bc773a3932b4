/**
 * Removes from a client's upload-pack request what it tells about the client: which commits of its own it has, where
 * its shallow clone ends, the names of its branches, and the name of its Git (gitprotocol-v2, "fetch";
 * gitprotocol-pack, "Packfile Negotiation"; versions 0 and 1 ask alike).
 *
 * Only known lines are passed on. A `have` line is passed on if upstream has that commit. Dropping one makes the answer
 * larger at worst. A `shallow` line cannot be dropped, or the host would assume that the client has more.
 */
import type { ByteReader } from './byte-reader.ts';
import { concatBytes, decodeUtf8 } from './bytes.ts';
import { isOid, type Oid, OID_HEX_LENGTH } from './oid.ts';
import { DELIM_PKT, encodePktLine, FLUSH_PKT, type Packet, readPacket } from './pkt-line.ts';
import { ProtocolError } from './protocol-error.ts';
import { RefPrefixes } from './ref-prefixes.ts';

/** Further lines are dropped. Git names the newest first, and ends each round after hundreds or thousands. */
export const MAX_HAVES = 32_768;
/** Lines are gathered into pieces of this size before they are passed on. */
const GATHERED_BYTES = 64 * 1024;
const AGENT = 'agent=git/2.0';

/** The commits that upstream is known to have, without asking about a client's commits. */
export interface UpstreamIds {
  /** Those of the ids that upstream is known to have. At least one, if there is one. */
  someOf(oids: readonly Oid[]): Promise<ReadonlySet<Oid>>;
  /** Whether upstream is known to have all of them. */
  allOf(oids: readonly Oid[]): Promise<boolean>;
}

export type FetchRequest =
  /**
   * `body` is the request as it is passed on. It throws ProtocolError if the request is malformed or refused, and
   * NothingInCommon if the service itself answers it.
   */
  | { readonly kind: 'relay'; readonly body: AsyncIterable<Uint8Array> }
  /** The answer to a client that only wants to know which of its commits upstream has (`wait-for-done`). */
  | { readonly kind: 'answer'; readonly body: Uint8Array };

/** A filter that names an object, perhaps the client's own, is dropped. The client then gets more. */
const FILTER = String.raw`(?:blob:none|blob:limit=\d{1,15}[kmg]?|tree:\d{1,9}|object:type=(?:blob|tree|commit|tag))`;
/**
 * Ends the body of a request that need not reach the host: upstream has none of the commits that the client has named
 * so far, and the client will name more. Without a common commit, the host would treat the request as a clone, and
 * begin to send.
 */
export class NothingInCommon extends Error {
  override readonly name = 'NothingInCommon';
  /** The answer: name more commits (gitprotocol-v2, "acknowledgments"). */
  readonly answer = encodeAcknowledgments([]);
}

/** Lines of a `fetch` command, except those with ids. Others are useless or describe the client. */
const FETCH_ARGUMENTS = [
  /^(?:thin-pack|no-progress|include-tag|ofs-delta|deepen-relative|sideband-all|done)$/,
  /^(?:deepen|deepen-since) \d{1,15}$/,
  /^deepen-not [^\s\p{Cc}]{1,1000}$/u,
  new RegExp(`^filter (?:${FILTER}|combine:${FILTER}(?:\\+${FILTER}){0,3})$`),
  /^packfile-uris [a-z,]{1,50}$/,
  /^want [0-9a-f]{40}$/,
  /^want-ref [^\s\p{Cc}]{1,1000}$/u,
];
const LS_REFS_ARGUMENTS = [/^(?:peel|symrefs|unborn)$/];
const REF_PREFIX = /^ref-prefix (\P{Cc}+)$/u;
/** Capabilities that a client of version 0 may ask for with its first `want`. */
const V0_CAPABILITIES = new Set(
  'multi_ack multi_ack_detailed no-done thin-pack side-band side-band-64k ofs-delta no-progress include-tag shallow deepen-since deepen-not deepen-relative filter allow-tip-sha1-in-want allow-reachable-sha1-in-want object-format=sha1'.split(
    ' ',
  ),
);

/** Reads a request of protocol version 2, or of an older one. @throws ProtocolError */
export async function readFetchRequest(
  reader: ByteReader,
  version: 0 | 2,
  upstream: UpstreamIds,
): Promise<FetchRequest> {
  if (version === 0) return { kind: 'relay', body: gathered(rewriteV0(reader, upstream)) };
  const head = await readCommand(reader);
  const lines = new LineReader(reader, head.isEmpty);
  if (head.command === 'ls-refs') {
    return { kind: 'relay', body: gathered(rewriteLsRefs(head.packets, lines)) };
  }
  const opening: string[] = [];
  let line = await lines.next();
  while (line !== null && isOption(line)) {
    opening.push(line);
    line = await lines.next();
  }
  if (opening.includes('wait-for-done'))
    return { kind: 'answer', body: await negotiate(line, lines, upstream) };
  lines.unread(line);
  const body = rewriteFetch(head.packets, opening, lines, upstream);
  return { kind: 'relay', body: gathered(body) };
}

/** The lines before the ids, which say what kind of request it is. */
function isOption(line: string): boolean {
  return !/^(?:want|have|shallow) /.test(line);
}

interface Command {
  readonly command: 'fetch' | 'ls-refs';
  /** The command and its capabilities, as they are passed on. */
  readonly packets: readonly Uint8Array[];
  /** No arguments follow. */
  readonly isEmpty: boolean;
}

async function readCommand(reader: ByteReader): Promise<Command> {
  const command = /^command=(fetch|ls-refs)$/.exec(textOf(await readPacket(reader)) ?? '')?.[1];
  if (command !== 'fetch' && command !== 'ls-refs') {
    throw new ProtocolError('unsupported', 'Only the commands "ls-refs" and "fetch" are supported.');
  }
  let packet = await readPacket(reader);
  while (packet.kind === 'data') packet = await readPacket(reader);
  const packets = [`command=${command}\n`, `${AGENT}\n`, 'object-format=sha1\n'].map((line) =>
    encodePktLine(line),
  );
  return { command, packets, isEmpty: packet.kind === 'flush' };
}

/** The lines of a section up to its flush. */
class LineReader {
  readonly #reader: ByteReader;
  #isEnded: boolean;
  #unread: string | null = null;

  constructor(reader: ByteReader, isEnded: boolean) {
    this.#reader = reader;
    this.#isEnded = isEnded;
  }

  unread(line: string | null): void {
    this.#unread = line;
  }

  /** Null at the end of the section. */
  async next(): Promise<string | null> {
    const unread = this.#unread;
    this.#unread = null;
    if (unread !== null) return unread;
    if (this.#isEnded) return null;
    const packet = await readPacket(this.#reader);
    this.#isEnded = packet.kind === 'flush';
    if (this.#isEnded) return null;
    const line = textOf(packet);
    if (line === null) throw malformed('The fetch has a malformed line. Is your Git client up to date?');
    return line;
  }
}

async function* rewriteLsRefs(head: readonly Uint8Array[], lines: LineReader): AsyncGenerator<Uint8Array> {
  const prefixes = new RefPrefixes();
  yield* head;
  yield DELIM_PKT;
  for (let line = await lines.next(); line !== null; line = await lines.next()) {
    const prefix = REF_PREFIX.exec(line)?.[1];
    if (prefix !== undefined) prefixes.add(prefix);
    else if (isAmong(LS_REFS_ARGUMENTS, line)) yield encodePktLine(`${line}\n`);
  }
  for (const prefix of prefixes.widened()) yield encodePktLine(`ref-prefix ${prefix}\n`);
  yield FLUSH_PKT;
}

async function* rewriteFetch(
  head: readonly Uint8Array[],
  opening: readonly string[],
  lines: LineReader,
  upstream: UpstreamIds,
): AsyncGenerator<Uint8Array> {
  yield* head;
  yield DELIM_PKT;
  for (const line of opening) if (isAmong(FETCH_ARGUMENTS, line)) yield encodePktLine(`${line}\n`);
  const [haves, shallows]: [Oid[], Oid[]] = [[], []];
  let isDone = false;
  for (let line = await lines.next(); line !== null; line = await lines.next()) {
    const [word, oid = ''] = line.split(' ');
    if (word === 'have' && isOid(oid)) keep(haves, oid);
    else if (word === 'shallow' && isOid(oid)) keep(shallows, oid);
    else if (line === 'done') isDone = true;
    else if (isAmong(FETCH_ARGUMENTS, line)) yield encodePktLine(`${line}\n`);
  }
  yield* shallowLines(shallows, upstream);
  const common = await commonLines(haves, upstream);
  if (haves.length > 0 && common.length === 0 && !isDone) throw new NothingInCommon();
  yield* common;
  if (isDone) yield encodePktLine('done\n');
  yield FLUSH_PKT;
}

/** A section of wants, shallows and depths; a section of haves; then `done`, or a flush for another round. */
async function* rewriteV0(reader: ByteReader, upstream: UpstreamIds): AsyncGenerator<Uint8Array> {
  const shallows: Oid[] = [];
  const after: Uint8Array[] = [];
  let isFirst = true;
  const wants = new LineReader(reader, false);
  for (let line = await wants.next(); line !== null; line = await wants.next()) {
    const [, oid, capabilities = ''] = /^want ([0-9a-f]{40})(?: (.*))?$/.exec(line) ?? [];
    if (oid !== undefined) {
      const kept = capabilities.split(' ').filter((word) => V0_CAPABILITIES.has(word));
      yield encodePktLine(isFirst ? `want ${oid} ${[...kept, AGENT].join(' ')}\n` : `want ${oid}\n`);
      isFirst = false;
    } else if (line.startsWith('shallow ')) keep(shallows, line.slice('shallow '.length));
    else if (isAmong(FETCH_ARGUMENTS, line)) after.push(encodePktLine(`${line}\n`));
  }
  yield* shallowLines(shallows, upstream);
  yield* after;
  yield FLUSH_PKT;
  if (isFirst) return;
  const haves: Oid[] = [];
  let end: Uint8Array | null = null;
  // Each request repeats all earlier rounds, with flushes between their haves; for depths only, there are none.
  for (let isDone = false; !isDone && !(await reader.isAtEnd());) {
    const line = textOf(await readPacket(reader));
    isDone = line === 'done';
    end = isDone ? encodePktLine('done\n') : FLUSH_PKT;
    if (line?.startsWith('have ')) keep(haves, line.slice('have '.length));
  }
  yield* await commonLines(haves, upstream);
  if (end !== null) yield end;
}

async function* shallowLines(oids: readonly Oid[], upstream: UpstreamIds): AsyncGenerator<Uint8Array> {
  if (oids.length === 0) return;
  if (!(await upstream.allOf(oids))) {
    throw new ProtocolError(
      'unsupported',
      'Your shallow clone ends at commits that the service cannot find upstream. Clone again.',
    );
  }
  for (const oid of oids) yield encodePktLine(`shallow ${oid}\n`);
}

/** `have` lines of commits that upstream also has. */
async function commonLines(oids: readonly Oid[], upstream: UpstreamIds): Promise<Uint8Array[]> {
  const common = await commonOf(oids, upstream);
  return common.map((oid) => encodePktLine(`have ${oid}\n`));
}

async function commonOf(oids: readonly Oid[], upstream: UpstreamIds): Promise<readonly Oid[]> {
  if (oids.length === 0) return [];
  const known = await upstream.someOf(oids);
  return oids.filter((oid) => known.has(oid));
}

/** Says which of the client's commits upstream has (gitprotocol-v2, "acknowledgments"), and never "ready". */
async function negotiate(
  first: string | null,
  lines: LineReader,
  upstream: UpstreamIds,
): Promise<Uint8Array> {
  const haves: Oid[] = [];
  for (let line = first; line !== null; line = await lines.next()) {
    if (line.startsWith('have ')) keep(haves, line.slice('have '.length));
  }
  return encodeAcknowledgments(await commonOf(haves, upstream));
}

function encodeAcknowledgments(common: readonly Oid[]): Uint8Array {
  const acknowledged = common.length === 0 ? ['NAK\n'] : common.map((oid) => `ACK ${oid}\n`);
  return concatBytes([
    ...['acknowledgments\n', ...acknowledged].map((line) => encodePktLine(line)),
    FLUSH_PKT,
  ]);
}

function keep(oids: Oid[], oid: Oid): void {
  if (oid.length === OID_HEX_LENGTH && isOid(oid) && oids.length < MAX_HAVES) oids.push(oid);
}

function isAmong(patterns: readonly RegExp[], line: string): boolean {
  return patterns.some((pattern) => pattern.test(line));
}

function textOf(packet: Packet): string | null {
  const text = packet.kind === 'data' ? decodeUtf8(packet.payload) : null;
  return text?.replace(/\n$/, '') ?? null;
}

function malformed(message: string): ProtocolError {
  return new ProtocolError('bad-request', message);
}

/** A request that is refused, as Git shows it: `fatal: remote error: <message>`. */
export function encodeFetchError(message: string): Uint8Array {
  return encodePktLine(`ERR ${message}\n`);
}

/** The same bytes in larger pieces. */
async function* gathered(lines: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const line of lines) {
    waiting.push(line);
    bytes += line.byteLength;
    if (bytes < GATHERED_BYTES) continue;
    yield concatBytes(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield concatBytes(waiting);
}
