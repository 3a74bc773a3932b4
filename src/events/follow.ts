/**
 * Reads the feed once, notes which pull requests were touched, examines them, and passes their
 * events on. A note stays until its events are stored, for a week at most, so a shorter outage
 * loses none, and the receiver recognises by its key one that comes twice. Maintainers may speak to
 * the bot on other threads, too (hear.ts). Because anyone can mention it there, the service's own
 * pull requests come first, and feed-cursor.ts limits calls.
 */
import type { Clock } from '../isolate/clock.ts';
import type { ActivityHost } from '../host/open.ts';
import type { FeedThread, ReadRemarks, Remark } from '../host/code-host.ts';
import { HostError, hostFailureOf } from '../words/host-error.ts';
import { afterAnswer, afterRefusal, type FeedCursor, newCursor, nextRequest } from './feed-cursor.ts';
import { type PullRequestEvents, eventsOf, isOwn, type OwnAccounts, ownPrHash } from './host-event.ts';

/** Bounds the threads of one run: each costs one to three requests. The rest waits a minute. */
const EXAMINED_PER_RUN = 50;
/**
 * Bounds the pages of one read of the feed, the newest first. A longer list counts as one without
 * an end (`Rest.pages`), and every later read would fail at it again.
 */
const PAGES_PER_READ = 90;
/** How long an event may precede the record of its pull request, which a push writes at its end. */
const UNKNOWN_FOR_MS = 10 * 60 * 1000;
/**
 * How far reads of a thread overlap, because a host may list a remark late. Short, because a flood
 * of comments is read again for so long.
 */
const LATE_REMARKS_MS = 2 * 60 * 1000;
/** The age at which a remark is no news any more. */
const NEWS_LIFE_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Kinds of threads, known by an earlier look or by the host's word: a pull request of the service,
 * an issue of the bot, or another issue or pull request.
 */
export type ThreadKind = 'ours' | 'own-issue' | 'foreign';

/** The calls of the hour from which each kind is read. The service's own have none of their own. */
const BUDGETS = { ours: null, 'own-issue': 'issues', foreign: 'reads', unknown: 'looks' } as const;

export interface NotedThread extends Omit<FeedThread, 'isByBot' | 'isIssue'> {
  readonly notedAt: number;
  readonly kind: ThreadKind | 'unknown';
  /** The first change since the thread was last read. */
  readonly unreadSince: number;
  /** The time of the change up to which its events were told; null if none were. */
  readonly readTo: number | null;
  readonly failures: number;
}

export interface FeedMemory {
  cursor(): FeedCursor | null;
  setCursor(cursor: FeedCursor): void;
  /** Keeps threads that are new or have changed since they were noted. Answers how many are. */
  note(threads: readonly FeedThread[], now: number): number;
  /**
   * Lists threads to examine now: first the service's own, then the bot's issues, then unknown,
   * then foreign ones; of each those that have failed least, then the oldest. Leaves out those for
   * which this hour's calls are used up.
   */
  due(limit: number, now: number): readonly NotedThread[];
  /**
   * Remembers for a month what a thread is, and up to when it was read.
   * @param thread `readTo` is null if it was not read yet.
   */
  know(thread: Pick<NotedThread, 'id' | 'readTo'>, kind: ThreadKind, at: number): void;
  examined(thread: NotedThread, at: number): void;
  /** Postpones a thread, longer after each failure. */
  failed(thread: NotedThread, now: number): void;
  /** Postpones a thread to a moment, in milliseconds since 1970. It has not failed. */
  postponed(thread: NotedThread, until: number): void;
  /**
   * Takes one of this hour's looks at unknown threads, or reads of other ones. Answers false if
   * they are used up.
   */
  take(kind: 'looks' | 'issues' | 'reads', now: number): boolean;
}

/** Thrown in place of a call to the host when this hour's calls are used up. */
export class CallsUsedUp extends Error {}

/** Thrown in place of a call that answers maintainers when this hour's of that kind are used up. */
export class WordsUsedUp extends Error {}

export interface FollowSettings {
  /** May throw `CallsUsedUp` in place of a call. */
  readonly host: Pick<ActivityHost, 'feed' | 'pullRequest' | 'remarks' | 'comments'>;
  readonly memory: FeedMemory;
  readonly clock: Clock;
  ownIds(): Promise<OwnAccounts>;
  /** Finds a pull request by the host's own number for it; null if none was recorded yet. */
  prHashWithId(id: number): Promise<string | null>;
  /** Stores the state that a pull request had at `askedAt`. Answers false if none has that hash. */
  tell(found: PullRequestEvents, askedAt: number): Promise<boolean>;
  /** Hears what maintainers tell the bot on a thread. */
  hear(thread: Pick<NotedThread, 'repository' | 'number'>, remarks: readonly Remark[]): Promise<void>;
}

/**
 * Reads the feed, and examines what is due. A failure that concerns all threads is thrown at once.
 * @param cronTime when the run was scheduled. Runs may begin late, but their scheduled times are
 * whole minutes apart.
 */
export async function followPullRequests(settings: FollowSettings, cronTime: number): Promise<void> {
  const { memory } = settings;
  try {
    if (await readFeed(settings, cronTime)) await examineDue(settings, cronTime);
  } catch (error) {
    const pauseMs = pauseOf(error);
    if (pauseMs !== null) memory.setCursor(afterRefusal(cursorOf(settings), pauseMs, cronTime));
    throw error;
  }
}

/**
 * Examines the threads that are due. One that fails does not stop the others: their first failure
 * is thrown at the end.
 * @param time by which clock they are due: that of the cron trigger, or the service's.
 */
export async function examineDue(settings: FollowSettings, time: number): Promise<void> {
  const { memory, clock } = settings;
  const due = memory.due(EXAMINED_PER_RUN, time);
  if (due.length === 0) return;
  const own = await settings.ownIds();
  const failures: unknown[] = [];
  for (const thread of due) {
    const { kind } = thread;
    const budget = BUDGETS[kind];
    if (budget !== null && !memory.take(budget, clock.now())) continue;
    const examining =
      kind === 'ours' || kind === 'unknown'
        ? examine(settings, thread, own, time)
        : readForeign(settings, thread, kind, time);
    await examining.catch((error: unknown) => {
      // At the full hour, the service's own threads come first again.
      if (error instanceof WordsUsedUp) memory.postponed(thread, nextHour(clock.now()));
      else if (!(error instanceof CallsUsedUp)) memory.failed(thread, time);
      if (concernsAll(error)) throw error;
      failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
}

const HOUR_MS = 60 * 60_000;
const nextHour = (now: number): number => (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;

/** Answers whether all further calls would fail, too. */
function concernsAll(error: unknown): boolean {
  if (error instanceof CallsUsedUp || pauseOf(error) !== null) return true;
  if (!(error instanceof HostError) || error.failure.isLocal === true) return false;
  return [null, 401].includes(error.failure.status);
}

/** Tells how long the host wants no requests; null: it wants them, at least not only of the App. */
function pauseOf(error: unknown): number | null {
  const { retryAfterMs, isLocal } = hostFailureOf(error);
  return isLocal === true ? null : retryAfterMs;
}

/** Answers false if the host wants no requests now. */
async function readFeed(settings: FollowSettings, cronTime: number): Promise<boolean> {
  const { host, memory, clock } = settings;
  const cursor = cursorOf(settings);
  const askedAt = clock.now();
  const request = nextRequest(cursor, cronTime, askedAt);
  if (request === null) return false;
  const { since, ifModifiedSince, isWhole } = request;
  let pages = 0;
  const feed = await host.feed(since, ifModifiedSince, (page) => {
    pages += 1;
    const isNew = memory.note(page, askedAt) > 0;
    return pages < PAGES_PER_READ && (isNew || isWhole);
  });
  // The notes come first: a cursor ahead of them would lose changes if this run ended here.
  memory.setCursor(afterAnswer(cursor, feed, cronTime, askedAt));
  return true;
}

/** Stores the first cursor at once: if this run fails, the next must not begin at a later time. */
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
  own: OwnAccounts,
  cronTime: number,
): Promise<void> {
  const { host, memory, clock } = settings;
  const { repository, number } = thread;
  const startedAt = clock.now();
  const pull = await host.pullRequest(repository, number);
  // One of the service's own may be hidden for a while, and its end would never be told.
  if (pull === null && thread.kind === 'ours') return memory.failed(thread, cronTime);
  if (pull === null) return againWhileNew(memory, thread, startedAt, cronTime);
  const id = isOwn(pull.authorId, own) ? pull.id : undefined;
  const prHash = id === undefined ? ownPrHash(pull, own) : await settings.prHashWithId(id);
  if (prHash === null) {
    // It is read in the next run.
    if (id === undefined) return memory.know({ id: thread.id, readTo: null }, 'foreign', startedAt);
    // The bot has opened it, so a push may still record it: it must not be taken for foreign.
    return againWhileNew(memory, thread, startedAt, cronTime);
  }
  const from = Math.max((thread.readTo ?? 0) - LATE_REMARKS_MS, thread.updatedAt - NEWS_LIFE_MS);
  const read = await host.remarks(repository, number, from);
  if (read === null) return againWhileNew(memory, thread, startedAt, cronTime);
  const events = eventsOf(pull, read.remarks, own);
  // The state is stored even without an event, because it may have been reopened.
  const isTold =
    (await settings.tell({ prHash, number: pull.number, events }, startedAt)) || events.length === 0;
  // What a comment asks for may fail, and must not keep events from the author.
  await settings.hear(thread, [...read.remarks, ...read.lines]);
  if (isTold) noteRead(memory, thread, read, 'ours', startedAt);
  else againWhileNew(memory, thread, startedAt, cronTime);
}

/** Lets a thread be due again for ten minutes, as long as a host or a push may be late. */
function againWhileNew(memory: FeedMemory, thread: NotedThread, startedAt: number, cronTime: number): void {
  if (startedAt - thread.notedAt < UNKNOWN_FOR_MS) memory.failed(thread, cronTime);
  else memory.examined(thread, startedAt);
}

/**
 * Reads an issue, or a pull request of somebody else, for what maintainers say there. It is not
 * read from its start, but from shortly before the first change that the feed has shown.
 */
async function readForeign(
  settings: FollowSettings,
  thread: NotedThread,
  kind: ThreadKind,
  cronTime: number,
): Promise<void> {
  const { host, memory, clock } = settings;
  const { repository, number, readTo, unreadSince, updatedAt } = thread;
  const startedAt = clock.now();
  const unread = (readTo ?? unreadSince - UNKNOWN_FOR_MS) - LATE_REMARKS_MS;
  const read = await host.comments(repository, number, Math.max(unread, updatedAt - NEWS_LIFE_MS));
  if (read === null) return againWhileNew(memory, thread, startedAt, cronTime);
  await settings.hear(thread, read.remarks);
  noteRead(memory, thread, read, kind, startedAt);
}

/** Notes how far a thread was read. If there is more, it stays due, and the next run reads on. */
function noteRead(
  memory: FeedMemory,
  thread: NotedThread,
  { readTo }: ReadRemarks,
  kind: ThreadKind,
  at: number,
): void {
  memory.know(
    { id: thread.id, readTo: readTo === null ? thread.updatedAt : readTo + LATE_REMARKS_MS },
    kind,
    at,
  );
  if (readTo === null) memory.examined(thread, at);
}
