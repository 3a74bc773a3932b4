/**
 * Requests to the host in Git's own protocol: the refs and the history of a public repository, and the push to the
 * bot's fork.
 *
 * The requests contain only ids, ref names and the rewritten pack. Reads are retried when they fail.
 */
import type { Clock } from '../clock.ts';
import { ByteReader } from '../git/byte-reader.ts';
import { concatBytes } from '../git/bytes.ts';
import { parseCommit } from '../git/commit.ts';
import type { Oid } from '../git/oid.ts';
import { PackScanner } from '../git/pack/pack-scanner.ts';
import { ProtocolError } from '../git/protocol-error.ts';
import {
  encodeHistoryFetch,
  encodeLsRefs,
  type HistoryRequest,
  readFetchSections,
  readLsRefs,
  type RefList,
} from '../git/protocol-v2.ts';
import { readReportStatus, type ReportStatus } from '../git/report-status.ts';
import { BAND_DATA, readBands } from '../git/side-band.ts';
import { BodyError, chunksOf } from '../streams.ts';
import { HostError } from './host-error.ts';
import type { RepositoryName } from './repository-name.ts';
import { withRetries } from './retry.ts';
import { type Caller, HOST_TIMEOUT_MS, type SmartHttp } from './smart-http.ts';

const MAX_REF_LIST_BYTES = 64 * 1024 * 1024;
const MAX_REPORT_BYTES = 1024 * 1024;

/** Limit for the commits of one listing, inflated, with their overhead: some 60,000. */
const MAX_LISTED_BYTES = 48 * 1024 * 1024;

export interface ListedCommit {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  /** Seconds since 1970. */
  readonly committedAt: number;
}

export type HistoryAnswer =
  | { readonly kind: 'listed'; readonly commits: readonly ListedCommit[] }
  /** No commit is new enough: Git then sends an empty answer. */
  | { readonly kind: 'none-selected' }
  | { readonly kind: 'too-large' };

export interface PushReport extends ReportStatus {
  /** Other messages of the host, for instance which rule it applied. */
  readonly messages: string;
}

export class GitTransport {
  readonly #http: SmartHttp;
  readonly #clock: Clock;

  constructor(http: SmartHttp, clock: Clock) {
    this.#http = http;
    this.#clock = clock;
  }

  get hostName(): string {
    return this.#http.hostName;
  }

  /**
   * The refs of a repository that begin with one of the prefixes. One request.
   * @param caller `bot` for the bot's own forks only.
   * @throws HostError `missing`, `moved`, `unreachable` or `rate-limited`.
   */
  async listRefs(repository: RepositoryName, prefixes: readonly string[], caller: Caller): Promise<RefList> {
    return this.#retried(async () => {
      const response = await this.#http.post(repository, 'git-upload-pack', caller, encodeLsRefs(prefixes));
      return this.#http.read(response, { maxBytes: MAX_REF_LIST_BYTES }, (reader) => readLsRefs(reader));
    });
  }

  /**
   * Commits of a public repository without their trees. One request; some 150 bytes a commit.
   * @throws HostError as `listRefs`.
   */
  async listHistory(
    repository: RepositoryName,
    request: HistoryRequest,
    maxBytes: number,
  ): Promise<HistoryAnswer> {
    return this.#retried(async () => {
      const body = encodeHistoryFetch(request);
      const response = await this.#http.post(repository, 'git-upload-pack', 'public', body);
      return this.#readHistory(response, maxBytes);
    });
  }

  /**
   * Pushes to one of the bot's forks.
   * @param body commands and pack, as receive-pack expects them.
   * @throws HostError; after `unreachable` it is unknown whether the push took place.
   */
  async push(fork: RepositoryName, body: ReadableStream<Uint8Array>): Promise<PushReport> {
    const response = await this.#http.post(fork, 'git-receive-pack', 'bot', body);
    // While the host checks the objects, it sends five bytes now and then, to keep the connection open.
    return this.#http.read(response, { maxBytes: MAX_REPORT_BYTES, pace: 'any' }, readPushReport);
  }

  async #readHistory(response: Response, maxBytes: number): Promise<HistoryAnswer> {
    const commits: ListedCommit[] = [];
    const scanner = new PackScanner(
      {
        onKept: ({ type, oid, content }) => {
          if (type !== 'commit') return;
          const { parents, committedAt } = parseCommit(content);
          commits.push({ oid, parents, committedAt });
        },
        onPassed: () => {},
        onRefDelta: () => {},
      },
      MAX_LISTED_BYTES,
    );
    const reader = new ByteReader(chunksOf(response.body, { maxBytes, timeoutMs: HOST_TIMEOUT_MS }));
    try {
      const sections = await readFetchSections(reader).catch(() => null);
      if (sections?.kind !== 'pack') return { kind: 'none-selected' };
      for await (const { band, data } of readBands(reader)) if (band === BAND_DATA) scanner.scan(data);
      scanner.finish();
      return { kind: 'listed', commits };
    } catch (error) {
      await reader.cancel();
      if ((error instanceof BodyError || error instanceof ProtocolError) && error.code === 'too-large') {
        return { kind: 'too-large' };
      }
      throw this.#http.unreachable(error);
    }
  }

  /** Reads can be repeated. */
  #retried<T>(read: () => Promise<T>): Promise<T> {
    return withRetries(this.#clock, read, (error) => {
      const mayPass =
        error instanceof HostError && (error.code === 'unreachable' || error.code === 'rate-limited');
      return mayPass ? { kind: 'again', waitMs: null } : { kind: 'final' };
    });
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
  const chunks = [concatBytes(report)];
  const source = { read: async () => chunks.pop() ?? null, cancel: async () => {} };
  return { ...(await readReportStatus(new ByteReader(source))), messages };
}
