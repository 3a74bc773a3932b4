/**
 * Makes requests to the host in Git's own protocol, with nothing but ids, names of refs, push
 * options of the service's own and the rewritten pack. Reads are retried.
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
import { ProtocolError, tooLarge } from '../../git/wire/protocol-error.ts';
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
import { withRetries } from '../retries.ts';
import type { Caller, SmartHttp } from './smart-http.ts';
import type { IsPublic } from '../rest/reads.ts';
import { timeOf } from '../time.ts';

const MiB = 1024 * 1024;
/**
 * Maximum size of an answer with refs. A list is cut long before, unless nearly all of its names
 * are unusable.
 */
const MAX_REF_LIST_BYTES = 16 * MiB;
/**
 * Maximum size of a list of refs that are not kept. The largest public repositories have half a
 * million.
 */
const MAX_SEARCHED_REF_LIST_BYTES = 64 * MiB;

/** Size of a pack of a few objects without these. */
const PACK_OVERHEAD_BYTES = 4 * 1024;

/** Maximum size of one listing's inflated commits, with what each takes besides: some 45,000. */
const MAX_LISTED_BYTES = 18 * MiB;
/**
 * Memory of a listed commit without its content: its place among the objects, its date and its
 * parents.
 */
const LISTED_COMMIT_BYTES = 160;
/**
 * Maximum number of ids in one listing. A commit may name thousands of parents that are not listed.
 */
const MAX_LISTED_IDS = 100_000;
/** Memory that is claimed before each packet: more than its commits usually take. */
const LISTING_ROOM_BYTES = 512 * 1024;
/** Maximum number of bases in a listing that come after their deltas. Git sends few if any. */
const MAX_BASES_AHEAD = 10_000;

export interface PushReport extends ReportStatus {
  /** Other messages of the host, for instance about the rule that it applied. */
  readonly messages: string;
}

export interface ListedRefs extends RefList {
  /**
   * The time by which the host's clock is ahead of the service's, or null if the answer did not
   * say.
   */
  readonly hostAheadMs: number | null;
}

export interface ListedHistory {
  readonly kind: 'listed';
  readonly commits: CommitTable;
  /** Trailers' keys and links' servers in the newest messages (git/search/conventions.ts). */
  readonly conventions: ReadonlySet<string>;
}

export type HistoryAnswer =
  | ListedHistory
  /** No commit is new enough. Git's answer then ends before the pack. */
  | { readonly kind: 'none-selected' }
  /** The answer is too large. `oldestAt` is the date of the oldest commit that was read. */
  | { readonly kind: 'too-large'; readonly oldestAt: number };

/** The owner of the repository that is read. */
type Owner = 'bot' | 'upstream';

export class GitTransport {
  readonly #http: SmartHttp;
  readonly #clock: Clock;
  readonly #memory: MemoryHold;
  readonly #isPublic: IsPublic | null;

  /**
   * Prepares requests.
   * @param memory keeps lists of refs until the request ends.
   * @param isPublic is null if upstream is never read with the token.
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
   * Makes the request with which Git begins, so that a push looks like a fetch.
   * @throws HostError
   */
  async discover(repository: RepositoryName): Promise<void> {
    return this.#asReader(repository, 'upstream', (caller) => this.#http.discover(repository, caller));
  }

  /**
   * Lists the refs that begin with one of the prefixes, in one request.
   * @param beforeWait is called before it waits for memory.
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
   * Finds which of some ids any ref of upstream names or peels to, with the first ref of each, in
   * one request.
   * @param enough ends the reading early.
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
   * long, only its beginning counts.
   * @param beforeWait is called before it waits for memory.
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
   * Lists commits without their trees, some 150 bytes each, in one request.
   * @param onWait is called before it waits for memory.
   * @throws HostError
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
   * Reads objects of a public repository by their ids, in one request.
   * @param maxBytes limits the answer and the objects, without what each takes besides.
   * @returns null if they are larger.
   * @throws HostError, `unreachable` if the answer is malformed.
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
   * Returns the capabilities of a repository's receive-pack, as the bot sees them, in one request.
   * @throws HostError
   */
  async pushCapabilities(repository: RepositoryName): Promise<ReadonlySet<string>> {
    return withRetries(this.#clock, () => this.#http.pushCapabilities(repository));
  }

  /**
   * Pushes to a fork, or with `offer` to upstream.
   * @throws HostError. After `unreachable`, the push may have taken place.
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

  /** Sends a request to upload-pack. */
  async #ask<T>(
    repository: RepositoryName,
    request: Uint8Array,
    maxBytes: number,
    owner: Owner,
    parse: (reader: ByteReader, response: Response) => Promise<T>,
  ): Promise<T> {
    return this.#asReader(repository, owner, async (caller) => {
      const response = await this.#http.post(repository, 'git-upload-pack', caller, request);
      const onChunk = (bytes: number): Promise<void> => this.#memory.worked(bytes, true);
      return this.#http.read(response, { maxBytes, onChunk }, (reader) => parse(reader, response));
    });
  }

  /**
   * Reads the bot's own forks in its name, and all else without a token, so that the host does not
   * see who reads for whom. If the host limits reads by address, the bot reads public repositories
   * in its own name.
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
      // A repository that cannot be looked up does not count as public.
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

/** Reads the objects of a pack by their ids, or returns null if they are too large. */
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
    // Claim once for all objects, and for the copies of them.
    await claim.set(2 * maxBytes);
    if (!(await readFetchSections(reader)))
      throw new ProtocolError('bad-pack', 'The code host sent no pack.');
    for await (const { band, data } of readBands(reader)) {
      if (band === BAND_DATA) await scanned(scanner, data, memory);
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

/**
 * Reads commits without their trees.
 * @param onWait is called before it waits for memory.
 */
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
      if (commits.idCount > MAX_LISTED_IDS) throw tooLarge('The code host listed too many parents.');
      conventions.add(content);
    },
  });
  try {
    if (!(await readFetchSections(reader))) return { kind: 'none-selected' };
    for await (const { band, data } of readBands(reader, true)) {
      const basesBytes = NAMED_BASE_BYTES * scanner.namedBases.size;
      await scanner.kept.makeRoom(LISTING_ROOM_BYTES + basesBytes, onWait);
      if (band === BAND_DATA) await scanned(scanner, data, memory);
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

/** Scans a part of an answer's pack, and counts what has come out of it. */
async function scanned(scanner: PackScanner, data: Uint8Array, memory: MemoryHold): Promise<void> {
  const { bytes } = scanner.kept;
  scanner.scan(data);
  await memory.worked(scanner.kept.bytes - bytes, true);
}

function withoutBases(): ProtocolError {
  return new ProtocolError('bad-pack', 'The code host sent differences without their bases.');
}

/** Tells if an answer, or its content, is too large. */
function isTooLarge(error: unknown): boolean {
  return (error instanceof BodyError || error instanceof ProtocolError) && error.code === 'too-large';
}
