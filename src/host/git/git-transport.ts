/**
 * Requests to the host in Git's own protocol: the refs and the history of a public repository, and the bot's pushes.
 *
 * The requests contain only ids, ref names and the rewritten pack. Reads are retried when they fail.
 */
import type { Clock } from '../../isolate/clock.ts';
import { ByteReader, sourceOf } from '../../git/wire/byte-reader.ts';
import { concatBytes } from '../../git/bytes.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import { KEPT_OBJECT_BYTES } from '../../git/pack/memory-limits.ts';
import {
  readAdvertised,
  encodeFetch,
  encodeLsRefs,
  encodePeeledLsRefs,
  type ObjectRequest,
  readLsRefs,
  type RefList,
} from '../../git/wire/protocol-v2.ts';
import { readReportStatus, type ReportStatus } from '../../git/wire/report-status.ts';
import { BAND_DATA, readBands } from '../../git/wire/side-band.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { HostError } from '../../host-error.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { withRetries } from '../rest/retry.ts';
import type { Caller, SmartHttp } from './smart-http.ts';
import type { IsPublic } from './visibility.ts';
import { type HistoryAnswer, readHistory, readPackedObjects } from './upload-pack-answers.ts';

/** Of an answer with refs. A list is cut long before, unless nearly all of its names are unusable. */
const MAX_REF_LIST_BYTES = 16 * 1024 * 1024;
/** Of one of which nothing is kept. The largest public repositories have half a million refs. */
const MAX_SEARCHED_REF_LIST_BYTES = 64 * 1024 * 1024;
const MAX_REPORT_BYTES = 1024 * 1024;

export interface PushReport extends ReportStatus {
  /** Other messages of the host, for instance which rule it applied. */
  readonly messages: string;
}

/** Whose repository is listed. */
export type Owner = 'bot' | 'upstream';

export class GitTransport {
  readonly #http: SmartHttp;
  readonly #clock: Clock;
  readonly #memory: MemoryHold;
  readonly #isPublic: IsPublic | null;

  /**
   * @param memory what the request holds that all this is for. Lists of refs stay in it until its end.
   * @param isPublic null: upstream's repositories are never listed with the bot's token.
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
   * The refs of a repository that begin with one of the prefixes. One request.
   * @throws HostError
   */
  async listRefs(repository: RepositoryName, prefixes: readonly string[], owner: Owner): Promise<RefList> {
    return this.#read(repository, owner, async (caller) => {
      const response = await this.#http.post(repository, 'git-upload-pack', caller, encodeLsRefs(prefixes));
      return this.#http.read(response, { maxBytes: MAX_REF_LIST_BYTES }, (reader) =>
        readLsRefs(reader, this.#memory),
      );
    });
  }

  /**
   * Which of some ids any of upstream's refs names, with the name of the first; of an annotated tag, also the commit. One
   * request; keeps nothing else of the list.
   * @throws HostError
   */
  async advertised(repository: RepositoryName, oids: ReadonlySet<Oid>): Promise<ReadonlyMap<Oid, string>> {
    return this.#read(repository, 'upstream', async (caller) => {
      const response = await this.#http.post(repository, 'git-upload-pack', caller, encodePeeledLsRefs());
      return this.#http.read(response, { maxBytes: MAX_SEARCHED_REF_LIST_BYTES }, (reader) =>
        readAdvertised(reader, oids),
      );
    });
  }

  /**
   * Commits of a public repository without their trees. One request; some 150 bytes a commit.
   * @param onWait called before it waits for memory.
   * @throws HostError as `listRefs`.
   */
  async listHistory(
    repository: RepositoryName,
    request: ObjectRequest,
    maxBytes: number,
    onWait: () => void = () => {},
  ): Promise<HistoryAnswer> {
    return this.#read(repository, 'upstream', async (caller) => {
      const response = await this.#http.post(repository, 'git-upload-pack', caller, encodeFetch(request));
      return readHistory(this.#http, this.#memory, response, maxBytes, onWait);
    });
  }

  /**
   * Objects by their ids, of a public repository. One request.
   * @param maxBytes of the answer, and of the objects when they are inflated, without what each wanted one takes
   * besides. Null: they are larger.
   * @throws HostError; `unreachable` also if the host does not have one of them.
   */
  async readObjects(
    repository: RepositoryName,
    request: ObjectRequest,
    maxBytes: number,
  ): Promise<ReadonlyMap<Oid, KeptObject> | null> {
    const allBytes = maxBytes + request.wants.length * KEPT_OBJECT_BYTES;
    return this.#read(repository, 'upstream', async (caller) => {
      const response = await this.#http.post(repository, 'git-upload-pack', caller, encodeFetch(request));
      return readPackedObjects(this.#http, this.#memory, response, allBytes);
    });
  }

  /**
   * What a repository's receive-pack can do, as it tells the bot. The refs behind that are not read. One request.
   * @throws HostError
   */
  async pushCapabilities(repository: RepositoryName): Promise<ReadonlySet<string>> {
    return withRetries(this.#clock, () => this.#http.pushCapabilities(repository));
  }

  /**
   * Pushes as the bot: to one of its forks, or to a public repository that opens a pull request of it.
   * @param body commands and pack, as receive-pack expects them.
   * @param operation which of the two it is.
   * @throws HostError; after `unreachable` it is unknown whether the push took place.
   */
  async push(
    repository: RepositoryName,
    body: ReadableStream<Uint8Array>,
    operation: 'push' | 'offer' = 'push',
  ): Promise<PushReport> {
    const response = await this.#http.post(repository, 'git-receive-pack', 'bot', body, operation);
    // While the host checks the objects, it sends five bytes now and then, to keep the connection open.
    return this.#http.read(response, { maxBytes: MAX_REPORT_BYTES, pace: 'any' }, readPushReport);
  }

  /**
   * Reads the bot's own forks in its name, and everything else without a token: the host must not see who reads for whom.
   * Only where it limits reads by address, it is asked whether the repository is public, and the bot reads it.
   */
  async #read<T>(repository: RepositoryName, owner: Owner, read: (caller: Caller) => Promise<T>): Promise<T> {
    const readAs = (caller: Caller) => withRetries(this.#clock, () => read(caller));
    if (owner === 'bot') return readAs('bot');
    try {
      return await readAs('public');
    } catch (error) {
      const isLimited = error instanceof HostError && error.code === 'rate-limited';
      if (!isLimited || !(await this.#isPublic?.(repository).catch(() => false))) throw error;
      return readAs('bot');
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
