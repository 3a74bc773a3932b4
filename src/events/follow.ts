/**
 * Checks the state of the pull requests once: reads the feed, notes which ones were touched, examines those, and passes
 * on their events.
 *
 * A note stays until its events are stored, so no failure loses an event: the next run continues. Events may be passed
 * on twice, for example after a crash. The receiver recognises them by their keys.
 */
import type { Clock } from '../clock.ts';
import type { FeedThread, GitHubActivity } from '../host/github-activity.ts';
import { askedPauseMs } from '../host/rate-limit.ts';
import { type FeedCursor, afterAnswer, afterRefusal, newCursor, nextRequest } from './feed-cursor.ts';
import { type PullRequestEvents, eventsOf } from './host-event.ts';

/** Each costs three requests to the host. The rest waits for the next minute. */
const EXAMINED_PER_RUN = 50;
/** A comment may arrive before the push that opened the pull request has recorded it. */
const UNKNOWN_FOR_MS = 10 * 60 * 1000;

export interface NotedThread extends FeedThread {
  readonly notedAt: number;
}

/** What is kept between runs. */
export interface FeedMemory {
  cursor(): FeedCursor | null;
  setCursor(cursor: FeedCursor): void;
  /** Keeps threads that are new or have changed since they were noted. */
  note(threads: readonly FeedThread[], now: number): void;
  /** Threads to examine: first those that have failed least, then the oldest. */
  due(limit: number): readonly NotedThread[];
  examined(thread: NotedThread, at: number): void;
  failed(thread: NotedThread): void;
}

export interface FollowSettings {
  readonly host: Pick<GitHubActivity, 'feed' | 'activity'>;
  readonly memory: FeedMemory;
  readonly clock: Clock;
  botLogin(): Promise<string>;
  /** Keeps how a pull request stood when the host was asked; false if there is none of that hash. */
  tell(found: PullRequestEvents, askedAt: number): Promise<boolean>;
}

/**
 * Rejects with the host's error at the first failure, because later requests would probably fail, too.
 * @param cronTime when the run was scheduled. Runs may begin late, but their scheduled times are whole minutes apart.
 */
export async function followPullRequests(settings: FollowSettings, cronTime: number): Promise<void> {
  const { memory, clock } = settings;
  try {
    if (!(await readFeed(settings, cronTime))) return;
    for (const thread of memory.due(EXAMINED_PER_RUN)) await examine(settings, thread);
  } catch (error) {
    const pauseMs = askedPauseMs(error, clock.now());
    if (pauseMs !== null) memory.setCursor(afterRefusal(cursorOf(settings), pauseMs, cronTime));
    throw error;
  }
}

/** False if the host wants no requests now. */
async function readFeed(settings: FollowSettings, cronTime: number): Promise<boolean> {
  const { host, memory, clock } = settings;
  const cursor = cursorOf(settings);
  const askedAt = clock.now();
  const request = nextRequest(cursor, cronTime, askedAt);
  if (request === null) return false;
  const feed = await host.feed(request.since, request.ifModifiedSince);
  // Without an await in between: a cursor ahead of the notes would lose the changes in between.
  memory.note(feed.threads ?? [], askedAt);
  memory.setCursor(afterAnswer(cursor, feed, cronTime, askedAt));
  return true;
}

/** Stored at the first run: if that run fails, the next one must not start reading at a later time. */
function cursorOf({ memory, clock }: FollowSettings): FeedCursor {
  const known = memory.cursor();
  if (known !== null) return known;
  const cursor = newCursor(clock.now());
  memory.setCursor(cursor);
  return cursor;
}

async function examine(settings: FollowSettings, thread: NotedThread): Promise<void> {
  const { host, memory, clock } = settings;
  const startedAt = clock.now();
  try {
    const activity = await host.activity(thread.repository, thread.number);
    const found = activity && eventsOf(activity, await settings.botLogin());
    // Without any event, too: it may have been reopened.
    const isTold = found === null || (await settings.tell(found, startedAt)) || found.events.length === 0;
    if (isTold || startedAt - thread.notedAt >= UNKNOWN_FOR_MS) memory.examined(thread, startedAt);
    else memory.failed(thread);
  } catch (error) {
    memory.failed(thread);
    throw error;
  }
}
