/**
 * Requests to the host in Git's own protocol: only ids, ref names and the rewritten pack. Reads are
 * retried.
 */
import type { Clock } from '../../isolate/clock.ts';
import { Conventions } from '../../git/search/conventions.ts';
import { ByteReader, sourceOf } from '../../git/wire/byte-reader.ts';
import { concatBytes } from '../../git/bytes.ts';
import { parseHistory } from '../../git/objects/commit.ts';
import { CommitTable } from '../../git/objects/commit-table.ts';
import { OidBeginnings } from '../../git/objects/oid-beginnings.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import { KEPT_OBJECT_BYTES, NAMED_BASE_BYTES } from '../../git/pack/memory-limits.ts';
import { PackScanner } from '../../git/pack/pack-scanner.ts';
import { ErrorPacket } from '../../git/wire/pkt-line.ts';
import { ProtocolError } from '../../git/wire/protocol-error.ts';
import {
  readAdvertised,
  readAdvertisedIds,
  encodeFetch,
  encodeHistoryFetch,
  encodeLsRefs,
  encodePeeledLsRefs,
  type ObjectRequest,
  readFetchSections,
  readLsRefs,
  type RefList,
} from '../../git/wire/protocol-v2.ts';
import { readReportStatus, type ReportStatus } from '../../git/wire/report-status.ts';
import { BAND_DATA, readBands } from '../../git/wire/side-band.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { BodyError } from '../../streams/body-error.ts';
import { HostError } from '../../words/host-error.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { withRetries } from '../failure.ts';
import type { Caller, SmartHttp } from './smart-http.ts';
import type { IsPublic } from '../rest/reads.ts';
import { timeOf } from '../time.ts';

const MiB = 1024 * 1024;
/**
 * Of an answer with refs. A list is cut long before, unless nearly all of its names are unusable.
 */
const MAX_REF_LIST_BYTES = 16 * MiB;
/** Of one of which nothing is kept. The largest public repositories have half a million refs. */
const MAX_SEARCHED_REF_LIST_BYTES = 64 * MiB;

/** What a pack of a few objects has besides them. */
const PACK_OVERHEAD_BYTES = 4 * 1024;

/** Commits of one listing, inflated, with what each costs besides: some 45,000. */
const MAX_LISTED_BYTES = 18 * MiB;
/**
 * What a listed commit takes besides its content: its place among the objects, its date and its
 * parents.
 */
const LISTED_COMMIT_BYTES = 160;
/** More than a side-band packet of ordinary commits takes. */
const LISTING_ROOM_BYTES = 512 * 1024;
/** Bases of deltas in a listing that have not come before them. Git sends few if any. */
const MAX_BASES_AHEAD = 10_000;

export interface PushReport extends ReportStatus {
  /** Other messages of the host, for instance which rule it applied. */
  readonly messages: string;
}

export interface ListedRefs extends RefList {
  /** How far the host's clock was ahead of the service's; null: the answer did not say. */
  readonly hostAheadMs: number | null;
}

export interface ListedHistory {
  readonly kind: 'listed';
  readonly commits: CommitTable;
  /** Keys and servers in the messages of the newest ones (git/search/conventions.ts). */
  readonly conventions: ReadonlySet<string>;
}

export type HistoryAnswer =
  | ListedHistory
  /** No commit is new enough: Git's answer then ends before the pack. */
  | { readonly kind: 'none-selected' }
  /** `oldestAt`: the date of the oldest commit that was read. */
  | { readonly kind: 'too-large'; readonly oldestAt: number };

/** Whose repository is listed. */
type Owner = 'bot' | 'upstream';

export class GitTransport {
  readonly #http: SmartHttp;
  readonly #clock: Clock;
  readonly #memory: MemoryHold;
  readonly #isPublic: IsPublic | null;

  /**
   * @param memory keeps lists of refs to its end.
   * @param isPublic null: upstream is never listed with the token.
   */
  constructor(http: SmartHttp, clock: Clock, memory: MemoryHold, isPublic: IsPublic | null) {
    this.#http = http;
    this.#clock = clock;
    this.#memory = memory;
    this.#isPublic = isPublic;
  }

  get hostName(): string {
    return this.#http.hostName;
  }

  /**
   * Begins as Git does before it lists refs, so that a push looks like a fetch. One request.
   * @throws HostError
   */
  async discover(repository: RepositoryName): Promise<void> {
    return this.#asReader(repository, 'upstream', (caller) => this.#http.discover(repository, caller));
  }

  /**
   * Lists the refs that begin with one of the prefixes, in one request.
   * @param beforeWait called before it waits for memory.
   * @throws HostError
   */
  async listRefs(
    repository: RepositoryName,
    prefixes: readonly string[],
    owner: Owner,
    beforeWait?: () => void,
  ): Promise<ListedRefs> {
    const read = async (reader: ByteReader, { headers }: Response): Promise<ListedRefs> => {
      const at = timeOf((name) => headers.get(name));
      const hostAheadMs = at === null ? null : at - this.#clock.now();
      return { ...(await readLsRefs(reader, this.#memory, beforeWait)), hostAheadMs };
    };
    return this.#ask(repository, encodeLsRefs(prefixes), MAX_REF_LIST_BYTES, owner, read);
  }

  /**
   * Which ids any ref of upstream names or peels to, with the first ref of each. One request.
   * @param enough ends the reading.
   * @throws HostError
   */
  async advertised(
    repository: RepositoryName,
    oids: ReadonlySet<Oid>,
    enough?: AbortSignal,
  ): Promise<ReadonlyMap<Oid, string>> {
    const read = (reader: ByteReader) => readAdvertised(reader, oids, enough);
    return this.#ask(repository, encodePeeledLsRefs(), MAX_SEARCHED_REF_LIST_BYTES, 'upstream', read);
  }

  /**
   * Lists the ids that any ref of upstream names or peels to, in one request. If the list is too
   * long, only those that stand first.
   * @param beforeWait called before it waits for memory.
   * @throws HostError
   */
  async advertisedIds(repository: RepositoryName, beforeWait?: () => void): Promise<OidBeginnings> {
    const read = async (reader: ByteReader): Promise<OidBeginnings> => {
      const ids = new OidBeginnings();
      await readAdvertisedIds(reader, ids, this.#memory, beforeWait).catch(async (error: unknown) => {
        if (!isTooLarge(error)) throw error;
        await reader.cancel();
      });
      ids.sort();
      return ids;
    };
    return this.#ask(repository, encodePeeledLsRefs(), MAX_SEARCHED_REF_LIST_BYTES, 'upstream', read);
  }

  /**
   * Commits without their trees, some 150 bytes each. One request.
   * @param onWait before it waits for memory.
   */
  async listHistory(
    repository: RepositoryName,
    request: ObjectRequest,
    maxBytes: number,
    onWait: () => void = () => {},
  ): Promise<HistoryAnswer> {
    const read = (reader: ByteReader) => readHistory(reader, this.#memory, onWait);
    return this.#ask(repository, encodeHistoryFetch(request), maxBytes, 'upstream', read);
  }

  /**
   * Objects by their ids, of a public repository; null: they are larger. One request.
   * @param maxBytes of the answer, and of the objects, without what each takes besides.
   * @throws HostError; `unreachable` also if one is missing.
   */
  async readObjects(
    repository: RepositoryName,
    request: ObjectRequest,
    maxBytes: number,
  ): Promise<ReadonlyMap<Oid, KeptObject> | null> {
    const allBytes = maxBytes + request.wants.length * KEPT_OBJECT_BYTES + PACK_OVERHEAD_BYTES;
    const read = (reader: ByteReader) => readPackedObjects(reader, this.#memory, allBytes);
    return this.#ask(repository, encodeFetch(request), allBytes, 'upstream', read);
  }

  /**
   * What a repository's receive-pack can do, as it tells the bot. One request.
   * @throws HostError
   */
  async pushCapabilities(repository: RepositoryName): Promise<ReadonlySet<string>> {
    return withRetries(this.#clock, () => this.#http.pushCapabilities(repository));
  }

  /**
   * Pushes to a fork, or (`offer`) to upstream.
   * @throws HostError; `unreachable`: perhaps the push took place.
   */
  async push(
    repository: RepositoryName,
    body: ReadableStream<Uint8Array>,
    operation: 'push' | 'offer' = 'push',
  ): Promise<PushReport> {
    const response = await this.#http.post(repository, 'git-receive-pack', 'bot', body, operation);
    // While the host checks the objects, it sends five bytes now and then, to keep the connection
    // open.
    return this.#http.read(response, { maxBytes: MiB, pace: 'any' }, readPushReport);
  }

  /** Asks upload-pack. */
  async #ask<T>(
    repository: RepositoryName,
    request: Uint8Array,
    maxBytes: number,
    owner: Owner,
    parse: (reader: ByteReader, response: Response) => Promise<T>,
  ): Promise<T> {
    return this.#asReader(repository, owner, async (caller) => {
      const response = await this.#http.post(repository, 'git-upload-pack', caller, request);
      return this.#http.read(response, { maxBytes }, (reader) => parse(reader, response));
    });
  }

  /**
   * Reads the bot's own forks in its name, and all else without a token, because the host must not
   * see who reads for whom. Only where it limits reads by address, and the repository is public,
   * the bot reads it.
   */
  async #asReader<T>(
    repository: RepositoryName,
    owner: Owner,
    ask: (caller: Caller) => Promise<T>,
  ): Promise<T> {
    const askAs = (caller: Caller) => withRetries(this.#clock, () => ask(caller));
    if (owner === 'bot') return askAs('bot');
    try {
      return await askAs('public');
    } catch (error) {
      const isLimited = error instanceof HostError && error.code === 'rate-limited';
      if (!isLimited || !(await this.#isPublic?.(repository).catch(() => false))) throw error;
      return askAs('bot');
    }
  }
}

async function readPushReport(reader: ByteReader): Promise<PushReport> {
  const report: Uint8Array[] = [];
  let messages = '';
  const decoder = new TextDecoder();
  for await (const { band, data } of readBands(reader)) {
    if (band === BAND_DATA) report.push(data);
    else messages += decoder.decode(data);
  }
  return { ...(await readReportStatus(new ByteReader(sourceOf(concatBytes(report))))), messages };
}

/** The objects of a pack by their ids; null: they are too large. */
async function readPackedObjects(
  reader: ByteReader,
  memory: MemoryHold,
  maxBytes: number,
): Promise<ReadonlyMap<Oid, KeptObject> | null> {
  const objects = new Map<Oid, KeptObject>();
  const claim = memory.claim();
  const scanner = new PackScanner({
    keeps: 'everything',
    limits: { maxBytes },
    onKept: ({ type, oid, content }) => objects.set(oid, { type, oid, content: content.slice() }),
  });
  try {
    // Once for all: the objects, and the copies of them.
    await claim.set(2 * maxBytes);
    if (!(await readFetchSections(reader)))
      throw new ProtocolError('bad-pack', 'The code host sent no pack.');
    for await (const { band, data } of readBands(reader)) {
      if (band === BAND_DATA) scanner.scan(data);
      if (scanner.namedBases.size > 0) throw withoutBases();
    }
    scanner.finish();
    return objects;
  } catch (error) {
    if (isTooLarge(error)) return null;
    throw error;
  } finally {
    scanner.kept.free();
    claim.setNow(0);
  }
}

/** Commits without their trees. @param onWait called before it waits for memory. */
async function readHistory(
  reader: ByteReader,
  memory: MemoryHold,
  onWait: () => void,
): Promise<HistoryAnswer> {
  const commits = new CommitTable();
  const conventions = new Conventions();
  const scanner = new PackScanner({
    limits: { maxBytes: MAX_LISTED_BYTES, objectBytes: LISTED_COMMIT_BYTES, memory },
    onKept: ({ type, oid, content }) => {
      if (type !== 'commit') return;
      commits.add({ oid, ...parseHistory(content) });
      conventions.add(content);
    },
  });
  try {
    if (!(await readFetchSections(reader))) return { kind: 'none-selected' };
    for await (const { band, data } of readBands(reader, true)) {
      const basesBytes = NAMED_BASE_BYTES * scanner.namedBases.size;
      await scanner.kept.makeRoom(LISTING_ROOM_BYTES + basesBytes, onWait);
      if (band === BAND_DATA) scanner.scan(data);
      if (scanner.namedBases.size > MAX_BASES_AHEAD) throw withoutBases();
    }
    scanner.finish();
    return { kind: 'listed', commits, conventions: conventions.all };
  } catch (error) {
    if (isTooLarge(error)) return { kind: 'too-large', oldestAt: commits.oldestAt };
    const isNone = error instanceof ErrorPacket && /no commits selected/.test(error.text);
    if (isNone) return { kind: 'none-selected' };
    throw error;
  } finally {
    scanner.kept.free();
  }
}

function withoutBases(): ProtocolError {
  return new ProtocolError('bad-pack', 'The code host sent differences without their bases.');
}

/** Of an answer, or of what is in it. */
function isTooLarge(error: unknown): boolean {
  return (error instanceof BodyError || error instanceof ProtocolError) && error.code === 'too-large';
}
