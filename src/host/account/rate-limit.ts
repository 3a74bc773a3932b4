/**
 * How long a host asks to be left alone. Pure.
 *
 * A limit comes as 429, or as 403 with a header that says so: with Retry-After; or, where nothing is left of an hour's
 * calls, with the time at which the next hour begins, by the host's clock. A 429 without a time means a minute at
 * least. What only the text of a 403 tells depends on the kind of host. All limits are for the account: going on
 * elsewhere can cost it.
 */
import type { CallsLeft } from './account-budget.ts';
import { HostError } from '../../host-error.ts';
import { type RequestFailure, refusalText } from '../rest/request-failure.ts';

export interface HostAnswer {
  readonly status: number;
  readonly header: (name: string) => string | null;
  /** The body, as far as it is text; its beginning is enough. */
  readonly text: string;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** No host asks for more. What a header says beyond that would take the service down. */
export const LONGEST_PAUSE_MS = 60 * MINUTE_MS;

/** The host asks to be left alone, now or since a while. */
export class RateLimitError extends HostError {
  readonly pauseMs: number;

  constructor(hostName: string, pauseMs: number, cause?: unknown) {
    super('rate-limited', `${hostName} asks to wait ${minutes(pauseMs)}.`, cause);
    this.pauseMs = pauseMs;
  }
}

/**
 * Null: the answer asks for no pause.
 * @param now milliseconds since 1970.
 * @param limitText tells a limit from another 403 without headers; null: nothing does.
 */
export function pauseAskedBy(
  { status, header, text }: HostAnswer,
  now: number,
  limitText: RegExp | null,
): number | null {
  if (status !== 403 && status !== 429) return null;
  const hostNow = hostTime(header, now);
  const retryAfterMs = delayMs(header('retry-after'), hostNow);
  if (retryAfterMs !== null) return bounded(retryAfterMs);
  const resetsAt = Number(header('x-ratelimit-reset') ?? Number.NaN) * SECOND_MS;
  if (header('x-ratelimit-remaining') === '0') {
    return Number.isFinite(resetsAt) ? bounded(resetsAt - hostNow) : MINUTE_MS;
  }
  return status === 429 || limitText?.test(text) === true ? MINUTE_MS : null;
}

/**
 * What an answer tells of the calls that are left to the account; null: nothing. Of several budgets it is the usual
 * one: searches, for instance, have their own. @param now milliseconds since 1970.
 */
export function callsLeftSaidBy({ header }: Pick<HostAnswer, 'header'>, now: number): CallsLeft | null {
  const limit = wholeNumber(header('x-ratelimit-limit'));
  const left = wholeNumber(header('x-ratelimit-remaining'));
  const resetsAt = wholeNumber(header('x-ratelimit-reset'));
  const isUsual = (header('x-ratelimit-resource') ?? 'core') === 'core';
  if (limit === null || left === null || resetsAt === null || !isUsual) return null;
  return { limit, left, resetsInMs: resetsAt * SECOND_MS - hostTime(header, now) };
}

/** The same for the error of a failed call. */
export function askedPauseMs(error: unknown): number | null {
  if (error instanceof RateLimitError) return error.pauseMs;
  return error instanceof HostError ? askedPauseMs(error.cause) : null;
}

/** What Octokit has read of an answer that is no success. */
export function answerOf(failure: RequestFailure): HostAnswer {
  const { status, response } = failure;
  return {
    status,
    header: (name) => response?.headers[name]?.toString() ?? null,
    text: typeof response?.data === 'string' ? response.data : refusalText(failure),
  };
}

/** By the host's clock, in milliseconds since 1970; by ours if the host does not say. */
function hostTime(header: HostAnswer['header'], now: number): number {
  const date = Date.parse(header('date') ?? '');
  return Number.isNaN(date) ? now : date;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : null;
}

/** Seconds, or a date (RFC 9110, 10.2.3). */
function delayMs(retryAfter: string | null, hostNow: number): number | null {
  if (retryAfter === null || retryAfter.trim() === '') return null;
  const seconds = Number(retryAfter);
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - hostNow : seconds * SECOND_MS;
  return Number.isNaN(ms) ? null : ms;
}

function bounded(ms: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(SECOND_MS, ms));
}

function minutes(ms: number): string {
  const count = Math.ceil(ms / MINUTE_MS);
  return count === 1 ? '1 minute' : `${count} minutes`;
}
