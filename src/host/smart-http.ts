/**
 * Smart HTTP requests to the host (gitprotocol-http): addresses, headers, time limits, and the meaning of failures.
 *
 * The headers contain nothing of the client's request. The bot's token is sent only with requests for the bot's own
 * forks, because it could read private repositories for anyone.
 */
import { ByteReader } from '../git/byte-reader.ts';
import { countedFetch } from '../metrics/counted-fetch.ts';
import type { Http } from '../outgoing/http-client.ts';
import { type BodyLimits, chunksOf } from '../streams.ts';
import { HostError, MovedError } from './host-error.ts';
import { fullName, parseRepositoryName, type RepositoryName } from './repository-name.ts';

/** How long the host may take until its answer begins, and between its bytes (contract, section 8). */
export const HOST_TIMEOUT_MS = 30_000;
const USER_AGENT = 'git/2.0';

export type GitService = 'git-upload-pack' | 'git-receive-pack';

/** In whose name a request is made. */
export type Caller = 'public' | 'bot';

/** The target of the host's redirect: `…/<owner>/<name>.git/…`; null if we cannot follow it. */
export function movedRepository(response: Response): RepositoryName | null {
  if (response.status < 300 || response.status >= 400) return null;
  const location = response.headers.get('Location') ?? '';
  const [, owner, name] =
    /^(?:https?:\/\/[^/]+)?\/([^/]+)\/([^/]+)\/(?:info\/refs|git-)/.exec(location) ?? [];
  return owner === undefined || name === undefined ? null : parseRepositoryName(owner, name);
}

export class SmartHttp {
  readonly #webUrl: string;
  readonly #botToken: string | null;
  readonly #fetch: Http['fetch'];

  /** @param webUrl web and Git base of the host, without a trailing slash. */
  constructor(webUrl: string, botToken: string | null, http: Http) {
    this.#webUrl = webUrl;
    this.#botToken = botToken;
    this.#fetch = countedFetch('git', http);
  }

  /** The host's name, for messages. */
  get hostName(): string {
    return new URL(this.#webUrl).host;
  }

  /**
   * One request to a service, with a successful answer.
   * @throws HostError
   */
  async post(
    repository: RepositoryName,
    service: GitService,
    caller: Caller,
    body: Uint8Array | ReadableStream<Uint8Array>,
  ): Promise<Response> {
    const headers: Record<string, string> = {
      'Content-Type': `application/x-${service}-request`,
      Accept: `application/x-${service}-result`,
    };
    if (service === 'git-upload-pack') headers['Git-Protocol'] = 'version=2';
    if (caller === 'bot')
      headers['Authorization'] = `Basic ${btoa(`x-access-token:${this.#botToken ?? ''}`)}`;
    // The answer to a push begins only when the host has read and checked the pack, which may take long.
    const timeoutMs = service === 'git-receive-pack' ? null : HOST_TIMEOUT_MS;
    const response = await this.fetch(repository, service, { method: 'POST', headers, body }, timeoutMs);
    if (response.ok) return response;
    await response.body?.cancel();
    throw this.#refusal(response);
  }

  /**
   * Any request about a repository. Returns the host's answer unchanged, including redirects.
   * @param path after `<owner>/<name>.git/`.
   * @param timeoutMs until the answer begins; null: the caller limits the time.
   * @throws HostError `unreachable` if no answer begins in time.
   */
  async fetch(
    repository: RepositoryName,
    path: string,
    request: { method: string; headers: Record<string, string>; body: BodyInit | null },
    timeoutMs: number | null = HOST_TIMEOUT_MS,
  ): Promise<Response> {
    const timeout = new AbortController();
    const timer = timeoutMs === null ? undefined : setTimeout(() => timeout.abort(), timeoutMs);
    try {
      return await this.#fetch(`${this.#webUrl}/${fullName(repository)}.git/${path}`, {
        ...request,
        headers: { ...request.headers, 'User-Agent': USER_AGENT },
        redirect: 'manual',
        signal: timeout.signal,
      });
    } catch (error) {
      throw this.unreachable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads an answer's body. @throws HostError `unreachable` if it is not what `parse` expects. */
  async read<T>(
    response: Response,
    limits: Omit<BodyLimits, 'timeoutMs'>,
    parse: (reader: ByteReader) => Promise<T>,
  ): Promise<T> {
    const reader = new ByteReader(chunksOf(response.body, { ...limits, timeoutMs: HOST_TIMEOUT_MS }));
    try {
      return await parse(reader);
    } catch (error) {
      await reader.cancel();
      throw this.unreachable(error);
    }
  }

  unreachable(cause: unknown): HostError {
    return new HostError(
      'unreachable',
      `${this.hostName} did not answer as expected. Try again later.`,
      cause,
    );
  }

  #refusal(response: Response): HostError {
    const { status } = response;
    if (status === 429)
      return new HostError('rate-limited', `${this.hostName} asks to slow down. Try again later.`);
    if (status >= 500) return this.unreachable(status);
    const movedTo = movedRepository(response);
    if (movedTo !== null) return new MovedError(movedTo);
    return new HostError('missing', 'The repository does not exist, or is not public.', status);
  }
}
