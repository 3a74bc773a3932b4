/**
 * Threads that the feed named, once they were looked at: done with, asked again later, or somebody
 * else's.
 */
import { describe, expect, it } from 'vitest';
import {
  type FeedMemory,
  followPullRequests,
  WordsUsedUp,
  type NotedThread,
} from '../../src/events/follow.ts';
import { type Failure, HostError } from '../../src/words/host-error.ts';
import type { PullRequestState, ReadRemarks } from '../../src/host/code-host.ts';
import { PatientClock } from '../host/support/scripted-host.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const BOT = 1;
const PR_HASH = '0123456789ab';

const pull = (facts: Partial<PullRequestState> = {}): PullRequestState => ({
  number: 3,
  url: 'https://host.test/mona/hello/pull/3',
  authorId: BOT,
  branch: `anon-${PR_HASH}`,
  mergedAt: '2026-11-22T11:00:00Z',
  closedAt: null,
  ...facts,
});

interface Seen {
  readonly shown: () => PullRequestState | null;
  readonly isRecorded?: boolean;
  readonly isTold?: boolean;
  readonly notedMinutesAgo?: number;
  readonly hear?: () => Promise<void>;
  readonly kind?: NotedThread['kind'];
  readonly read?: ReadRemarks | null;
  /** How many such threads are due. */
  readonly threads?: number;
}

const NOTHING: ReadRemarks = { remarks: [], readTo: null, lines: [] };

/** Which ways of `FeedMemory` one run took with the thread. */
async function ended({
  shown,
  isRecorded = true,
  isTold = true,
  notedMinutesAgo = 1,
  hear = async () => {},
  kind = 'ours',
  read = NOTHING,
  threads = 1,
}: Seen) {
  const clock = new PatientClock();
  const thread: NotedThread = {
    id: '1',
    repository: { owner: 'mona', name: 'hello' },
    number: 3,
    updatedAt: clock.now(),
    notedAt: clock.now() - notedMinutesAgo * MINUTE_MS,
    kind,
    unreadSince: clock.now() - DAY_MS,
    readTo: null,
    failures: 0,
  };
  const ways: string[] = [];
  const memory: FeedMemory = {
    cursor: () => null,
    setCursor: ({ notBefore }) => {
      const pauseMs = notBefore - clock.now();
      if (pauseMs > MINUTE_MS) ways.push(`all wait for ${pauseMs / MINUTE_MS} minutes`);
    },
    note: () => 0,
    due: () => Array.from({ length: threads }, () => thread),
    know: ({ readTo }, known) => void ways.push(readTo === null ? `not read, ${known}` : known),
    examined: () => void ways.push('examined'),
    failed: () => void ways.push('failed'),
    postponed: (_, until) => void ways.push(`postponed to ${new Date(until).toISOString().slice(14)}`),
    take: () => true,
  };
  const host = {
    feed: async () => ({ threads: [], lastModified: null, pollIntervalMs: MINUTE_MS }),
    pullRequest: async () => shown(),
    remarks: async () => read,
    comments: async (_: object, __: number, since: number) => {
      ways.push(`read ${(clock.now() - since) / MINUTE_MS} minutes`);
      return read;
    },
  };
  const own = {
    ownIds: async () => new Set([BOT]),
    prHashWithId: async () => (isRecorded ? PR_HASH : null),
    tell: async () => {
      ways.push('told');
      return isTold;
    },
    hear,
  };
  const run = followPullRequests({ host, memory, clock, ...own }, clock.now());
  return {
    ways,
    error: await run.then(
      () => null,
      (error: unknown) => error,
    ),
  };
}

const nameless = () => pull({ branch: null, id: 103 });

describe('a thread', () => {
  it.each<[string, Seen, string[]]>([
    ['whose events are told is done with', { shown: pull }, ['told', 'ours', 'examined']],
    ['of the service that the host does not show is due again', { shown: () => null }, ['failed']],
    ['that the host does not show yet is due again', { shown: () => null, kind: 'unknown' }, ['failed']],
    [
      'that the host does not show for ten minutes is done with',
      { shown: () => null, kind: 'unknown', notedMinutesAgo: 10 },
      ['examined'],
    ],
    ['of somebody else is never due again', { shown: () => pull({ authorId: 2 }) }, ['not read, foreign']],
    [
      'of others is read from before its first change, not from before its last',
      { shown: pull, kind: 'own-issue' },
      ['read 1452 minutes', 'own-issue', 'examined'],
    ],
    ['whose comments are not shown yet is due again', { shown: pull, read: null }, ['failed']],
    [
      'of others whose comments are not shown yet is due again',
      { shown: pull, kind: 'foreign', read: null },
      ['read 1452 minutes', 'failed'],
    ],
    [
      'whose comments are not shown for ten minutes is done with',
      { shown: pull, kind: 'foreign', read: null, notedMinutesAgo: 10 },
      ['read 1452 minutes', 'examined'],
    ],
    ['that no push has recorded yet is due again', { shown: pull, isTold: false }, ['told', 'failed']],
    [
      'that no push has recorded for ten minutes is done with',
      { shown: pull, isTold: false, notedMinutesAgo: 10 },
      ['told', 'examined'],
    ],
    ['that only the host’s number names is told, too', { shown: nameless }, ['told', 'ours', 'examined']],
    ['whose number is not recorded yet is due again', { shown: nameless, isRecorded: false }, ['failed']],
    [
      'whose number is not recorded for ten minutes is done with',
      { shown: nameless, isRecorded: false, notedMinutesAgo: 10 },
      ['examined'],
    ],
  ])('%s', async (_, seen, ways) => {
    expect(await ended(seen)).toEqual({ ways, error: null });
  });

  it('on which a word fails is told all the same, and due again', async () => {
    const error = new Error('could not be closed');
    const hear = () => Promise.reject(error);
    expect(await ended({ shown: pull, hear })).toEqual({ ways: ['told', 'failed'], error });
  });

  it.each<[string, Partial<Failure>, string[]]>([
    ['the App alone must wait stops no other', { isLocal: true }, ['told', 'failed', 'told', 'failed']],
    ['the host wants no requests stops all', {}, ['told', 'failed', 'all wait for 10 minutes']],
  ])('on which %s', async (_, where, ways) => {
    const error = new HostError('unreachable', 'No.', undefined, { retryAfterMs: 10 * MINUTE_MS, ...where });
    const hear = () => Promise.reject(error);
    expect(await ended({ shown: pull, hear, threads: 2 })).toEqual({ ways, error });
  });

  it('on which the token of the App is refused stops no other', async () => {
    const error = new HostError('refused', 'No.', undefined, { status: 401, isLocal: true });
    const hear = () => Promise.reject(error);
    const ways = ['told', 'failed', 'told', 'failed'];
    expect(await ended({ shown: pull, hear, threads: 2 })).toEqual({ ways, error });
  });

  it('on which this hour’s words are used up waits for the next hour, and has not failed', async () => {
    const error = new WordsUsedUp();
    const hear = () => Promise.reject(error);
    expect(await ended({ shown: pull, hear })).toEqual({ ways: ['told', 'postponed to 00:00.000Z'], error });
  });

  it('that cannot be read is due again, and the run says why', async () => {
    const error = new HostError('refused', 'No.', undefined, { status: 403 });
    const shown = () => {
      throw error;
    };
    expect(await ended({ shown })).toEqual({ ways: ['failed'], error });
  });
});
