import { describe, expect, it } from 'vitest';
import {
  type FeedCursor,
  afterAnswer,
  afterRefusal,
  newCursor,
  nextRequest,
} from '../../src/events/feed-cursor.ts';

const NOW = Date.UTC(2026, 0, 10, 12);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const OLD_DATE = new Date(NOW - MINUTE_MS).toUTCString();

function thread(updatedAt: number) {
  return {
    id: '1',
    isIssue: false,
    isByBot: true,
    repository: { owner: 'octo', name: 'hello' },
    number: 7,
    updatedAt,
  };
}

function afterFull(lastModified: string | null, askedAt = NOW, pollIntervalMs = 0): FeedCursor {
  return afterAnswer(newCursor(NOW), { threads: [], lastModified, pollIntervalMs }, NOW, askedAt);
}

describe('the first request', () => {
  it('reaches back an hour, without a condition', () => {
    expect(nextRequest(newCursor(NOW), NOW, NOW)).toEqual({
      since: NOW - HOUR_MS,
      ifModifiedSince: null,
      isWhole: true,
    });
  });
});

describe('the time span of a request', () => {
  it('begins an hour before the newest change that was seen, however long ago that is', () => {
    const threads = [thread(NOW + 2000), thread(NOW + 5000), thread(NOW - HOUR_MS)];
    const answered = afterAnswer(
      newCursor(NOW),
      { threads, lastModified: null, pollIntervalMs: 0 },
      NOW,
      NOW + 7000,
    );
    const later = NOW + 100 * HOUR_MS;
    expect(nextRequest(answered, later, later)?.since).toBe(NOW + 5000 - HOUR_MS);
  });

  it('does not begin in the future, whatever time the host names', () => {
    const answer = { threads: [thread(NOW + 1000 * HOUR_MS)], lastModified: null, pollIntervalMs: 0 };
    const cursor = afterAnswer(newCursor(NOW), answer, NOW, NOW);
    expect(nextRequest(cursor, NOW, NOW)?.since).toBe(NOW - HOUR_MS);
  });

  it('does not move with an answer without changes', () => {
    const unchanged = { threads: null, lastModified: OLD_DATE, pollIntervalMs: 0 };
    const cursor = afterFull(OLD_DATE);
    expect(afterAnswer(cursor, unchanged, NOW + MINUTE_MS, NOW + MINUTE_MS)).toEqual({
      ...cursor,
      notBefore: NOW + MINUTE_MS,
    });
  });
});

describe('the condition of a request', () => {
  it('is the date of the last full answer, as it was given', () => {
    expect(nextRequest(afterFull(OLD_DATE), NOW, NOW)?.ifModifiedSince).toBe(OLD_DATE);
  });

  it.each([
    ['the answer had no date', null],
    ['its date is no date', 'yesterday'],
    ['its second may have brought more since', new Date(NOW - 4000).toUTCString()],
  ])('is left out when %s', (_why, lastModified) => {
    expect(nextRequest(afterFull(lastModified), NOW, NOW)).toMatchObject({ ifModifiedSince: null });
  });

  it('is left out ten minutes after the last full answer', () => {
    const cursor = afterFull(OLD_DATE);
    const almost = NOW + 10 * MINUTE_MS - 1;
    expect(nextRequest(cursor, almost, almost)?.ifModifiedSince).toBe(OLD_DATE);
    expect(nextRequest(cursor, almost + 1, almost + 1)?.ifModifiedSince).toBeNull();
  });
});

describe('all pages of the feed', () => {
  it('are asked for once in ten minutes, however often something changes', () => {
    const minutes = Array.from({ length: 30 }, (_, minute) => NOW + minute * MINUTE_MS);
    let cursor = afterFull(null);
    const whole = minutes.filter((now) => {
      const isWhole = nextRequest(cursor, now, now)?.isWhole;
      cursor = afterAnswer(cursor, { threads: [], lastModified: null, pollIntervalMs: 0 }, now, now);
      return isWhole;
    });
    expect(whole).toEqual([NOW + 10 * MINUTE_MS, NOW + 20 * MINUTE_MS]);
  });
});

describe('the next run', () => {
  it.each([1, 2, 5])('asks again at the minute that the host allows: %i', (minutes) => {
    // Late by some seconds: runs begin when they can, but the cron trigger's times are exact.
    const cursor = afterFull(null, NOW + 7000, minutes * MINUTE_MS);
    const first = [1, 2, 3, 4, 5].find((n) => {
      const cronTime = NOW + n * MINUTE_MS;
      return nextRequest(cursor, cronTime, cronTime) !== null;
    });
    expect(first).toBe(minutes);
  });

  it('waits as long as a refusal asks for, but an hour at most', () => {
    const short = afterRefusal(afterFull(null), 3 * MINUTE_MS, NOW);
    expect(nextRequest(short, NOW + 2 * MINUTE_MS, NOW)).toBeNull();
    expect(nextRequest(short, NOW + 3 * MINUTE_MS, NOW)).not.toBeNull();
    const long = afterRefusal(afterFull(null), 100 * HOUR_MS, NOW);
    expect(nextRequest(long, NOW + HOUR_MS - 1, NOW)).toBeNull();
    expect(nextRequest(long, NOW + HOUR_MS, NOW)).not.toBeNull();
  });

  it('is not held up by a clock that was set back', () => {
    const cursor = afterFull(null, NOW, MINUTE_MS);
    const earlier = NOW - 24 * HOUR_MS;
    expect(nextRequest(cursor, earlier, earlier)).not.toBeNull();
  });
});
