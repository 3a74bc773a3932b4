/**
 * Removes from an upload-pack request what it tells about the client: which commits it has, where its shallow clone
 * ends, the names of its branches and of its Git (gitprotocol-v2, "fetch"; gitprotocol-pack, "Packfile Negotiation";
 * versions 0 and 1 ask alike). Only known lines are passed on, such as a `want`, and a `have` if upstream has that
 * commit: dropping one makes the answer larger at worst. A `shallow` cannot be dropped, or the host would assume that
 * the client has more, so a request with a foreign one is refused.
 */
import type { ByteReader } from './byte-reader.ts';
import { concatBytes } from '../bytes.ts';
import { FetchLines } from './fetch-lines.ts';
import type { Memory } from '../memory.ts';
import type { Oid } from '../objects/oid.ts';
import { OidTable } from '../objects/oid-table.ts';
import { encodePktLine, FLUSH_PKT } from './pkt-line.ts';
import { badRequest, ProtocolError } from './protocol-error.ts';

/** Further haves are dropped. Git names the newest first, and ends each round after hundreds or thousands. */
export const MAX_HAVES = 32_768;
/** A clone that ends at more commits is refused, because so many cannot be looked up. */
export const MAX_SHALLOWS = 32_768;
/** Lines that name no object, such as depths and filters. A client sends a handful, so no memory is held for more. */
export const MAX_SETTINGS = 1_000;
/** Memory of an id: in a table, and as text while it is looked up. */
const ID_BYTES = 150;
const AGENT = 'agent=git/2.0';
const DAY_SECONDS = 24 * 60 * 60;

/** The commits that upstream is known to have, without asking about a client's commits. */
export interface UpstreamIds {
  /** Those of the ids that upstream is known to have. At least one, if there is one. */
  someOf(oids: OidTable): Promise<readonly Oid[]>;
  hasAll(oids: OidTable): Promise<boolean>;
}

export type FetchRequest =
  /** The request as it is passed on, in memory of its own. */
  | { readonly kind: 'relay'; readonly body: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'answer'; readonly body: Uint8Array };

/** A filter that names an object, perhaps the client's own, is dropped. The client then gets more. */
const FILTER = String.raw`(?:blob:none|blob:limit=\d{1,15}[kmg]?|tree:\d{1,9}|object:type=(?:blob|tree|commit|tag))`;

const ALONE = /^$/;
/** The name of a ref, in any encoding. */
const REF_NAME = /^[!-~\x80-\xff]{1,1000}$/;
/** Lines of a `fetch` command that are passed on, and what may follow their first word. Others describe the client. */
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
/** Capabilities that a client of version 0 may ask for with its first `want`. */
const V0_CAPABILITIES = new Set(
  'multi_ack multi_ack_detailed no-done thin-pack side-band side-band-64k ofs-delta no-progress include-tag shallow'
    .concat(' deepen-since deepen-not deepen-relative filter allow-tip-sha1-in-want')
    .concat(' allow-reachable-sha1-in-want object-format=sha1')
    .split(' '),
);

/** Reads a request to the end of its body. @param version 0: also 1. @throws ProtocolError, as reader and memory. */
export async function readFetchRequest(
  reader: ByteReader,
  version: 0 | 2,
  upstream: UpstreamIds,
  memory: Memory,
): Promise<FetchRequest> {
  const client = new ToldOfClient();
  const lines = new FetchLines(reader, memory, () => client.keptBytes);
  if (version === 0) return readV0(lines, client, upstream);
  const { command, end } = await readCommand(lines);
  for (const line of [COMMAND + command, AGENT, 'object-format=sha1']) lines.add(line);
  lines.mark('delim');
  const [attributes, prefixes] = [new Set<string>(), new RefPrefixes()];
  const takeLsRefs = (line: string): null => {
    const prefix = REF_PREFIX.exec(line)?.[1];
    if (prefix !== undefined) prefixes.add(prefix);
    else if (LS_REFS_ARGUMENTS.test(line)) attributes.add(line);
    return null;
  };
  const pass = command === 'ls-refs' ? takeLsRefs : (line: string) => client.passOn(line);
  if (end === 'delim' && (await lines.section(pass)) !== 'flush') throw malformed();
  await lines.readRest();
  if (command === 'fetch') return fetchRequest(lines, client, upstream);
  for (const attribute of attributes) lines.add(attribute);
  for (const prefix of prefixes.widened()) lines.add(`ref-prefix ${prefix}`);
  lines.mark('flush');
  return { kind: 'relay', body: await lines.body() };
}

/** The command may stand behind capabilities: Git 2.28 to 2.31 send `object-format` first. */
async function readCommand(lines: FetchLines) {
  let command = '';
  const end = await lines.section((line) => {
    if (OTHER_FORMAT.test(line)) {
      throw new ProtocolError('unsupported', 'Mismatched object format: only sha1 is supported.');
    }
    if (line.startsWith(COMMAND)) command = command === '' ? line.slice(COMMAND.length) : 'two';
    return null;
  });
  if (command !== 'fetch' && command !== 'ls-refs') {
    throw new ProtocolError('unsupported', 'Only the commands "ls-refs" and "fetch" are supported.');
  }
  return { command, end };
}

async function fetchRequest(
  lines: FetchLines,
  { haves, shallows, isDone, isNegotiating }: ToldOfClient,
  upstream: UpstreamIds,
): Promise<FetchRequest> {
  const common = await upstream.someOf(haves);
  // The client only wants to know which of its commits upstream has.
  if (isNegotiating) return acknowledged(common);
  await refuseForeign(shallows, upstream);
  // The client will name more. Without a common commit, the host would take the request for a clone, and begin to send.
  if (haves.size > 0 && common.length === 0 && !isDone) return acknowledged([]);
  for (const oid of common) lines.add(`have ${oid}`);
  if (isDone) lines.add('done');
  lines.mark('flush');
  return { kind: 'relay', body: await lines.body() };
}

/** Wants, shallows and depths; then, unless only depths are asked for, the haves of all rounds so far. */
async function readV0(lines: FetchLines, client: ToldOfClient, upstream: UpstreamIds): Promise<FetchRequest> {
  let wants = 0;
  const passWant = (line: string): string | null => {
    const [, oid, capabilities = ''] = V0_WANT.exec(line) ?? [];
    if (oid === undefined) return client.passOn(line);
    if (wants++ > 0) return `want ${oid}`;
    const known = capabilities.split(' ').filter((word) => V0_CAPABILITIES.has(word));
    return [`want ${oid}`, ...new Set(known), AGENT].join(' ');
  };
  const passHave = (line: string): null => {
    client.passOn(line);
    return null;
  };
  if ((await lines.section(passWant)) !== 'flush') throw malformed();
  const hasRounds = wants > 0 && (await lines.hasMore());
  if (hasRounds && (await lines.section(passHave, 'end')) !== 'end') throw malformed();
  await lines.readRest();
  const common = await upstream.someOf(client.haves);
  await refuseForeign(client.shallows, upstream);
  lines.mark('flush');
  for (const oid of common) lines.add(`have ${oid}`);
  if (client.isDone) lines.add('done');
  else if (hasRounds) lines.mark('flush');
  return { kind: 'relay', body: await lines.body() };
}

async function refuseForeign(shallows: OidTable, upstream: UpstreamIds): Promise<void> {
  if (shallows.size > MAX_SHALLOWS || !(await upstream.hasAll(shallows))) {
    throw new ProtocolError(
      'unsupported',
      'Your shallow clone ends at commits that the service cannot find upstream. Clone again.',
    );
  }
}

/** Says which of the client's commits upstream has (gitprotocol-v2, "acknowledgments"), and never "ready". */
function acknowledged(common: readonly Oid[]): FetchRequest {
  const acks = common.length === 0 ? ['NAK'] : common.map((oid) => `ACK ${oid}`);
  const lines = ['acknowledgments', ...acks].map((line) => encodePktLine(`${line}\n`));
  return { kind: 'answer', body: concatBytes([...lines, FLUSH_PKT]) };
}

/** What a request tells about its client. It is looked up before anything is passed on. */
class ToldOfClient {
  readonly haves = new OidTable();
  readonly shallows = new OidTable();
  isDone = false;
  isNegotiating = false;
  #settings = 0;

  get keptBytes(): number {
    return ID_BYTES * (this.haves.size + this.shallows.size);
  }

  /**
   * The part of a line that is passed on; null: nothing, or not yet. @throws ProtocolError for too many settings, and
   * for an id in place of a ref's name, as it may be the client's own commit.
   */
  passOn(line: string): string | null {
    const wordEnd = line.indexOf(' ');
    const word = wordEnd < 0 ? line : line.slice(0, wordEnd);
    const value = line.slice(word.length + 1);
    if (word === 'want') return OID.test(value) ? line : null;
    if (word === 'have') {
      if (OID.test(value) && this.haves.size < MAX_HAVES) this.haves.add(value);
      return null;
    }
    if (word === 'shallow') {
      if (!OID.test(value)) return null;
      if (this.shallows.size <= MAX_SHALLOWS) this.shallows.add(value);
      return line;
    }
    this.isDone ||= word === 'done';
    this.isNegotiating ||= word === 'wait-for-done';
    const setting = settingOf(word, value);
    if (setting !== null && this.#settings++ === MAX_SETTINGS) throw malformed();
    return setting;
  }
}

function settingOf(word: string, value: string): string | null {
  if (word === 'deepen-since') {
    // The exact second would describe the client. Git refuses 0.
    const startOfDay = Math.floor(Number(value) / DAY_SECONDS) * DAY_SECONDS;
    return SECONDS.test(value) ? `${word} ${Math.max(1, startOfDay)}` : null;
  }
  if (word === 'deepen-not' && OID.test(value)) {
    throw new ProtocolError('unsupported', 'upload-pack: deepen-not is not a ref');
  }
  if (FETCH_ARGUMENTS.get(word)?.test(value) !== true) return null;
  return value === '' ? word : `${word} ${value}`;
}

function malformed(): ProtocolError {
  return badRequest('The fetch is malformed. Is your Git client up to date?');
}

/** Of all prefixes together: some 1,500. If there are more, everything is listed. */
export const MAX_PREFIX_BYTES = 64 * 1024;
const EVERYTHING = 'refs/';
/** These are too many to list all of them, and their names are only numbers. */
const OF_PULL_REQUEST = /^refs\/pull\/(?:\d{1,10}\/(?:head|merge)?)?$/;
const SPACES = ['refs/heads/', 'refs/tags/', 'refs/remotes/'] as const;

/**
 * Which refs a client lists (gitprotocol-v2, "ls-refs"). After `git push -u`, every `git fetch` names the tracked
 * branch, which often tells who the person is. So all branches or all tags are listed instead: a prefix is only a hint.
 */
export class RefPrefixes {
  readonly #given = new Set<string>();
  #bytes = 0;
  #isOverLimit = false;

  /** @param prefix may be a part of a longer text, which is not kept. */
  add(prefix: string): void {
    if (this.#given.has(prefix)) return;
    this.#bytes += prefix.length;
    if (this.#bytes > MAX_PREFIX_BYTES) this.#isOverLimit = true;
    else this.#given.add(Buffer.from(prefix, 'latin1').toString('latin1'));
  }

  /** The prefixes that are passed on; none if the client gave none. */
  widened(): readonly string[] {
    if (this.#given.size === 0 && !this.#isOverLimit) return [];
    const widened = new Set([...this.#given].flatMap((prefix) => this.#widen(prefix) ?? []));
    if (this.#isOverLimit || widened.size === 0) return ['HEAD', EVERYTHING];
    return [...widened];
  }

  #widen(prefix: string): string | null {
    if (prefix === 'HEAD' || OF_PULL_REQUEST.test(prefix)) return prefix;
    const space = SPACES.find((start) => prefix.startsWith(start));
    if (space !== undefined) return space;
    // Git expands a short name to what it can mean: `fix`, `refs/fix`, `refs/tags/fix`, `refs/heads/fix` and so on.
    const isExpansion = prefix.startsWith(EVERYTHING) && this.#given.has(prefix.slice(EVERYTHING.length));
    return prefix.startsWith(EVERYTHING) && !isExpansion ? prefix : null;
  }
}

/** A request that is refused, as Git shows it: `fatal: remote error: <message>`. */
export function encodeFetchError(message: string): Uint8Array {
  return encodePktLine(`ERR ${message}\n`);
}
