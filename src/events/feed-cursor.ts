/**
 * The position in the notifications feed, the next request, and the calls that an hour allows.
 * Pure. A feed may list changes late, so each request starts before the newest change seen. The
 * condition `If-Modified-Since` has whole seconds, so it is sent only where it cannot hide a
 * change, and the whole feed is read again every ten minutes.
 */
import type { Feed } from '../host/code-host.ts';

export interface FeedCursor {
  /** The earliest time of the next read, by the clock of the cron trigger. */
  readonly notBefore: number;
  readonly lastModified: string | null;
  /** When the feed last answered with a list, and not "nothing has changed". */
  readonly listedAt: number;
  readonly newestAt: number;
}

interface FeedRequest {
  readonly since: number;
  readonly ifModifiedSince: string | null;
  /** Whether to read to the last page, even after a page on which nothing is new. */
  readonly isWhole: boolean;
}

const HOUR_MS = 60 * 60 * 1000;
/** How far requests overlap, because hosts list changes late, and their clocks differ. */
export const OVERLAP_MS = HOUR_MS;
/**
 * The age from which the answer to a condition is believed, because the host's clock has whole
 * seconds and differs a little. A change that is listed later comes with the whole feed, which is
 * read every ten minutes.
 */
export const SETTLED_MS = 5_000;
/** How often the feed is read without a condition, and to its last page. */
const CONDITION_LIFE_MS = 10 * 60 * 1000;
/** The longest pause that a host asks for. A longer one means that a clock was set back. */
const LONGEST_PAUSE_MS = HOUR_MS;

export function newCursor(now: number): FeedCursor {
  return { notBefore: 0, lastModified: null, listedAt: 0, newestAt: now };
}

/** Gives null while the host wants no requests. */
export function nextRequest(cursor: FeedCursor, cronTime: number, now: number): FeedRequest | null {
  const { notBefore, lastModified, listedAt, newestAt } = cursor;
  const waitMs = notBefore - cronTime;
  if (waitMs > 0 && waitMs <= LONGEST_PAUSE_MS) return null;
  const isTrusted =
    lastModified !== null &&
    Date.parse(lastModified) + SETTLED_MS <= listedAt &&
    now - listedAt < CONDITION_LIFE_MS;
  return {
    since: newestAt - OVERLAP_MS,
    ifModifiedSince: isTrusted ? lastModified : null,
    isWhole: Math.floor(now / CONDITION_LIFE_MS) !== Math.floor(listedAt / CONDITION_LIFE_MS),
  };
}

/** @param askedAt when the request was made. */
export function afterAnswer(cursor: FeedCursor, feed: Feed, cronTime: number, askedAt: number): FeedCursor {
  const notBefore = cronTime + feed.pollIntervalMs;
  const { threads, lastModified } = feed;
  if (threads === null) return { ...cursor, notBefore };
  const newestAt = Math.max(cursor.newestAt, ...threads.map(({ updatedAt }) => updatedAt));
  // A change from the future (the host's clock was wrong) would hide all others until then.
  return { notBefore, lastModified, listedAt: askedAt, newestAt: Math.min(newestAt, askedAt) };
}

export function afterRefusal(cursor: FeedCursor, pauseMs: number, cronTime: number): FeedCursor {
  return { ...cursor, notBefore: cronTime + Math.min(pauseMs, LONGEST_PAUSE_MS) };
}

/** Bounds all calls: the account's (5,000 an hour on GitHub) are needed for pushes and comments. */
export const CALLS_PER_HOUR = 2_000;
/**
 * Bounds the looks at pull requests that may not be the service's own, because anybody can mention
 * the bot on any number of them.
 */
export const LOOKS_PER_HOUR = 500;

/**
 * Bounds the reads of threads that are not the service's pull requests, in which maintainers may
 * speak to the bot, too. They come last, so that mentions cannot hide events.
 */
export const READS_PER_HOUR = 300;

/** Bounds the reads of the bot's own issues, for which mentions elsewhere must leave enough. */
export const ISSUES_PER_HOUR = 300;

/** Bounds the calls that answer maintainers: anybody is the owner of some repository. */
const WORDS_PER_HOUR = 300;

/**
 * Bounds the calls that webhooks cause, because anybody may comment without end where the App is
 * installed. Without any left, the scheduled runs go on.
 */
export const WOKEN_PER_HOUR = 600;

export interface SpentCalls {
  /** Hours since 1970. The sums below are those of this hour. */
  readonly hour: number;
  readonly calls: number;
  readonly looks: number;
  /** Absent if an earlier version has stored the others. */
  readonly reads?: number;
  readonly issues?: number;
  readonly words?: number;
  readonly woken?: number;
}

const MOST_PER_HOUR = {
  calls: CALLS_PER_HOUR,
  looks: LOOKS_PER_HOUR,
  reads: READS_PER_HOUR,
  issues: ISSUES_PER_HOUR,
  words: WORDS_PER_HOUR,
  woken: WOKEN_PER_HOUR,
};
export type SpentKind = keyof typeof MOST_PER_HOUR;

/** Adds a call, a look or a read to the sums; null if the hour allows no more. */
export function afterOneMore(spent: SpentCalls | null, kind: SpentKind, now: number): SpentCalls | null {
  const hour = Math.floor(now / HOUR_MS);
  const current = spent?.hour === hour ? spent : { hour, calls: 0, looks: 0 };
  const { [kind]: taken = 0 } = current;
  return taken >= MOST_PER_HOUR[kind] ? null : { ...current, [kind]: taken + 1 };
}
