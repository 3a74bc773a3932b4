/**
 * Removes from a client's upload-pack request what it tells about the client: which commits of its own it has, where
 * its shallow clone ends, the names of its branches, and the name of its Git (gitprotocol-v2, "fetch";
 * gitprotocol-pack, "Packfile Negotiation"; versions 0 and 1 ask alike).
 *
 * Only known lines are passed on. A `have` line is passed on if upstream has that commit. Dropping one makes the answer
 * larger at worst. A `shallow` line cannot be dropped, or the host would assume that the client has more. A `want` of
 * what upstream does not have may be one of the client's own commits, so the request is refused as Git would refuse it.
 * A partial clone asks for files and folders by their ids, which cannot be told from such a commit's: it sends a filter
 * and no `have`.
 */
import type { ByteReader } from './byte-reader.ts';
import { FetchLineReader, FetchWriter, tooManyLines } from './fetch-lines.ts';
import type { Memory } from '../memory.ts';
import { isOid, type Oid, OID_HEX_LENGTH } from '../objects/oid.ts';
import { OidTable } from '../objects/oid-table.ts';
import { DELIM_PKT, encodePktLine, FLUSH_PKT } from './pkt-line.ts';
import { ProtocolError } from './protocol-error.ts';
import { RefPrefixes } from './ref-prefixes.ts';

/** Further haves are dropped. Git names the newest first, and ends each round after hundreds or thousands. */
export const MAX_HAVES = 32_768;
const AGENT = 'agent=git/2.0';
const DAY_SECONDS = 24 * 60 * 60;

/** The commits that upstream is known to have, without asking about a client's commits. */
export interface UpstreamIds {
  /** Those of the ids that upstream is known to have. At least one, if there is one. */
  someOf(oids: readonly Oid[]): Promise<ReadonlySet<Oid>>;
  /** One of the ids that upstream is not known to have; null if it has all of them. */
  firstUnknown(oids: OidTable): Promise<UnknownId | null>;
}

export interface UnknownId {
  readonly oid: Oid;
  /** Whether upstream is known not to have it. False: not all of upstream's history could be listed. */
  readonly isLacking: boolean;
}

export interface FetchRequest {
  /**
   * `relay`: `body` is the request as it is passed on. `answer`: it need not reach the host, and `body` is the answer.
   */
  readonly kind: 'relay' | 'answer';
  readonly body: Uint8Array;
}

/** A filter that names an object, perhaps the client's own, is dropped. The client then gets more. */
const FILTER = String.raw`(?:blob:none|blob:limit=\d{1,15}[kmg]?|tree:\d{1,9}|object:type=(?:blob|tree|commit|tag))`;

/** Lines of a `fetch` command, except those that end it or tell what the client has. Others are useless or tell of it. */
const FETCH_ARGUMENTS = [
  /^(?:thin-pack|no-progress|include-tag|ofs-delta|deepen-relative|sideband-all)$/,
  /^deepen \d{1,15}$/,
  /^deepen-not [^\s\p{Cc}]{1,1000}$/u,
  new RegExp(`^filter (?:${FILTER}|combine:${FILTER}(?:\\+${FILTER}){0,3})$`),
  /^packfile-uris [a-z,]{1,50}$/,
  /^want-ref [^\s\p{Cc}]{1,1000}$/u,
];
const WANT = /^want ([0-9a-f]{40})(?: (.*))?$/;
const DEEPEN_NOT_ID = /^deepen-not [0-9a-f]{40}$/;
const DEEPEN_SINCE = /^deepen-since (\d{1,15})$/;
const FILTERED = 'filter ';
const LS_REFS_ARGUMENTS = /^(?:peel|symrefs|unborn)$/;
const REF_PREFIX = /^ref-prefix (\P{Cc}+)$/u;
/** Capabilities that a client of version 0 may ask for with its first `want`. */
const V0_CAPABILITIES = new Set(
  'multi_ack multi_ack_detailed no-done thin-pack side-band side-band-64k ofs-delta no-progress include-tag shallow deepen-since deepen-not deepen-relative filter allow-tip-sha1-in-want allow-reachable-sha1-in-want object-format=sha1'.split(
    ' ',
  ),
);

/**
 * Reads a request of protocol version 2, or of an older one, to the end of its body.
 * @param memory where what is kept of a long request is counted; it stays counted.
 * @throws ProtocolError, `too-large` beyond a limit of fetch-lines.ts; or what `memory` throws.
 */
export async function readFetchRequest(
  reader: ByteReader,
  version: 0 | 2,
  upstream: UpstreamIds,
  memory: Memory,
): Promise<FetchRequest> {
  const lines = new FetchLineReader(reader, memory);
  if (version === 0) return readV0(lines, upstream);
  const { command, isEmpty } = await readCommand(lines);
  const writer = new FetchWriter();
  for (const line of [`command=${command}`, AGENT, 'object-format=sha1']) writer.line(line);
  writer.packet(DELIM_PKT);
  const args = isEmpty ? [] : lines.section();
  return command === 'ls-refs' ? readLsRefs(lines, args, writer) : readFetch(lines, args, writer, upstream);
}

interface Command {
  readonly command: 'fetch' | 'ls-refs';
  /** No arguments follow. */
  readonly isEmpty: boolean;
}

/** The command may stand behind capabilities: Git 2.28 to 2.31 send `object-format` first. */
async function readCommand(lines: FetchLineReader): Promise<Command> {
  const commands: string[] = [];
  let line = await lines.next();
  for (; line.kind === 'data'; line = await lines.next()) {
    if (line.text.startsWith('command=')) commands.push(line.text.slice('command='.length));
    if (/^object-format=(?!sha1$)/.test(line.text)) {
      throw new ProtocolError('unsupported', 'Mismatched object format: only sha1 is supported.');
    }
  }
  const [command, ...others] = commands;
  if ((command !== 'fetch' && command !== 'ls-refs') || others.length > 0) {
    throw new ProtocolError('unsupported', 'Only the commands "ls-refs" and "fetch" are supported.');
  }
  return { command, isEmpty: line.kind === 'flush' };
}

type Arguments = AsyncIterable<string> | Iterable<string>;

async function readLsRefs(
  lines: FetchLineReader,
  args: Arguments,
  writer: FetchWriter,
): Promise<FetchRequest> {
  const prefixes = new RefPrefixes();
  for await (const line of args) {
    const prefix = REF_PREFIX.exec(line)?.[1];
    if (prefix !== undefined) prefixes.add(prefix);
    else if (LS_REFS_ARGUMENTS.test(line)) writer.line(line);
  }
  await lines.end();
  for (const prefix of prefixes.widened()) writer.line(`ref-prefix ${prefix}`);
  writer.packet(FLUSH_PKT);
  return { kind: 'relay', body: writer.bytes };
}

async function readFetch(
  lines: FetchLineReader,
  args: Arguments,
  writer: FetchWriter,
  upstream: UpstreamIds,
): Promise<FetchRequest> {
  const haves: Oid[] = [];
  const [wants, shallows] = [new OidTable(), new OidTable()];
  let [isDone, isNegotiation, isFiltered] = [false, false, false];
  for await (const line of args) {
    const [, want, more] = WANT.exec(line) ?? [];
    if (want !== undefined && more === undefined) wants.add(want);
    else if (line.startsWith('have ')) keep(haves, line.slice('have '.length));
    else if (line.startsWith('shallow ')) keepShallow(shallows, line.slice('shallow '.length));
    else if (line === 'done') isDone = true;
    else if (line === 'wait-for-done') isNegotiation = true;
    else passOn(line, writer);
    isFiltered ||= line.startsWith(FILTERED);
  }
  await lines.end();
  // The client only wants to know which of its commits upstream has.
  if (isNegotiation) return acknowledged(await commonOf(haves, upstream));
  // First, because what is listed for it also answers the other questions.
  const common = await commonOf(haves, upstream);
  await passShallowsOn(shallows, writer, upstream);
  // The client will name more. Without a common commit, the host would take the request for a clone, and begin to send.
  if (haves.length > 0 && common.length === 0 && !isDone) return acknowledged([]);
  if (!isFiltered || haves.length > 0) await refuseForeign(wants, upstream);
  for (const oid of wants.oids()) writer.line(`want ${oid}`);
  for (const oid of common) writer.line(`have ${oid}`);
  if (isDone) writer.line('done');
  writer.packet(FLUSH_PKT);
  return { kind: 'relay', body: writer.bytes };
}

/** A section of wants, shallows and depths; a section of haves; then `done`, or a flush for another round. */
async function readV0(lines: FetchLineReader, upstream: UpstreamIds): Promise<FetchRequest> {
  const writer = new FetchWriter();
  const haves: Oid[] = [];
  const [wants, shallows] = [new OidTable(), new OidTable()];
  const behindShallows: string[] = [];
  let wanted = AGENT;
  for await (const line of lines.section()) {
    const [, oid, capabilities = ''] = WANT.exec(line) ?? [];
    if (oid !== undefined) {
      const kept = capabilities.split(' ').filter((word) => V0_CAPABILITIES.has(word));
      if (wants.size === 0) wanted = [...kept, AGENT].join(' ');
      wants.add(oid);
    } else if (line.startsWith('shallow ')) keepShallow(shallows, line.slice('shallow '.length));
    else behindShallows.push(line);
  }
  const end = wants.size === 0 ? null : await readRounds(lines, haves);
  await lines.end();
  const common = await commonOf(haves, upstream);
  const isFiltered = behindShallows.some((line) => line.startsWith(FILTERED));
  if (!isFiltered || haves.length > 0) await refuseForeign(wants, upstream);
  for (const oid of wants.oids()) {
    writer.line(`want ${oid}${wanted === '' ? '' : ` ${wanted}`}`);
    wanted = '';
  }
  await passShallowsOn(shallows, writer, upstream);
  for (const line of behindShallows) passOn(line, writer);
  writer.packet(FLUSH_PKT);
  for (const oid of common) writer.line(`have ${oid}`);
  if (end !== null) writer.packet(end);
  return { kind: 'relay', body: writer.bytes };
}

/**
 * Each request repeats all earlier rounds, with flushes between their haves. Answers how the last round ends; null: there
 * is none, as for a request for depths only.
 */
async function readRounds(lines: FetchLineReader, haves: Oid[]): Promise<Uint8Array | null> {
  let end: Uint8Array | null = null;
  while (!(await lines.isAtEnd())) {
    const line = await lines.next();
    const text = line.kind === 'data' ? line.text : '';
    if (text === 'done') return encodePktLine('done\n');
    if (text.startsWith('have ')) keep(haves, text.slice('have '.length));
    end = FLUSH_PKT;
  }
  return end;
}

/**
 * Nothing of a line that is not known goes on.
 * @throws ProtocolError for an id where Git takes only names of refs: it may be one of the client's own commits.
 */
function passOn(line: string, writer: FetchWriter): void {
  if (DEEPEN_NOT_ID.test(line)) {
    throw new ProtocolError('unsupported', 'upload-pack: deepen-not is not a ref');
  }
  const since = DEEPEN_SINCE.exec(line)?.[1];
  // The exact second would describe the client. Git refuses 0.
  if (since !== undefined) writer.line(`deepen-since ${Math.max(1, startOfDay(Number(since)))}`);
  else if (FETCH_ARGUMENTS.some((pattern) => pattern.test(line))) writer.line(line);
}

function startOfDay(seconds: number): number {
  return seconds - (seconds % DAY_SECONDS);
}

async function passShallowsOn(oids: OidTable, writer: FetchWriter, upstream: UpstreamIds): Promise<void> {
  if ((await upstream.firstUnknown(oids)) !== null) {
    throw new ProtocolError(
      'unsupported',
      'Your shallow clone ends at commits that the service cannot find upstream. Clone again.',
    );
  }
  for (const oid of oids.oids()) writer.line(`shallow ${oid}`);
}

/** @throws ProtocolError in the words of Git's upload-pack, if upstream lacks one. */
async function refuseForeign(wants: OidTable, upstream: UpstreamIds): Promise<void> {
  const unknown = await upstream.firstUnknown(wants);
  if (unknown?.isLacking === true) {
    throw new ProtocolError('unsupported', `upload-pack: not our ref ${unknown.oid}`);
  }
}

async function commonOf(oids: readonly Oid[], upstream: UpstreamIds): Promise<readonly Oid[]> {
  if (oids.length === 0) return [];
  const known = await upstream.someOf(oids);
  return [...new Set(oids)].filter((oid) => known.has(oid));
}

/** Says which of the client's commits upstream has (gitprotocol-v2, "acknowledgments"), and never "ready". */
function acknowledged(common: readonly Oid[]): FetchRequest {
  const writer = new FetchWriter();
  writer.line('acknowledgments');
  if (common.length === 0) writer.line('NAK');
  for (const oid of common) writer.line(`ACK ${oid}`);
  writer.packet(FLUSH_PKT);
  return { kind: 'answer', body: writer.bytes };
}

function keep(oids: Oid[], oid: Oid): void {
  if (oid.length === OID_HEX_LENGTH && isOid(oid) && oids.length < MAX_HAVES) oids.push(oid);
}

/** @throws ProtocolError if one would be dropped: the host would assume that the client has more. */
function keepShallow(oids: OidTable, oid: Oid): void {
  if (oids.size === MAX_HAVES) throw tooManyLines();
  if (isOid(oid)) oids.add(oid);
}

/** A request that is refused, as Git shows it: `fatal: remote error: <message>`. */
export function encodeFetchError(message: string): Uint8Array {
  return encodePktLine(`ERR ${message}\n`);
}
