/**
 * Removes from an upload-pack request what it tells about the client: which commits it has, where
 * its shallow clone ends, the names of its branches and of its Git (gitprotocol-v2, "fetch";
 * gitprotocol-pack, "Packfile Negotiation", for versions 0 and 1). Only known lines are passed on,
 * such as a `want`, and a `have` if upstream has that commit: without one, the answer is larger at
 * worst. A `shallow` cannot be left out, or the host would assume that the client has more, so a
 * request with one that upstream does not have is refused.
 */
import type { ByteReader } from './byte-reader.ts';
import { concatBytes, ownText } from '../bytes.ts';
import { FetchLines } from './fetch-lines.ts';
import type { Memory } from '../memory.ts';
import type { Oid } from '../objects/oid.ts';
import { OidTable } from '../objects/oid-table.ts';
import { encodePktLine, FLUSH_PKT, pktLengthDigits } from './pkt-line.ts';
import { AGENT, headOf, startOfDay } from './protocol-v2.ts';
import { badRequest, ProtocolError } from './protocol-error.ts';
import { RefPrefixes } from './ref-prefixes.ts';

/**
 * Maximum number of different objects that one request may want. In a clone, Git wants each branch
 * and tag.
 */
export const MAX_WANTS = 32_768;
/**
 * Maximum number of haves. More are ignored: Git names the newest first, and ends each round after
 * hundreds or thousands.
 */
export const MAX_HAVES = 32_768;
/**
 * Maximum number of commits at which a shallow clone may end. A request with more is refused,
 * because so many cannot be looked up.
 */
export const MAX_SHALLOWS = 32_768;
/** Memory of an id in a table, and as text while it is looked up or passed on. */
const ID_BYTES = 150;

/**
 * Looks up which commits upstream is known to have, without telling the host the client's commits.
 */
export interface UpstreamIds {
  /**
   * Returns ids that upstream is known to have, perhaps not all, but at least one if there is any
   * and the host answers.
   */
  someOf(oids: OidTable): Promise<readonly Oid[]>;
  hasAll(oids: OidTable): Promise<boolean>;
}

export type FetchRequest =
  /** The request that is passed on, in memory of its own. */
  | { readonly kind: 'relay'; readonly body: Uint8Array<ArrayBuffer> }
  /** The service's own answer. The request is not passed on. */
  | { readonly kind: 'answer'; readonly body: Uint8Array };

/**
 * The filters that are passed on. One that names an object, perhaps the client's own, is left out;
 * the client then gets more.
 */
const FILTER = String.raw`(?:blob:none|blob:limit=\d{1,15}[kmg]?|tree:\d{1,9}|object:type=(?:blob|tree|commit|tag))`;

const ALONE = /^$/;
/** Matches the name of a ref in any encoding. */
const REF_NAME = /^[!-~\x80-\xff]{1,1000}$/;
/**
 * Lines of a `fetch` command that are passed on as they are, by their first word, and what may
 * follow it.
 */
const FETCH_ARGUMENTS: ReadonlyMap<string, RegExp> = new Map([
  ['thin-pack', ALONE],
  ['no-progress', ALONE],
  ['include-tag', ALONE],
  ['ofs-delta', ALONE],
  ['sideband-all', ALONE],
  ['deepen', /^\d{1,15}$/],
  ['deepen-relative', ALONE],
  ['deepen-not', REF_NAME],
  ['filter', new RegExp(`^(?:${FILTER}|combine:${FILTER}(?:\\+${FILTER}){0,3})$`)],
  ['packfile-uris', /^[a-z,]{1,50}$/],
  ['want-ref', REF_NAME],
]);
const OID = /^[0-9a-f]{40}$/;
const V0_WANT = /^want ([0-9a-f]{40})(?: (.*))?$/;
const SECONDS = /^\d{1,15}$/;
const OTHER_FORMAT = /^object-format=(?!sha1$)/;
const COMMAND = 'command=';
const LS_REFS_ARGUMENTS = /^(?:peel|symrefs|unborn)$/;
const REF_PREFIX = /^ref-prefix ([ -~\x80-\xff]+)$/;
/** Capabilities of version 0 that are passed on with the first `want`. */
const V0_CAPABILITIES = new Set(
  'multi_ack multi_ack_detailed no-done thin-pack side-band side-band-64k ofs-delta no-progress include-tag shallow'
    .concat(' deepen-since deepen-not deepen-relative filter allow-tip-sha1-in-want')
    .concat(' allow-reachable-sha1-in-want object-format=sha1')
    .split(' '),
);

/**
 * Reads a request to the end of its body.
 * @param version 0 also means version 1.
 * @throws ProtocolError, and what `reader`, `upstream` and `memory` throw.
 */
export async function readFetchRequest(
  reader: ByteReader,
  version: 0 | 2,
  upstream: UpstreamIds,
  memory: Memory,
): Promise<FetchRequest> {
  const client = new ParsedFetch();
  const lines = new FetchLines(reader, memory, () => client.keptBytes);
  if (version === 0) return readV0(lines, client, upstream);
  const { command, end } = await readCommand(lines);
  const [attributes, prefixes] = [new Set<string>(), new RefPrefixes()];
  const takeLsRefs = (line: string): boolean => {
    const prefix = REF_PREFIX.exec(line)?.[1];
    if (prefix !== undefined) prefixes.add(prefix);
    else if (LS_REFS_ARGUMENTS.test(line)) attributes.add(line);
    return prefix !== undefined;
  };
  const take = command === 'ls-refs' ? takeLsRefs : (line: string) => client.take(line);
  if (end === 'delim' && (await lines.section(take)) !== 'flush') throw malformedFetch();
  await lines.readRest();
  if (command === 'fetch') return fetchRequest(client, upstream);
  const prefixLines = prefixes.widened().map((prefix) => `ref-prefix ${prefix}`);
  return relay(v2Packets(command, [...[...attributes].toSorted(), ...prefixLines]));
}

/**
 * Reads the command, which may follow capabilities: Git 2.28 to 2.31 send `object-format` first.
 */
async function readCommand(lines: FetchLines) {
  let command = '';
  const end = await lines.section((line) => {
    if (OTHER_FORMAT.test(line)) {
      throw new ProtocolError('unsupported', 'Mismatched object format: only sha1 is supported.');
    }
    if (line.startsWith(COMMAND)) command = command === '' ? line.slice(COMMAND.length) : 'two';
    return false;
  });
  if (command !== 'fetch' && command !== 'ls-refs') {
    throw new ProtocolError('unsupported', 'Only the commands "ls-refs" and "fetch" are supported.');
  }
  return { command, end };
}

async function fetchRequest(client: ParsedFetch, upstream: UpstreamIds): Promise<FetchRequest> {
  const { haves, isDone, isNegotiating } = client;
  const common = await upstream.someOf(haves);
  // With `wait-for-done`, the client only asks which of its commits upstream has.
  if (isNegotiating) return acknowledged(common);
  await refuseForeign(client.shallows, upstream);
  // The client will name more commits. Without a common one, the host would take the request for a
  // clone, and begin to send.
  if (haves.size > 0 && common.length === 0 && !isDone) return acknowledged([]);
  const wants = lineOfEach('want', client.wants.oids());
  const args = [...client.settings, ...lineOfEach('shallow', client.shallows.oids()), ...wants];
  return relay(v2Packets('fetch', [...args, ...lineOfEach('have', common), ...(isDone ? ['done'] : [])]));
}

/**
 * Reads a request of version 0 or 1: wants, shallows and depths, followed by the haves of all
 * rounds so far unless the client only asks where its history will end.
 */
async function readV0(lines: FetchLines, client: ParsedFetch, upstream: UpstreamIds): Promise<FetchRequest> {
  let capabilities: readonly string[] = [];
  const takeWant = (line: string): boolean => {
    const [, oid, words] = V0_WANT.exec(line) ?? [];
    if (oid === undefined) return client.take(line);
    if (client.wants.size === 0) {
      const known = (words ?? '').split(' ').filter((word) => V0_CAPABILITIES.has(word));
      capabilities = [...new Set(known), AGENT];
    }
    return client.take(`want ${oid}`);
  };
  if ((await lines.section(takeWant)) !== 'flush') throw malformedFetch();
  const [first, ...wants] = lineOfEach('want', client.wants.oids());
  const firstWant = first === undefined ? [] : [[first, ...capabilities].join(' ')];
  const shallows = lineOfEach('shallow', client.shallows.oids());
  const asked = [...firstWant, ...wants, ...shallows, ...client.settings].map(packet);
  const hasRounds = client.wants.size > 0 && (await lines.hasMore());
  if (hasRounds && (await lines.section((line) => client.take(line), 'end')) !== 'end')
    throw malformedFetch();
  await lines.readRest();
  const common = await upstream.someOf(client.haves);
  await refuseForeign(client.shallows, upstream);
  const end = client.isDone ? [packet('done')] : hasRounds ? [FLUSH] : [];
  return relay([...asked, FLUSH, ...lineOfEach('have', common).map(packet), ...end]);
}

async function refuseForeign(shallows: OidTable, upstream: UpstreamIds): Promise<void> {
  if (shallows.size > MAX_SHALLOWS || !(await upstream.hasAll(shallows))) {
    throw new ProtocolError(
      'unsupported',
      'Your shallow clone ends at commits that the service cannot find upstream. Clone again. ' +
        'If you have only just cloned, fetch again in a minute.',
    );
  }
}

const FLUSH = '0000';
const DELIM = '0001';

/** Encodes a line whose characters stand for bytes. */
const packet = (line: string): string => `${pktLengthDigits(line.length + 1)}${line}\n`;

function lineOfEach(word: 'want' | 'have' | 'shallow', oids: Iterable<Oid>): string[] {
  return Array.from(oids, (oid) => `${word} ${oid}`);
}

function v2Packets(command: string, args: readonly string[]): readonly string[] {
  return [...headOf(command).map(packet), DELIM, ...args.map(packet), FLUSH];
}

function relay(packets: readonly string[]): FetchRequest {
  const text = packets.join('');
  const body = new Uint8Array(text.length);
  Buffer.from(body.buffer).write(text, 'latin1');
  return { kind: 'relay', body };
}

/**
 * Encodes which of the client's commits upstream has (gitprotocol-v2, "acknowledgments"). It never
 * says "ready".
 */
function acknowledged(common: readonly Oid[]): FetchRequest {
  const acks = common.length === 0 ? ['NAK'] : common.map((oid) => `ACK ${oid}`);
  const lines = ['acknowledgments', ...acks].map((line) => encodePktLine(`${line}\n`));
  return { kind: 'answer', body: concatBytes([...lines, FLUSH_PKT]) };
}

/**
 * The contents of a request: what it asks for, and what it tells about its client, which is only
 * looked up.
 */
class ParsedFetch {
  readonly wants = new OidTable();
  readonly haves = new OidTable();
  readonly shallows = new OidTable();
  /** The other lines that are passed on, without repetition. */
  readonly settings = new Set<string>();
  isDone = false;
  isNegotiating = false;

  get keptBytes(): number {
    return ID_BYTES * (this.wants.size + this.haves.size + this.shallows.size + this.settings.size);
  }

  /**
   * Takes a line.
   * @returns whether it names an object.
   * @throws ProtocolError for too many wants, and for an id in place of a ref's name, which may be
   * the client's own commit.
   */
  take(line: string): boolean {
    const wordEnd = line.indexOf(' ');
    const word = wordEnd < 0 ? line : line.slice(0, wordEnd);
    const value = line.slice(word.length + 1);
    if ((word === 'want' || word === 'have' || word === 'shallow') && OID.test(value)) {
      this.#takeObject(word, value);
      return true;
    }
    this.isDone ||= word === 'done';
    this.isNegotiating ||= word === 'wait-for-done';
    const setting = settingOf(word, value);
    if (setting !== null) this.settings.add(ownText(setting));
    return false;
  }

  #takeObject(word: 'want' | 'have' | 'shallow', oid: Oid): void {
    if (word === 'want') {
      this.wants.add(oid);
      if (this.wants.size > MAX_WANTS) throw tooManyWants();
    } else if (word === 'have') {
      if (this.haves.size < MAX_HAVES) this.haves.add(oid);
    } else if (this.shallows.size <= MAX_SHALLOWS) this.shallows.add(oid);
  }
}

function settingOf(word: string, value: string): string | null {
  if (word === 'deepen-since') {
    // The exact second would describe the client.
    return SECONDS.test(value) ? `${word} ${startOfDay(Number(value))}` : null;
  }
  if (word === 'deepen-not' && OID.test(value)) {
    throw new ProtocolError('unsupported', 'upload-pack: deepen-not is not a ref');
  }
  if (FETCH_ARGUMENTS.get(word)?.test(value) !== true) return null;
  return value === '' ? word : `${word} ${value}`;
}

function tooManyWants(): ProtocolError {
  return new ProtocolError(
    'unsupported',
    `You ask for more than ${MAX_WANTS} branches, tags and other refs at once. ` +
      'Fetch some of them at a time, beginning with: git clone --single-branch',
  );
}

function malformedFetch(): ProtocolError {
  return badRequest('The fetch is malformed. Is your Git client up to date?');
}

/** Encodes a refusal, which Git shows as `fatal: remote error: <message>`. */
export function encodeFetchError(message: string): Uint8Array {
  return encodePktLine(`ERR ${message}\n`);
}
