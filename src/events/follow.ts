/**
 * One look at what became of the pull requests: read the feed, note which ones were touched, examine those, and hand
 * their events on.
 *
 * What was noted stays noted until its events are safe, so a failure anywhere loses nothing and the next run goes on.
 * Events may be handed on twice, after a crash for example; whoever takes them knows them by their keys.
 */
import type { Clock } from '../clock.ts';
import type { FeedThread, GitHubActivity } from '../host/github-activity.ts';
import { askedPauseMs } from '../host/rate-limit.ts';
import { type FeedCursor, afterAnswer, afterRefusal, newCursor, nextRequest } from './feed-cursor.ts';
import { type HostEvent, eventsOf } from './host-event.ts';

/** Each needs three requests to the host. The rest waits for the next minute. */
const EXAMINED_PER_RUN = 50;
/** A comment may come before the push that opened the pull request has written it down. */
const UNKNOWN_FOR_MS = 10 * 60 * 1000;

export interface NotedThread extends FeedThread {
  readonly notedAt: number;
}

/** What outlives a run. */
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
  /** Keeps the events of a pull request; false if there is none of that hash. */
  tell(prHash: string, events: readonly HostEvent[]): Promise<boolean>;
}

/**
 * Rejects with the host's error at the first failure: what comes after it would most likely fail as well.
 * @param cronTime when the run was to begin. Runs may begin late, but their times are whole minutes apart.
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

/** False if the host is to be left alone for now. */
async function readFeed(settings: FollowSettings, cronTime: number): Promise<boolean> {
  const { host, memory, clock } = settings;
  const cursor = cursorOf(settings);
  const askedAt = clock.now();
  const request = nextRequest(cursor, cronTime, askedAt);
  if (request === null) return false;
  const feed = await host.feed(request.since, request.ifModifiedSince);
  // Together, without a pause: a cursor that runs ahead of the notes would lose what lies between.
  memory.note(feed.threads ?? [], askedAt);
  memory.setCursor(afterAnswer(cursor, feed, cronTime, askedAt));
  return true;
}

/** Kept from the first run on: if that one fails, the next must not begin later. */
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
    const isTold =
      found === null || found.events.length === 0 || (await settings.tell(found.prHash, found.events));
    if (isTold || startedAt - thread.notedAt >= UNKNOWN_FOR_MS) memory.examined(thread, startedAt);
    else memory.failed(thread);
  } catch (error) {
    memory.failed(thread);
    throw error;
  }
}
