/**
 * Octokit as every call to the host's REST API uses it: silent, strict about answers that broke off, and with failures
 * that are HostErrors.
 */
import { Octokit } from '@octokit/rest';
import type { Clock } from '../clock.ts';
import { countedFetch } from '../metrics/counted-fetch.ts';
import { HostError, hostText } from './host-error.ts';
import { type RetryAdvice, withRetries } from './retry.ts';

/** What is read of Octokit's errors. `status` 500 stands for no answer at all. */
interface RequestFailure {
  readonly status: number;
  readonly response?: {
    readonly headers: Record<string, string | number | undefined>;
    readonly data?: unknown;
  };
}

/** Makes a call that may be repeated, and repeats it where that may help. Rejects with HostError. */
export type RetriedCalls = <T>(call: () => Promise<T>) => Promise<T>;

/** Making one costs as much as a whole request besides, so that an isolate makes one for each host and token. */
const known = new Map<string, Octokit>();

export function openOctokit(options: { apiUrl: string; token: string }): Octokit {
  const key = `${options.apiUrl} ${options.token}`;
  const octokit = known.get(key) ?? makeOctokit(options);
  known.set(key, octokit);
  return octokit;
}

function makeOctokit(options: { apiUrl: string; token: string }): Octokit {
  const octokit = new Octokit({
    auth: options.token,
    baseUrl: options.apiUrl,
    userAgent: 'gitveil',
    request: { fetch: countedFetch('rest') },
    // Octokit would print to the log, and the log is ours.
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  // Octokit hands on as text what is no JSON, also an answer that broke off in the middle: whether the host has done
  // what it was asked for is then as open as without any answer.
  octokit.hook.after('request', ({ status, data }) => {
    const isBroken = (status === 200 || status === 201 || status === 202) && typeof data === 'string';
    if (isBroken) throw Object.assign(new Error('the answer is no JSON'), { status: 500 });
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
