/**
 * Makes smart HTTP requests to the host (gitprotocol-http), with headers that contain nothing of
 * the client's. The bot's token is sent only for its own forks and for repositories that are known
 * to be public: it could read private ones for anyone.
 */
import { ByteReader } from '../../git/wire/byte-reader.ts';
import { countedFetch } from '../../metrics/tally.ts';
import type { Http } from '../../outgoing/http-client.ts';
import { BodyError } from '../../streams/body-error.ts';
import { type BodyLimits, chunksOf, drain } from '../../streams/body.ts';
import { within } from '../../isolate/within.ts';
import { decodeUtf8 } from '../../git/bytes.ts';
import { ErrorPacket, readPacket } from '../../git/wire/pkt-line.ts';
import type { BackOff } from '../account/account-back-off.ts';
import { HostError, MovedError } from '../../words/host-error.ts';
import { hostText } from '../../words/host-text.ts';
import { limitOf, noAnswer, type Operation, hostRefusal } from '../failure.ts';
import type { TokenWatch } from '../account/token-watch.ts';
import { notFollowed, redirectOf } from '../redirect.ts';
import { fullName, parseRepositoryName, type RepositoryName } from '../../words/repository-name.ts';

/**
 * Maximum time until the host's answer begins, and between its bytes (contract, section 8). The
 * answer to a push begins later: upload.ts limits that.
 */
export const HOST_TIMEOUT_MS = 30_000;
/**
 * Time to wait for the end of an answer, which usually comes with its last bytes, or right after
 * them.
 */
const END_PATIENCE_MS = 100;

type GitService = 'git-upload-pack' | 'git-receive-pack';

/** The name in which a request is made. */
export type Caller = 'public' | 'bot';

/** The bot's account, for requests in its name. */
interface BotAccount {
  readonly token: string;
  readonly backOff: BackOff;
  readonly tokenWatch: Pick<TokenWatch, 'observe'>;
}

/**
 * Maximum size of an answer with upload-pack's capabilities. A host that does not know version 2
 * would list its refs.
 */
const MAX_CAPABILITIES_BYTES = 64 * 1024;
/** Maximum size that is read of a refusal. */
const MAX_REFUSAL_BYTES = 4 * 1024;
const PAGE_TYPE = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

export class SmartHttp {
  readonly #webUrl: string;
  readonly #account: BotAccount | null;
  readonly #fetch: Http['fetch'];
  /** The maximum time until an answer begins, and between its bytes. */
  readonly timeoutMs: number;

  /**
   * Prepares requests.
   * @param webUrl is the address of the host's pages and repositories, without a trailing slash.
   */
  constructor(webUrl: string, account: BotAccount | null, http: Http, timeoutMs = HOST_TIMEOUT_MS) {
    this.#webUrl = webUrl;
    this.#account = account;
    this.timeoutMs = timeoutMs;
    this.#fetch = countedFetch('git', http);
  }

  /** The host's name, for messages. */
  get hostName(): string {
    return new URL(this.#webUrl).host;
  }

  /**
   * Sends a request to a service, and returns its successful answer.
   * @throws HostError
   */
  async post(
    repository: RepositoryName,
    service: GitService,
    caller: Caller,
    body: Uint8Array | ReadableStream<Uint8Array>,
    operation: Operation = service === 'git-receive-pack' ? 'push' : 'read',
  ): Promise<Response> {
    const headers: Record<string, string> = {
      'Content-Type': `application/x-${service}-request`,
      Accept: `application/x-${service}-result`,
    };
    if (service === 'git-upload-pack') headers['Git-Protocol'] = 'version=2';
    const request = { method: 'POST', headers, body };
    // The answer to a push begins when the host has read and checked the pack, so it has no time
    // limit here.
    const timeoutMs = service === 'git-receive-pack' ? null : this.timeoutMs;
    return this.#ask(caller, service, operation, [repository, service, request, timeoutMs]);
  }

  /**
   * Asks for upload-pack's capabilities, as Git does first. The answer is not needed.
   * @throws HostError
   */
  async discover(repository: RepositoryName, caller: Caller): Promise<void> {
    const request = { method: 'GET', headers: { 'Git-Protocol': 'version=2' }, body: null };
    const asked = [repository, 'info/refs?service=git-upload-pack', request] as const;
    const response = await this.#ask(caller, 'git-upload-pack', 'read', asked);
    await this.read(response, { maxBytes: MAX_CAPABILITIES_BYTES }, drain);
  }

  /**
   * Asks for receive-pack's capabilities, as the bot sees them. The refs that follow are not read.
   * @throws HostError
   */
  async pushCapabilities(repository: RepositoryName): Promise<ReadonlySet<string>> {
    const request = { method: 'GET', headers: {}, body: null };
    const asked = [repository, 'info/refs?service=git-receive-pack', request] as const;
    const response = await this.#ask('bot', 'git-receive-pack', 'push', asked);
    return this.read(response, { maxBytes: 1024 * 1024 }, async (reader) => {
      for (;;) {
        const packet = await readPacket(reader);
        const [, words] = packet.kind === 'data' ? (decodeUtf8(packet.payload) ?? '').split('\0') : [];
        if (words !== undefined) return new Set(words.trim().split(' '));
      }
    });
  }

  /**
   * Makes a request, and returns its successful answer.
   * @throws HostError
   */
  async #ask(
    caller: Caller,
    service: GitService,
    operation: Operation,
    [repository, path, request, timeoutMs]: Readonly<Parameters<SmartHttp['fetch']>>,
  ): Promise<Response> {
    const account = caller === 'bot' ? this.#account : null;
    await account?.backOff.throwIfPaused().catch(async (error: unknown) => {
      // Cancel the body, or its producer would wait forever. Its own failure adds nothing.
      if (request.body instanceof ReadableStream) await request.body.cancel(error).catch(() => {});
      throw error;
    });
    const headers = { ...request.headers };
    if (account !== null) headers['Authorization'] = `Basic ${btoa(`x-access-token:${account.token}`)}`;
    const response = await this.fetch(repository, path, { ...request, headers }, timeoutMs);
    if (!response.ok) throw await this.#refusal(response, account, service, operation);
    account?.tokenWatch.observe({ status: response.status, header: () => null, text: '', service });
    return response;
  }

  /**
   * Makes a request about a repository. It returns what Git at the host says, which may be a
   * refusal.
   * @param path follows `<owner>/<name>.git/`.
   * @param timeoutMs is the time until the answer begins, or null if the caller limits it.
   * @throws HostError if there is no answer in time, the host redirects, or it shows a page.
   */
  async fetch(
    repository: RepositoryName,
    path: string,
    request: { method: string; headers: Record<string, string>; body: BodyInit | null },
    timeoutMs: number | null = this.timeoutMs,
  ): Promise<Response> {
    const asked = new URL(`${this.#webUrl}/${fullName(repository)}.git/${path}`);
    const response = await this.#answer(asked, request, timeoutMs);
    const foreign = this.#redirected(asked, repository, response) ?? pageInsteadOf(path, response);
    if (foreign === null) return response;
    await response.body?.cancel();
    throw foreign;
  }

  async #answer(
    asked: URL,
    request: { method: string; headers: Record<string, string>; body: BodyInit | null },
    timeoutMs: number | null,
  ): Promise<Response> {
    const timeout = new AbortController();
    const timer = timeoutMs === null ? undefined : setTimeout(() => timeout.abort(), timeoutMs);
    try {
      return await this.#fetch(asked.href, {
        ...request,
        headers: { ...request.headers, 'User-Agent': 'git/2.0' },
        redirect: 'manual',
        signal: timeout.signal,
      });
    } catch (error) {
      throw this.unreachable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Makes the error for a redirect, or returns null if there is none. */
  #redirected(asked: URL, repository: RepositoryName, response: Response): HostError | null {
    const { status } = response;
    const redirect = redirectOf(asked, response);
    if (redirect.kind === 'none') return null;
    const name = fullName(repository);
    if (redirect.kind !== 'same-origin') return notFollowed(name, status, redirect);
    const to = this.#repositoryAt(redirect.url);
    // A client that is redirected to the name that it has asked for would come back without end.
    const isOther = to !== null && fullName(to) !== name;
    return isOther ? new MovedError(to, status) : notFollowed(name, status, { kind: 'unusable' });
  }

  /**
   * Reads the repository in an address `…/<owner>/<name>.git/…`, or returns null if there is none.
   */
  #repositoryAt({ pathname }: URL): RepositoryName | null {
    const base = `${new URL(this.#webUrl).pathname.replace(/\/$/, '')}/`;
    if (!pathname.startsWith(base)) return null;
    const [owner = '', name = '', service = ''] = pathname.slice(base.length).split('/', 3);
    return service === 'info' || service.startsWith('git-') ? parseRepositoryName(owner, name) : null;
  }

  /**
   * Reads an answer's body.
   * @throws HostError `unreachable` if the body is not what is expected, or a HostError that
   * `parse` throws.
   */
  async read<T>(
    response: Response,
    limits: Omit<BodyLimits, 'timeoutMs'>,
    parse: (reader: ByteReader) => Promise<T>,
  ): Promise<T> {
    const reader = new ByteReader(chunksOf(response.body, { ...limits, timeoutMs: this.timeoutMs }));
    const parsed = await parse(reader).catch(async (error: unknown) => {
      await reader.cancel();
      throw error instanceof HostError ? error : this.unreachable(error);
    });
    // Read to the end, so that the next request can use the connection, without a new handshake. An
    // answer that does not end now is cancelled.
    const isAtEnd = await within(END_PATIENCE_MS, reader.isAtEnd()).catch(() => false);
    if (!isAtEnd) await reader.cancel();
    return parsed;
  }

  /** Makes the error for an answer that broke off or cannot be believed. */
  unreachable(cause: unknown): HostError {
    if (cause instanceof ErrorPacket) {
      const says = hostText(cause.text);
      return new HostError('unreachable', `${this.hostName} says: ${says}`, cause, { says });
    }
    if (cause instanceof BodyError && cause.code === 'too-large') {
      const message = `${this.hostName} answers with more than this service reads.`;
      return new HostError('unreachable', message, cause, { effect: 'none', lasts: 'final' });
    }
    return noAnswer(this.hostName, cause);
  }

  /**
   * Makes the error for a refusal.
   * @param account is the one in whose name the request was made, or null for nobody's.
   */
  async #refusal(
    response: Response,
    account: BotAccount | null,
    service: GitService,
    operation: Operation,
  ): Promise<HostError> {
    const { status, headers } = response;
    const text = await beginningOf(response, this.timeoutMs);
    const header = (name: string) => headers.get(name);
    const answer = { operation, status, header, text, codes: [], service } as const;
    account?.tokenWatch.observe(answer);
    const pause = account?.backOff.observe(answer) ?? null;
    if (pause !== null) return pause;
    // JSON is not shown, because it is meant for programs.
    const says = /^\s*[[{]/.test(text) ? '' : hostText(text);
    if (account !== null) return hostRefusal(answer, this.hostName, says);
    if (limitOf(answer, Date.now()) !== null) {
      const message = `${this.hostName} limits what this service may read. Try again later.`;
      return new HostError('rate-limited', message, undefined, { status });
    }
    return hostRefusal({ ...answer, isPublic: true }, this.hostName, '');
  }
}

/**
 * Recognizes a success that is meant for browsers, by its type alone: Git's answers have types of
 * their own (gitprotocol-http, "Smart Server Response"). Such a page says nothing about the outcome
 * of a push.
 * @returns null if it is none.
 */
function pageInsteadOf(path: string, { ok, status, headers }: Response): HostError | null {
  if (!ok || !PAGE_TYPE.test(headers.get('Content-Type') ?? '')) return null;
  const sentence = 'The code host shows a page for browsers instead of Git. Try again in a few minutes.';
  const effect = path === 'git-receive-pack' ? 'unknown' : 'none';
  return new HostError('unreachable', sentence, undefined, { status, effect });
}

/** Reads the beginning of an answer that is text or JSON. Of others, it returns an empty text. */
export async function beginningOf(response: Response, timeoutMs: number): Promise<string> {
  const source = chunksOf(response.body, { maxBytes: MAX_REFUSAL_BYTES, timeoutMs });
  const isText = /^text\/plain|json/.test(response.headers.get('Content-Type') ?? 'text/plain');
  let text = '';
  const decoder = new TextDecoder();
  // What came before a failure is enough.
  const next = () => source.read().catch(() => null);
  for (let chunk = isText ? await next() : null; chunk !== null; chunk = await next()) {
    text += decoder.decode(chunk, { stream: true });
  }
  await source.cancel();
  return text.slice(0, MAX_REFUSAL_BYTES);
}
