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
import { answerOf, isRequestFailure, refusalText } from './request-failure.ts';
import type { TokenWatch } from '../account/token-watch.ts';
import { withRetries } from './retry.ts';

const TIMEOUT_MS = 30_000;
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
  const { origin } = new URL(apiUrl);
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
    try {
      // Not in a copy: Octokit's own hooks have these options already.
      const isStreamed = options.request.parseSuccessResponseBody === false;
      options.request = { ...options.request, fetch: fetchWith(memory, isStreamed) };
      return await request(options);
    } catch (error) {
      // Octokit takes what `fetch` throws for a failure of the host.
      throw error instanceof Error && error.cause instanceof HostError ? error.cause : error;
    } finally {
      memory.end();
    }
  });
  octokit.hook.before('request', async ({ headers }) => {
    // Octokit's own names its version and the runtime.
    headers['user-agent'] = 'gitveil';
    await backOff.throwIfPaused();
  });
  octokit.hook.error('request', (error, { method }) => {
    if (!isRequestFailure(error)) throw error;
    const answer = answerOf(error, method === 'GET' ? 'read' : 'write');
    for (const observer of [tokenWatch, callMeter]) observer.observe(answer);
    throw backOff.observe(answer) ?? error;
  });
  octokit.hook.after('request', ({ status, headers: answered, data }) => {
    const answer = { status, header: (name: string) => answered[name]?.toString() ?? null, text: '' };
    for (const observer of [tokenWatch, callMeter]) observer.observe(answer);
    // Octokit hands on as text what is no JSON: whether the host has done what it was asked for is then as open as
    // without any answer.
    const isBroken = (status === 200 || status === 201 || status === 202) && typeof data === 'string';
    if (isBroken) throw Object.assign(new Error('the answer is no JSON'), { status: 500 });
    // A redirect that was not followed, as of a write: nothing has been done.
    const response = { headers: answered, data };
    if (status >= 300) throw Object.assign(new Error('the host redirects'), { status, response });
  });
  return octokit;
}

export function openCalls(access: RestAccess & { readonly clock: Clock }): RestCalls {
  const { apiUrl, clock } = access;
  let octokit: Octokit | null = null;
  return {
    // Making one is dear, and many requests make no call.
    get octokit() {
      return (octokit ??= openOctokit(access));
    },
    retried: retriedCalls({ apiUrl, clock }),
    apiUrl,
    clock,
  };
}

function retriedCalls({ apiUrl, clock }: { apiUrl: string; clock: Clock }): RetriedCalls {
  const hostName = new URL(apiUrl).host;
  return async (call) => {
    try {
      return await withRetries(clock, call, (error) => isRequestFailure(error) && error.status >= 500);
    } catch (error) {
      throw toHostError(error, hostName);
    }
  };
}

function toHostError(error: unknown, hostName: string): HostError {
  if (error instanceof HostError) return error;
  if (!isRequestFailure(error) || error.status >= 500) {
    return new HostError('unreachable', `${hostName} did not answer as expected. Try again later.`, error);
  }
  if (error.status < 400) {
    return new HostError('moved', `${hostName} redirects to another address. Try again later.`, error);
  }
  if (error.status === 404) {
    return new HostError('missing', 'The repository does not exist, or is not public.', error);
  }
  const text = refusalText(error) || 'no reason';
  if (error.status === 401) {
    return new HostError(
      'refused',
      `${hostName} refuses the bot account: ${text} (401)`,
      error,
      `${text} (401)`,
    );
  }
  // 413: the account has used up its quota.
  const concernsOperator = error.status === 403 || error.status === 413;
  const said = concernsOperator ? `${text} (${error.status})` : null;
  return new HostError('refused', `${hostName} says: ${text}`, error, said);
}
