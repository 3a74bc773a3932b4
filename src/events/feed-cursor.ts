/**
 * How far the notifications feed has been read, what is asked next, and how many calls an hour it
 * may make. Pure. A feed may list changes late, so each request starts before the newest one seen.
 * A condition (`If-Modified-Since`) has whole seconds and is only as good as that feed: it is used
 * where it cannot hide a change, and not for long.
 */
import type { Feed } from '../host/code-host.ts';

export interface FeedCursor {
  /** Earliest time of the next read, by the clock of the cron trigger. */
  readonly notBefore: number;
  readonly lastModified: string | null;
  /** When the feed was last read without the answer "nothing has changed". */
  readonly listedAt: number;
  readonly newestAt: number;
}

interface FeedRequest {
  readonly since: number;
  readonly ifModifiedSince: string | null;
  /** False: a page on which nothing is new need not be followed by another. */
  readonly isWhole: boolean;
}

const HOUR_MS = 60 * 60 * 1000;
/** Hosts fill in late, and their clocks differ. */
export const OVERLAP_MS = HOUR_MS;
/**
 * A change of this age is in the answer, even if the host's clock has whole seconds and differs a
 * little.
 */
export const SETTLED_MS = 5_000;
/** How often the feed is read without a condition, and to its last page. */
const CONDITION_LIFE_MS = 10 * 60 * 1000;
/** No host asks for more. A longer wait means that a clock was set back. */
const LONGEST_PAUSE_MS = HOUR_MS;

export function newCursor(now: number): FeedCursor {
  return { notBefore: 0, lastModified: null, listedAt: 0, newestAt: now };
}

/** Null while the host wants no requests. */
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
  // A change from the future, of a host whose clock was wrong, would hide all others until then.
  return { notBefore, lastModified, listedAt: askedAt, newestAt: Math.min(newestAt, askedAt) };
}

export function afterRefusal(cursor: FeedCursor, pauseMs: number, cronTime: number): FeedCursor {
  return { ...cursor, notBefore: cronTime + Math.min(pauseMs, LONGEST_PAUSE_MS) };
}

/**
 * Of all kinds: the account's calls (5,000 an hour on GitHub) are needed for pushes and comments.
 */
export const CALLS_PER_HOUR = 2_000;
/**
 * Looks at pull requests that may not be the service's own: anybody can draw the bot's attention to
 * any number.
 */
export const LOOKS_PER_HOUR = 500;

export interface SpentCalls {
  /** Of the clock, since 1970: so a sum for each is enough. */
  readonly hour: number;
  readonly calls: number;
  readonly looks: number;
}

const MOST_PER_HOUR = { calls: CALLS_PER_HOUR, looks: LOOKS_PER_HOUR };
export type SpentKind = keyof typeof MOST_PER_HOUR;

/** The sums after one more call or look; null if the hour has no more of them to give. */
export function afterOneMore(spent: SpentCalls | null, kind: SpentKind, now: number): SpentCalls | null {
  const hour = Math.floor(now / HOUR_MS);
  const current = spent?.hour === hour ? spent : { hour, calls: 0, looks: 0 };
  return current[kind] >= MOST_PER_HOUR[kind] ? null : { ...current, [kind]: current[kind] + 1 };
}
