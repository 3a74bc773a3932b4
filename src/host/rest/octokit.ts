/**
 * Octokit for every call to the host's REST API: without output, strict about incomplete answers, and with failures as
 * HostErrors.
 */
import { Octokit } from '@octokit/rest';
import { type Clock, systemClock } from '../../isolate/clock.ts';
import { isolateMemory, type MemoryHold } from '../../isolate/memory-budget.ts';
import { countedFetch } from '../../metrics/counted-fetch.ts';
import type { Http } from '../../outgoing/http-client.ts';
import { wholeResponse } from '../../outgoing/whole-response.ts';
import type { BackOff } from '../account/account-back-off.ts';
import type { CallMeter } from '../account/call-meter.ts';
import { HostError } from '../../host-error.ts';
import { type Operation, refusalOf } from '../failure.ts';
import { answerOf, failureStatus, isRequestFailure, refusalText } from './request-failure.ts';
import type { TokenWatch } from '../account/token-watch.ts';
import { withRetries } from './retry.ts';

const TIMEOUT_MS = 30_000;
/** docs.github.com/rest/about-the-rest-api/api-versions. Other hosts do not know it. */
const API_VERSION = '2022-11-28';
/** Of a POST, by the last word of its path. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  forks: 'fork',
  pulls: 'open',
  issues: 'post',
  comments: 'post',
};
/** A hundred comments of the greatest length. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** Longer answers, such as pages of comments, are counted in the isolate's memory. */
const FREE_RESPONSE_BYTES = 1024 * 1024;
/** Bytes, text and JSON. */
const MEMORY_FACTOR = 3;

/** Makes a call that may be repeated, and repeats it where that may help. Rejects with HostError. */
export type RetriedCalls = <T>(call: () => Promise<T>) => Promise<T>;

/** What makes calls of the host's REST interface. */
export interface RestCalls {
  readonly octokit: Octokit;
  readonly retried: RetriedCalls;
  /** Of what must not be done twice: repeats it only where the host has said that it did nothing. Rejects with HostError. */
  readonly once: RetriedCalls;
  readonly clock: Clock;
  readonly apiUrl: string;
}

/** A host's REST interface, as somebody is to speak to it: with a token, over these connections. */
export interface RestAccess {
  readonly apiUrl: string;
  readonly token: string;
  readonly http: Http;
  readonly backOff: BackOff;
  readonly tokenWatch: Pick<TokenWatch, 'observe'>;
  readonly callMeter: Pick<CallMeter, 'observe'>;
}

/** @param timeoutMs until the whole answer has come, where the call does not say. */
export function openOctokit(access: RestAccess, timeoutMs = TIMEOUT_MS): Octokit {
  const { apiUrl, token, http, backOff, tokenWatch, callMeter } = access;
  const restFetch = countedFetch('rest', http);
  const { origin, host: hostName } = new URL(apiUrl);
  const octokit = new Octokit({
    auth: token,
    baseUrl: apiUrl,
    // Each call gets its own. Never the runtime's.
    request: { fetch: () => Promise.reject(new TypeError('a call without memory')) },
    // Octokit would print to the log, and the log is ours.
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  const fetchWith = (memory: MemoryHold, isStreamed: boolean) => async (url: string, init: RequestInit) => {
    // The host names the address of a further page, and the token is sent there.
    if (new URL(url).origin !== origin) throw new TypeError('the host names another server');
    const signal = init.signal ?? AbortSignal.timeout(timeoutMs);
    const response = await restFetch(url, { ...init, signal });
    if (isStreamed && response.ok) return response;
    const share = memory.share();
    return wholeResponse(response, MAX_RESPONSE_BYTES, async (bytes) => {
      if (bytes > FREE_RESPONSE_BYTES) await share.set(MEMORY_FACTOR * bytes);
    });
  };
  octokit.hook.wrap('request', async (request, options) => {
    const memory = isolateMemory.open(systemClock);
    // Octokit's own names its version and the runtime.
    options.headers['user-agent'] = 'gitveil';
    options.headers['x-github-api-version'] = API_VERSION;
    try {
      await backOff.throwIfPaused();
      // Not in a copy: Octokit's own hooks have these options already.
      const isStreamed = options.request.parseSuccessResponseBody === false;
      options.request = { ...options.request, fetch: fetchWith(memory, isStreamed) };
      const { status, headers, data } = await request(options);
      const answer = { status, header: (name: string) => headers[name]?.toString() ?? null, text: '' };
      for (const observer of [tokenWatch, callMeter]) observer.observe(answer);
      // A redirect that was not followed, as of a write: nothing has been done.
      if (status >= 300) throw refusalOf({ ...answer, operation: 'read', codes: [] }, hostName, '');
      // Octokit hands on as text what is no JSON: whether the host has done what it was asked for is then as open as
      // without any answer.
      if (typeof data === 'string' && [200, 201, 202].includes(status)) throw noAnswer(hostName, null);
      return { status, headers, data, url: options.url };
    } catch (error) {
      if (error instanceof HostError) throw error;
      // Octokit takes what `fetch` throws for a failure of the host.
      if (error instanceof Error && error.cause instanceof HostError) throw error.cause;
      if (!isRequestFailure(error) || error.response === undefined) throw noAnswer(hostName, error);
      if (error.status === 304) throw error;
      const answer = { ...answerOf(error, operationOf(options)), base: options['base'] };
      for (const observer of [tokenWatch, callMeter]) observer.observe(answer);
      throw backOff.observe(answer) ?? refusalOf(answer, hostName, refusalText(error), error);
    } finally {
      memory.end();
    }
  });
  return octokit;
}

/** @param url a template, or the address of a further page. */
function operationOf({ method, url }: { readonly method: string; readonly url: string }): Operation {
  if (method === 'GET') return 'read';
  const [, last = ''] = /\/(forks|pulls|issues|comments)$/.exec(url) ?? [];
  return method === 'POST' ? (OPERATIONS[last] ?? 'write') : 'write';
}

export function openCalls(access: RestAccess & { readonly clock: Clock }): RestCalls {
  const { apiUrl, clock } = access;
  let opened: Octokit | null = null;
  // Making one is dear, and many requests make no call.
  const octokit = (): Octokit => (opened ??= openOctokit(access));
  const making =
    (isRepeatable: boolean): RetriedCalls =>
    async (call) => {
      try {
        return await withRetries(clock, () => afterLook(octokit, call), isRepeatable);
      } catch (error) {
        throw error instanceof HostError ? error : noAnswer(new URL(apiUrl).host, error);
      }
    };
  return {
    get octokit() {
      return octokit();
    },
    retried: making(true),
    once: making(false),
    apiUrl,
    clock,
  };
}

/** One 401 among good answers is a fault. So the host is asked who the bot is, and the call is made once more. */
async function afterLook<T>(octokit: () => Octokit, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (failureStatus(error) !== 401) throw error;
    await octokit().request('GET /user');
    return call();
  }
}

function noAnswer(hostName: string, cause: unknown): HostError {
  return new HostError('unreachable', `${hostName} did not answer as expected. Try again later.`, cause);
}
