/**
 * Keeps how far the bot's notifications are read, and the threads that are to be examined.
 * Proved by test/durable/notification-feed/notification-feed.test.ts.
 */
import {
  afterOneMore,
  type FeedCursor,
  SETTLED_MS,
  type SpentCalls,
  type SpentKind,
} from '../../events/feed-cursor.ts';
import type { FeedMemory, NotedThread, ThreadKind } from '../../events/follow.ts';
import type { FeedThread } from '../../host/code-host.ts';
import { dueAgainAt, MOST_AHEAD_MS } from '../due-rows.ts';

/** The age at which threads are forgotten, examined or not. */
const THREAD_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/** How long to remember whose a pull request is. That never changes; this only bounds the table. */
const KNOWLEDGE_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

type ThreadRow = Omit<NotedThread, 'repository' | 'kind'> &
  Record<'owner' | 'repo', string> & { isOurs: number | null };

/** The numbers of the column `is_ours`. */
const KIND_NUMBERS = { foreign: 0, ours: 1, 'own-issue': 2 } as const;
const KINDS = ['foreign', 'ours', 'own-issue'] as const;

/** Keys of the position in the feed, and of the calls that this hour has used. */
const CURSOR_KEY = 'cursor';
const SPENT_KEY = 'spent';

function threadOf({ owner, repo, isOurs, ...thread }: ThreadRow): NotedThread {
  const repository = { owner, name: repo };
  return { ...thread, repository, kind: KINDS[isOurs ?? -1] ?? 'unknown' };
}

function kindOf(isIssue: boolean, isByBot: boolean): ThreadKind {
  if (!isIssue) return 'ours';
  return isByBot ? 'own-issue' : 'foreign';
}

export class SqlFeedMemory implements FeedMemory {
  readonly #sql: SqlStorage;
  readonly #kv: SyncKvStorage;

  constructor({ sql, kv }: DurableObjectStorage) {
    this.#sql = sql;
    this.#kv = kv;
    sql.exec(`CREATE TABLE IF NOT EXISTS threads (
      id TEXT PRIMARY KEY,
      owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER NOT NULL,
      updated_at INTEGER NOT NULL, noted_at INTEGER NOT NULL,
      examined_at INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0
    )`);
    sql.exec(`CREATE TABLE IF NOT EXISTS known_threads (
      id TEXT PRIMARY KEY, is_ours INTEGER NOT NULL, read_to INTEGER, known_at INTEGER NOT NULL
    )`);
    sql.exec('CREATE TABLE IF NOT EXISTS unread_threads (id TEXT PRIMARY KEY, since INTEGER NOT NULL)');
    // Each page of the feed, and each comment that the bot posts, deletes what is old.
    sql.exec('CREATE INDEX IF NOT EXISTS threads_by_noted_at ON threads (noted_at)');
    sql.exec('CREATE INDEX IF NOT EXISTS known_threads_by_known_at ON known_threads (known_at)');
    sql.exec('CREATE INDEX IF NOT EXISTS unread_threads_by_since ON unread_threads (since)');
  }

  cursor(): FeedCursor | null {
    return this.#kv.get<FeedCursor>(CURSOR_KEY) ?? null;
  }

  setCursor(cursor: FeedCursor): void {
    this.#kv.put(CURSOR_KEY, cursor);
  }

  note(threads: readonly FeedThread[], now: number): number {
    this.#sql.exec('DELETE FROM threads WHERE noted_at < ?', now - THREAD_LIFE_MS);
    this.#sql.exec('DELETE FROM unread_threads WHERE since < ?', now - THREAD_LIFE_MS);
    this.#sql.exec('DELETE FROM known_threads WHERE known_at < ?', now - KNOWLEDGE_LIFE_MS);
    return threads.filter((thread) => this.#noteOne(thread, now)).length;
  }

  /** Answers false if the thread was already noted in this state. */
  #noteOne({ id, isIssue, isByBot, repository, number, updatedAt }: FeedThread, now: number): boolean {
    if (isIssue || isByBot) this.#noteKind(id, kindOf(isIssue, isByBot), now);
    const row = [id, repository.owner, repository.name, number, updatedAt, now];
    const noted = this.#sql.exec(
      `INSERT INTO threads (id, owner, repo, number, updated_at, noted_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, repo = excluded.repo, number = excluded.number,
         updated_at = excluded.updated_at, noted_at = excluded.noted_at, examined_at = 0, failures = 0, due_at = 0
       WHERE excluded.updated_at > threads.updated_at
       RETURNING id`,
      ...row,
    );
    const isNew = noted.toArray().length > 0;
    // Later changes do not move it, or else nobody would read what was said before them.
    if (isNew) this.#sql.exec('INSERT OR IGNORE INTO unread_threads VALUES (?, ?)', id, updatedAt);
    return isNew;
  }

  kindOf(id: string): NotedThread['kind'] {
    const rows = this.#sql.exec<{ is_ours: number }>('SELECT is_ours FROM known_threads WHERE id = ?', id);
    return KINDS[rows.toArray()[0]?.is_ours ?? -1] ?? 'unknown';
  }

  /** Notes what the host says of a thread. GitHub may only say later that an issue is the bot's. */
  #noteKind(id: string, kind: ThreadKind, now: number): void {
    this.#sql.exec(
      `INSERT INTO known_threads VALUES (?, ?, NULL, ?)
       ON CONFLICT (id) DO UPDATE SET is_ours = excluded.is_ours WHERE excluded.is_ours = ?`,
      id,
      KIND_NUMBERS[kind],
      now,
      KIND_NUMBERS['own-issue'],
    );
  }

  due(limit: number, now: number): readonly NotedThread[] {
    const left = (kind: SpentKind) => Number(this.#afterOneMore(kind, now) !== null);
    const rows = this.#sql.exec<ThreadRow>(
      `SELECT id, owner, repo, number, updated_at AS updatedAt, noted_at AS notedAt, failures,
         is_ours AS isOurs, read_to AS readTo, coalesce(since, updated_at) AS unreadSince
       FROM threads LEFT JOIN known_threads USING (id) LEFT JOIN unread_threads USING (id)
       WHERE CASE is_ours WHEN 1 THEN 1 WHEN 2 THEN ? WHEN 0 THEN ? ELSE ? END AND examined_at < updated_at + ? AND (due_at <= ? OR due_at > ?)
       ORDER BY is_ours IS 1 DESC, is_ours IS 2 DESC, is_ours IS 0, failures, updated_at LIMIT ?`,
      left('issues'),
      left('reads'),
      left('looks'),
      SETTLED_MS,
      now,
      now + MOST_AHEAD_MS,
      limit,
    );
    return rows.toArray().map(threadOf);
  }

  know({ id, readTo }: Pick<NotedThread, 'id' | 'readTo'>, kind: ThreadKind, at: number): void {
    const replace = 'INSERT OR REPLACE INTO known_threads VALUES (?, ?, ?, ?)';
    this.#sql.exec(replace, id, KIND_NUMBERS[kind], readTo, at);
    if (readTo !== null) this.#sql.exec('DELETE FROM unread_threads WHERE id = ?', id);
  }

  /**
   * Notes when the thread was examined. If that was within seconds of its change, it is due once
   * more, because the same second may have brought another change.
   */
  examined({ id }: NotedThread, at: number): void {
    this.#sql.exec('UPDATE threads SET examined_at = ?, failures = 0 WHERE id = ?', at, id);
  }

  failed({ id, failures }: NotedThread, now: number): void {
    const dueAt = dueAgainAt(failures, now, 0);
    this.#sql.exec('UPDATE threads SET failures = failures + 1, due_at = ? WHERE id = ?', dueAt, id);
  }

  postponed({ id }: NotedThread, until: number): void {
    this.#sql.exec('UPDATE threads SET due_at = ? WHERE id = ?', until, id);
  }

  /** Takes one of this hour's calls; answers false if they are used up. */
  take(kind: SpentKind, now: number): boolean {
    const next = this.#afterOneMore(kind, now);
    if (next !== null) this.#kv.put(SPENT_KEY, next);
    return next !== null;
  }

  #afterOneMore(kind: SpentKind, now: number): SpentCalls | null {
    return afterOneMore(this.#kv.get<SpentCalls>(SPENT_KEY) ?? null, kind, now);
  }
}
