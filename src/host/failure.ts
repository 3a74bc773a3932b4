/**
 * What it means when a code host refuses or fails, for both of its interfaces and every kind of host: one table, so
 * that pauses, retries and sentences follow from one value. Pure.
 *
 * The table has the limits of the bot account. All of them are for the account: going on elsewhere can cost it.
 */
import { HostError } from '../host-error.ts';
import { hostText } from '../host-text.ts';

/** What was asked for, in either interface. */
export type Operation = 'read' | 'write';

export interface HostAnswer {
  readonly status: number;
  readonly header: (name: string) => string | null;
  /** The sentences of the body; their beginning is enough. */
  readonly text: string;
}

export interface RefusedCall extends HostAnswer {
  readonly operation: Operation;
  /** Those of the `errors` of a 422. */
  readonly codes: readonly string[];
}

/** The host refuses because of a limit of the account, and has done nothing of what was asked for. */
interface Limit {
  /** Null: the host does not say how long. */
  readonly retryAfterMs: number | null;
  /** The host's words, without addresses; may be empty. */
  readonly says: string;
}

interface Row {
  readonly operation: Operation | 'any';
  readonly status: number;
  readonly when: (answer: RefusedCall) => boolean;
}

/**
 * Refusals because of a limit, by operation, status and body. "Rate limits" is
 * docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api, "Exceeding the rate limit".
 */
const ROWS: readonly Row[] = [
  // RFC 6585, section 4; "Rate limits". Proxies in front of Forgejo and Gitea say so, too.
  { operation: 'any', status: 429, when: () => true },
  // "Rate limits": a secondary limit may come with the time to wait, and a primary one with nothing left.
  { operation: 'any', status: 403, when: hasHeader('retry-after', /\S/) },
  { operation: 'any', status: 403, when: hasHeader('x-ratelimit-remaining', /^0$/) },
  // A text alone, old and new, or the address of its explanation: apache/devlake#1322, nf-core/tools#970.
  {
    operation: 'any',
    status: 403,
    when: hasText(/rate.limit|abuse detection|blocked from content/i),
  },
  // Too much was created: cloudflare/pint#699, octokit/plugin-throttling.js#775; cli/cli#4801, whatwg/spec-factory#55.
  { operation: 'write', status: 422, when: ({ codes }) => codes.includes('abuse') },
  { operation: 'write', status: 422, when: hasText(/submitted too quickly/i) },
  { operation: 'write', status: 403, when: hasText(/submitted too quickly/i) },
];

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** No host asks for more. What a header says beyond that would take the service down. */
export const LONGEST_PAUSE_MS = 60 * MINUTE_MS;

/** Null: the table does not have it. @param now milliseconds since 1970. */
export function limitOf(answer: RefusedCall, now: number): Limit | null {
  const isLimit = ROWS.some(
    ({ operation, status, when }) =>
      (operation === 'any' || operation === answer.operation) && status === answer.status && when(answer),
  );
  return isLimit ? { retryAfterMs: retryAfterMs(answer, now), says: hostText(answer.text) } : null;
}

/** The host asks for a pause, just now or some time ago. */
export class HostPause extends HostError {
  readonly pauseMs: number;

  /** @param says the host's words, without addresses; empty: it was not asked again. */
  constructor(hostName: string, pauseMs: number, says = '', cause?: unknown) {
    super('rate-limited', `${hostName} asks to wait ${minutes(pauseMs)}.`, cause, says || null);
    this.pauseMs = pauseMs;
  }
}

/** How long a pause the host asks for, if that is why a call has failed; else null. */
export function askedPauseMs(error: unknown): number | null {
  if (error instanceof HostPause) return error.pauseMs;
  return error instanceof HostError ? askedPauseMs(error.cause) : null;
}

/** By the host's clock, in milliseconds since 1970; by ours if the host does not say. */
export function hostTime(header: HostAnswer['header'], now: number): number {
  const date = Date.parse(header('date') ?? '');
  return Number.isNaN(date) ? now : date;
}

function hasText(text: RegExp): Row['when'] {
  return (answer) => text.test(answer.text);
}

function hasHeader(name: string, value: RegExp): Row['when'] {
  return ({ header }) => value.test(header(name) ?? '');
}

/** Retry-After, or the time at which the host starts counting again, by its clock. */
function retryAfterMs({ header }: HostAnswer, now: number): number | null {
  const hostNow = hostTime(header, now);
  const asked = delayMs(header('retry-after'), hostNow);
  if (asked !== null) return bounded(asked);
  if (header('x-ratelimit-remaining') !== '0') return null;
  const resetsAt = Number(header('x-ratelimit-reset') ?? Number.NaN) * SECOND_MS;
  return Number.isFinite(resetsAt) ? bounded(resetsAt - hostNow) : null;
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
