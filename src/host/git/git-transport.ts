/**
 * Makes requests to the host in Git's own protocol, with nothing but ids, names of refs, push
 * options of the service's own and the rewritten pack. Reads are retried.
 */
import type { Clock } from '../../isolate/clock.ts';
import type { ByteReader } from '../../git/wire/byte-reader.ts';
import { OidBeginnings } from '../../git/objects/oid-beginnings.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import { KEPT_OBJECT_BYTES } from '../../git/pack/memory-limits.ts';
import {
  readAdvertised,
  readAdvertisedIds,
  encodeFetch,
  encodeHistoryFetch,
  encodeLsRefs,
  encodePeeledLsRefs,
  type ObjectRequest,
  readLsRefs,
  type RefList,
} from '../../git/wire/protocol-v2.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { HostError, isOutOfCalls } from '../../words/host-error.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { withRetries } from '../retries.ts';
import {
  type HistoryAnswer,
  isTooLarge,
  type PushReport,
  readHistory,
  readPackedObjects,
  readPushReport,
} from './git-answers.ts';
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

export interface ListedRefs extends RefList {
  /**
   * The time by which the host's clock is ahead of the service's, or null if the answer did not
   * say.
   */
  readonly hostAheadMs: number | null;
}

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
      if (!isLimited || !(await this.#isPublic?.(repository).catch(unlessOutOfCalls))) throw error;
      return askAs('bot');
    }
  }
}

/** Takes a repository that cannot be looked up for none that is public. */
function unlessOutOfCalls(error: unknown): false {
  if (isOutOfCalls(error)) throw error;
  return false;
}
