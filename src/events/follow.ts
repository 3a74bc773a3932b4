/**
 * Reads the feed once, notes which pull requests were touched, examines them, passes their events
 * on. A note stays until its events are stored: no failure loses one, and the receiver knows by its
 * key what comes twice. Anyone can mention the bot: foreign pull requests are looked at once, our
 * own come first, and feed-cursor.ts limits calls.
 */
import type { Clock } from '../isolate/clock.ts';
import type { ActivityHost } from '../host/open.ts';
import type { FeedThread } from '../host/code-host.ts';
import { HostError, hostFailureOf } from '../words/host-error.ts';
import { type FeedCursor, OVERLAP_MS } from './feed-cursor.ts';
import { afterAnswer, afterRefusal, newCursor, nextRequest } from './feed-cursor.ts';
import { type PullRequestEvents, eventsOf, ownPrHash } from './host-event.ts';

/** Each costs one to three requests to the host. The rest waits for the next minute. */
const EXAMINED_PER_RUN = 50;
/** A comment may arrive before the push that opened the pull request has recorded it. */
const UNKNOWN_FOR_MS = 10 * 60 * 1000;
/** What was said longer ago is no news. */
const NEWS_LIFE_MS = 7 * 24 * 60 * 60 * 1000;

export interface NotedThread extends Omit<FeedThread, 'isByBot'> {
  readonly notedAt: number;
  /** It was the service's when it was last looked at, or the host says so. */
  readonly isKnown: boolean;
  /** The change up to which its events were told; null: none were. */
  readonly readTo: number | null;
  readonly failures: number;
}

export interface FeedMemory {
  cursor(): FeedCursor | null;
  setCursor(cursor: FeedCursor): void;
  /** Keeps threads that are new or have changed since they were noted; answers how many are. */
  note(threads: readonly FeedThread[], now: number): number;
  /**
   * Threads to examine now, none foreign: first the service's own, those that have failed least,
   * the oldest.
   */
  due(limit: number, now: number): readonly NotedThread[];
  /** Keeps whose it is. One that is not the service's is not due again. */
  know(thread: NotedThread, isOurs: boolean, at: number): void;
  examined(thread: NotedThread, at: number): void;
  /** It is not due before a pause, which is longer each time. */
  failed(thread: NotedThread, now: number): void;
  /** False if this hour's looks at unknown threads are used up. */
  take(kind: 'looks', now: number): boolean;
}

/** Thrown in place of a call to the host when this hour's are used up. */
export class CallsUsedUp extends Error {}

interface FollowSettings {
  /** Its calls may be refused with `CallsUsedUp`. */
  readonly host: Pick<ActivityHost, 'feed' | 'pullRequest' | 'remarks'>;
  readonly memory: FeedMemory;
  readonly clock: Clock;
  botId(): Promise<number>;
  /**
   * The pull request that was recorded with a host's number of its own; null: none was, or not yet.
   */
  prHashWithId(id: number): Promise<string | null>;
  /**
   * Stores the state that a pull request had when the host was asked; false if none has that hash.
   */
  tell(found: PullRequestEvents, askedAt: number): Promise<boolean>;
}

/**
 * A thread that fails keeps no other waiting. Rejects with the first failure at last, or at once if
 * it concerns all.
 * @param cronTime when the run was scheduled. Runs may begin late, but their scheduled times are
 * whole minutes apart.
 */
export async function followPullRequests(settings: FollowSettings, cronTime: number): Promise<void> {
  const { memory, clock } = settings;
  try {
    if (!(await readFeed(settings, cronTime))) return;
    const due = memory.due(EXAMINED_PER_RUN, cronTime);
    if (due.length === 0) return;
    const botId = await settings.botId();
    const failures: unknown[] = [];
    for (const thread of due) {
      if (!thread.isKnown && !memory.take('looks', clock.now())) continue;
      await examine(settings, thread, botId, cronTime).catch((error: unknown) => {
        if (concernsAll(error)) throw error;
        failures.push(error);
      });
    }
    if (failures.length > 0) throw failures[0];
  } catch (error) {
    const pauseMs = hostFailureOf(error).retryAfterMs;
    if (pauseMs !== null) memory.setCursor(afterRefusal(cursorOf(settings), pauseMs, cronTime));
    throw error;
  }
}

/** The account may ask for nothing more now, or the host does not answer. */
function concernsAll(error: unknown): boolean {
  if (error instanceof CallsUsedUp || hostFailureOf(error).retryAfterMs !== null) return true;
  return error instanceof HostError && [null, 401].includes(error.failure.status);
}

/** False if the host wants no requests now. */
async function readFeed(settings: FollowSettings, cronTime: number): Promise<boolean> {
  const { host, memory, clock } = settings;
  const cursor = cursorOf(settings);
  const askedAt = clock.now();
  const request = nextRequest(cursor, cronTime, askedAt);
  if (request === null) return false;
  const { since, ifModifiedSince, isWhole } = request;
  const feed = await host.feed(since, ifModifiedSince, (page) => memory.note(page, askedAt) > 0 || isWhole);
  // After the notes: a cursor ahead of the notes would lose the changes in between.
  memory.setCursor(afterAnswer(cursor, feed, cronTime, askedAt));
  return true;
}

/**
 * Stored at the first run: if that run fails, the next one must not start reading at a later time.
 */
function cursorOf({ memory, clock }: FollowSettings): FeedCursor {
  const known = memory.cursor();
  if (known !== null) return known;
  const cursor = newCursor(clock.now());
  memory.setCursor(cursor);
  return cursor;
}

async function examine(
  settings: FollowSettings,
  thread: NotedThread,
  botId: number,
  cronTime: number,
): Promise<void> {
  const { host, memory, clock } = settings;
  const { repository, number, updatedAt, readTo } = thread;
  const startedAt = clock.now();
  try {
    const pull = await host.pullRequest(repository, number);
    if (pull === null) return memory.examined(thread, startedAt);
    const id = pull.authorId === botId ? pull.id : undefined;
    const prHash = id === undefined ? ownPrHash(pull, botId) : await settings.prHashWithId(id);
    if (prHash === null) {
      if (id === undefined) return memory.know(thread, false, startedAt);
      const isNew = startedAt - thread.notedAt < UNKNOWN_FOR_MS;
      // It is the bot's, so a later push may record it, and its later events count.
      return isNew ? memory.failed(thread, cronTime) : memory.examined(thread, startedAt);
    }
    const since = Math.max((readTo ?? 0) - OVERLAP_MS, updatedAt - NEWS_LIFE_MS);
    const remarks = await host.remarks(repository, number, since);
    const events = eventsOf(pull, remarks ?? [], botId);
    // Without any event, too: it may have been reopened.
    const isTold =
      (await settings.tell({ prHash, number: pull.number, events }, startedAt)) || events.length === 0;
    if (isTold) memory.know(thread, true, startedAt);
    if (isTold || startedAt - thread.notedAt >= UNKNOWN_FOR_MS) memory.examined(thread, startedAt);
    else memory.failed(thread, cronTime);
  } catch (error) {
    if (!(error instanceof CallsUsedUp)) memory.failed(thread, cronTime);
    throw error;
  }
}
