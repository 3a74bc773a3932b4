/**
 * Octokit as every call to the host's REST API uses it: silent, strict about answers that broke off, and with failures
 * that are HostErrors.
 */
import { Octokit } from '@octokit/rest';
import type { Clock } from '../clock.ts';
import { countedFetch } from '../metrics/counted-fetch.ts';
import type { Http } from '../outgoing/http-client.ts';
import { wholeResponse } from '../outgoing/whole-response.ts';
import { HostError } from './host-error.ts';
import { isRequestFailure, type RequestFailure, refusalText } from './request-failure.ts';
import { type RetryAdvice, withRetries } from './retry.ts';

const TIMEOUT_MS = 30_000;
/** A hundred comments of the greatest length. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** Makes a call that may be repeated, and repeats it where that may help. Rejects with HostError. */
export type RetriedCalls = <T>(call: () => Promise<T>) => Promise<T>;

/** What makes calls of the host's REST interface. */
export interface RestCalls {
  readonly octokit: Octokit;
  readonly retried: RetriedCalls;
}

/** A host's REST interface, as somebody is to speak to it: with a token, over these connections. */
export interface RestAccess {
  readonly apiUrl: string;
  readonly token: string;
  readonly http: Http;
}

/** @param timeoutMs until the whole answer has come, where the call does not say. */
export function openOctokit({ apiUrl, token, http }: RestAccess, timeoutMs = TIMEOUT_MS): Octokit {
  const restFetch = countedFetch('rest', http);
  const { origin } = new URL(apiUrl);
  const octokit = new Octokit({
    auth: token,
    baseUrl: apiUrl,
    request: {
      async fetch(url: string, init: RequestInit) {
        // The address of a further page is the host's word, and the token goes along.
        if (new URL(url).origin !== origin) throw new TypeError('the host names another server');
        const signal = init.signal ?? AbortSignal.timeout(timeoutMs);
        return wholeResponse(await restFetch(url, { ...init, signal }), MAX_RESPONSE_BYTES);
      },
    },
    // Octokit would print to the log, and the log is ours.
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  octokit.hook.before('request', ({ headers }) => {
    // Octokit's own names its version and the runtime.
    headers['user-agent'] = 'gitveil';
  });
  octokit.hook.after('request', ({ status, headers: answered, data }) => {
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

export function retriedCalls({ apiUrl, clock }: { apiUrl: string; clock: Clock }): RetriedCalls {
  const hostName = new URL(apiUrl).host;
  return async (call) => {
    try {
      return await withRetries(clock, call, advise);
    } catch (error) {
      throw toHostError(error, hostName);
    }
  };
}

function isRateLimit({ status, response }: RequestFailure): boolean {
  const headers = response?.headers ?? {};
  return (
    status === 429 ||
    (status === 403 && (headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0'))
  );
}

function advise(error: unknown): RetryAdvice {
  if (!isRequestFailure(error)) return { kind: 'final' };
  if (isRateLimit(error)) {
    const seconds = Number(error.response?.headers['retry-after']);
    return Number.isFinite(seconds) ? { kind: 'again', waitMs: seconds * 1000 } : { kind: 'final' };
  }
  return error.status >= 500 ? { kind: 'again', waitMs: null } : { kind: 'final' };
}

function toHostError(error: unknown, hostName: string): HostError {
  if (error instanceof HostError) return error;
  if (!isRequestFailure(error) || error.status >= 500) {
    return new HostError('unreachable', `${hostName} did not answer as expected. Try again later.`, error);
  }
  if (isRateLimit(error)) {
    return new HostError('rate-limited', `${hostName} asks to slow down. Try again in a few minutes.`, error);
  }
  if (error.status < 400) {
    return new HostError('moved', `${hostName} redirects to another address. Try again later.`, error);
  }
  if (error.status === 404) {
    return new HostError('missing', 'The repository does not exist, or is not public.', error);
  }
  return new HostError(
    'refused',
    `${hostName} says: ${refusalText(error) || `status ${error.status}`}`,
    error,
  );
}
