/**
 * Octokit for every call to the host's REST API: without output, strict about incomplete answers, and with failures as
 * HostErrors.
 */
import { Octokit } from '@octokit/rest';
import type { Clock } from '../clock.ts';
import { countedFetch } from '../metrics/counted-fetch.ts';
import type { Http } from '../outgoing/http-client.ts';
import { wholeResponse } from '../outgoing/whole-response.ts';
import { HostError, hostText } from './host-error.ts';
import { type RetryAdvice, withRetries } from './retry.ts';

const TIMEOUT_MS = 30_000;
/** A hundred comments of the greatest length. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** The part of Octokit's errors that is used. `status` 500 stands for no answer at all. */
interface RequestFailure {
  readonly status: number;
  readonly response?: {
    readonly headers: Record<string, string | number | undefined>;
    readonly data?: unknown;
  };
}

/** Makes a call that may be repeated, and retries it if that may help. Rejects with HostError. */
export type RetriedCalls = <T>(call: () => Promise<T>) => Promise<T>;

/** A client of the host's REST interface, with a token and over these connections. */
export interface RestAccess {
  readonly apiUrl: string;
  readonly token: string;
  readonly http: Http;
}

/** @param timeoutMs for the whole answer, unless the call sets one. */
export function openOctokit({ apiUrl, token, http }: RestAccess, timeoutMs = TIMEOUT_MS): Octokit {
  const restFetch = countedFetch('rest', http);
  const { origin } = new URL(apiUrl);
  const octokit = new Octokit({
    auth: token,
    baseUrl: apiUrl,
    request: {
      async fetch(url: string, init: RequestInit) {
        // The host names the address of a further page, and the token is sent there.
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
  octokit.hook.after('request', ({ status, data }) => {
    // Octokit passes on an answer that is not JSON as text. Then it is as unknown whether the host did what it was
    // asked to do as without an answer.
    const isBroken = (status === 200 || status === 201 || status === 202) && typeof data === 'string';
    if (isBroken) throw Object.assign(new Error('the answer is no JSON'), { status: 500 });
    // A redirect that was not followed, such as that of a write: nothing was done.
    if (status >= 300) throw Object.assign(new Error('the host redirects'), { status });
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

function isRequestFailure(error: unknown): error is RequestFailure {
  return error instanceof Error && 'status' in error && typeof error.status === 'number';
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
  if (error.status === 404) {
    return new HostError('missing', 'The repository does not exist, or is not public.', error);
  }
  return new HostError(
    'refused',
    `${hostName} says: ${explanation(error) || `status ${error.status}`}`,
    error,
  );
}

/** The sentence in which the host explains itself: its message and the first of its details. */
function explanation({ response }: RequestFailure): string {
  const data = response?.data as { message?: unknown; errors?: { message?: unknown }[] } | undefined;
  const detail = Array.isArray(data?.errors)
    ? data.errors.find(({ message }) => typeof message === 'string')
    : undefined;
  return hostText([data?.message, detail?.message].filter((text) => typeof text === 'string').join(': '));
}
