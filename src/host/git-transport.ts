/**
 * Smart HTTP towards the host (gitprotocol-http): the ref list and the history of a public repository, the push to
 * the bot's fork, and the relay of fetches.
 *
 * What is sent is built here from nothing but ids, ref names and the rewritten pack. The bot's token goes out with
 * requests for the bot's own forks and with no others: it could read private repositories for anyone.
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
import { HostError, MovedError } from './host-error.ts';
import { fullName, parseRepositoryName, type RepositoryName } from './repository-name.ts';
import { withRetries } from './retry.ts';

/** How long the host may take until its answer begins (contract, section 8). */
export const HOST_TIMEOUT_MS = 30_000;
const MAX_REF_LIST_BYTES = 64 * 1024 * 1024;
const MAX_REPORT_BYTES = 1024 * 1024;
const USER_AGENT = 'git/2.0';

export type GitService = 'git-upload-pack' | 'git-receive-pack';

export interface ListedCommit {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  /** Seconds since 1970. */
  readonly committedAt: number;
}

export type HistoryAnswer =
  | { readonly kind: 'listed'; readonly commits: readonly ListedCommit[] }
  /** No commit is as young as asked for: Git then answers with nothing at all. */
  | { readonly kind: 'none-selected' }
  | { readonly kind: 'too-large' };

export interface PushReport extends ReportStatus {
  /** What the host said besides, for instance which rule it applied. */
  readonly messages: string;
}

/** Where a redirect of the host's leads: `…/<owner>/<name>.git/…`; null if it is none that we can follow. */
export function movedRepository(response: Response): RepositoryName | null {
  if (response.status < 300 || response.status >= 400) return null;
  const location = response.headers.get('Location') ?? '';
  const [, owner, name] =
    /^(?:https?:\/\/[^/]+)?\/([^/]+)\/([^/]+)\/(?:info\/refs|git-)/.exec(location) ?? [];
  return owner === undefined || name === undefined ? null : parseRepositoryName(owner, name);
}

export class GitTransport {
  readonly #webUrl: string;
  readonly #botToken: string | null;
  readonly #clock: Clock;

  /** @param webUrl web and Git base of the host, without a trailing slash. */
  constructor(webUrl: string, botToken: string | null, clock: Clock) {
    this.#webUrl = webUrl;
    this.#botToken = botToken;
    this.#clock = clock;
  }

  /** The host's name, as messages show it. */
  get hostName(): string {
    return new URL(this.#webUrl).host;
  }

  /**
   * The refs of a repository that begin with one of the prefixes. One request.
   * @param as `bot` for the bot's own forks only.
   * @throws HostError `missing`, `unreachable` or `rate-limited`.
   */
  async listRefs(
    repository: RepositoryName,
    prefixes: readonly string[],
    as: 'public' | 'bot',
  ): Promise<RefList> {
    return this.#retried(async () => {
      const response = await this.#uploadPack(repository, encodeLsRefs(prefixes), as);
      return this.#parse(response, MAX_REF_LIST_BYTES, (reader) => readLsRefs(reader));
    });
  }

  /**
   * Commits of a public repository without their trees. One request; cost: some 150 bytes a commit.
   * @throws HostError as `listRefs`.
   */
  async listHistory(
    repository: RepositoryName,
    request: HistoryRequest,
    maxBytes: number,
  ): Promise<HistoryAnswer> {
    return this.#retried(() => this.#listHistoryOnce(repository, request, maxBytes));
  }

  /**
   * Pushes to one of the bot's forks.
   * @param body commands and pack, as receive-pack expects them.
   * @throws HostError; `unreachable` leaves open whether the push took place.
   */
  async push(fork: RepositoryName, body: ReadableStream<Uint8Array>): Promise<PushReport> {
    const response = await this.#request(this.#url(fork, 'git-receive-pack'), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-git-receive-pack-request',
        Accept: 'application/x-git-receive-pack-result',
        ...this.#authorization('bot'),
      },
      body,
      // The answer begins when the host has checked the pack; how long that takes depends on the pack.
      signal: null,
    });
    return this.#parse(response, MAX_REPORT_BYTES, async (reader) => {
      const report: Uint8Array[] = [];
      let messages = '';
      const decoder = new TextDecoder();
      for await (const { band, data } of readBands(reader)) {
        if (band === BAND_DATA) report.push(data);
        else messages += decoder.decode(data);
      }
      const chunks = [concatBytes(report)];
      const status = await readReportStatus(
        new ByteReader({ read: async () => chunks.pop() ?? null, cancel: async () => {} }),
      );
      return { ...status, messages };
    });
  }

  /** Relays one request of a fetching client; the host's answer comes back as it is, redirects included. */
  async relay(
    repository: RepositoryName,
    path: string,
    request: { method: string; headers: Record<string, string>; body: ReadableStream<Uint8Array> | null },
  ): Promise<Response> {
    return this.#fetch(`${this.#webUrl}/${fullName(repository)}.git/${path}`, {
      ...request,
      redirect: 'manual',
    });
  }

  async #listHistoryOnce(
    repository: RepositoryName,
    request: HistoryRequest,
    maxBytes: number,
  ): Promise<HistoryAnswer> {
    const response = await this.#uploadPack(repository, encodeHistoryFetch(request), 'public');
    const commits: ListedCommit[] = [];
    const scanner = new PackScanner({
      kept: ({ type, oid, content }) => {
        if (type === 'commit') commits.push({ oid, ...parseCommit(content) });
      },
      passed: () => {},
      refDelta: () => {},
    });
    try {
      const reader = new ByteReader(chunksOf(response.body, { maxBytes, timeoutMs: HOST_TIMEOUT_MS }));
      const sections = await readFetchSections(reader).catch(() => null);
      if (sections?.kind !== 'pack') return { kind: 'none-selected' };
      for await (const { band, data } of readBands(reader)) if (band === BAND_DATA) scanner.scan(data);
      scanner.finish();
    } catch (error) {
      const isTooLarge =
        (error instanceof BodyError || error instanceof ProtocolError) && error.code === 'too-large';
      if (isTooLarge) return { kind: 'too-large' };
      throw this.#unreachable(error);
    }
    return {
      kind: 'listed',
      commits: commits.map(({ oid, parents, committedAt }) => ({ oid, parents, committedAt })),
    };
  }

  /** Reading twice does no harm. */
  #retried<T>(read: () => Promise<T>): Promise<T> {
    return withRetries(this.#clock, read, (error) => {
      const mayPass =
        error instanceof HostError && (error.code === 'unreachable' || error.code === 'rate-limited');
      return mayPass ? { kind: 'again', waitMs: null } : { kind: 'final' };
    });
  }

  #url(repository: RepositoryName, service: GitService): string {
    return `${this.#webUrl}/${fullName(repository)}.git/${service}`;
  }

  #authorization(as: 'public' | 'bot'): Record<string, string> {
    if (as === 'public' || this.#botToken === null) return {};
    return { Authorization: `Basic ${btoa(`x-access-token:${this.#botToken}`)}` };
  }

  async #uploadPack(repository: RepositoryName, body: Uint8Array, as: 'public' | 'bot'): Promise<Response> {
    return this.#request(this.#url(repository, 'git-upload-pack'), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-git-upload-pack-request',
        Accept: 'application/x-git-upload-pack-result',
        'Git-Protocol': 'version=2',
        ...this.#authorization(as),
      },
      body,
    });
  }

  /** A request whose answer must be a success. */
  async #request(url: string, init: RequestInit): Promise<Response> {
    const response = await this.#fetch(url, { ...init, redirect: 'manual' });
    if (response.ok) return response;
    await response.body?.cancel();
    const { status } = response;
    if (status === 429)
      throw new HostError('rate-limited', `${this.hostName} asks to slow down. Try again later.`);
    if (status >= 500) throw this.#unreachable(status);
    const movedTo = movedRepository(response);
    if (movedTo !== null) throw new MovedError(movedTo);
    throw new HostError('missing', 'The repository does not exist, or is not public.', status);
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), HOST_TIMEOUT_MS);
    try {
      return await fetch(url, {
        signal: timeout.signal,
        ...init,
        headers: { ...(init.headers as Record<string, string>), 'User-Agent': USER_AGENT },
      });
    } catch (error) {
      throw this.#unreachable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #parse<T>(
    response: Response,
    maxBytes: number,
    parse: (reader: ByteReader) => Promise<T>,
  ): Promise<T> {
    const reader = new ByteReader(chunksOf(response.body, { maxBytes, timeoutMs: HOST_TIMEOUT_MS }));
    try {
      return await parse(reader);
    } catch (error) {
      await reader.cancel();
      throw this.#unreachable(error);
    }
  }

  #unreachable(cause: unknown): HostError {
    return new HostError(
      'unreachable',
      `${this.hostName} did not answer as expected. Try again later.`,
      cause,
    );
  }
}
