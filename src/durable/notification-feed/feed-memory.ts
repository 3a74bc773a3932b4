/** What is remembered of the notifications feed, in the storage of a Durable Object. */
import { afterOneMore, type FeedCursor, SETTLED_MS, type SpentCalls } from '../../events/feed-cursor.ts';
import type { FeedMemory, NotedThread } from '../../events/follow.ts';
import type { FeedThread } from '../../host/code-host.ts';
import { dueAgainAt, LONGEST_WAIT_MS } from '../due-rows.ts';

/** When threads are forgotten, examined or not. */
const THREAD_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/** How long it is known whose a pull request is: that never changes, but not all need be kept for ever. */
const KNOWLEDGE_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

/** As a query answers it. */
type ThreadRow = Omit<NotedThread, 'repository' | 'isKnown'> & {
  owner: string;
  repo: string;
  isKnown: number;
};

function threadOf({ owner, repo, isKnown, ...thread }: ThreadRow): NotedThread {
  return { ...thread, repository: { owner, name: repo }, isKnown: isKnown === 1 };
}

/** Under which it is kept how far the feed was read, and what that has cost. */
const CURSOR_KEY = 'cursor';
const SPENT_KEY = 'spent';

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
  }

  cursor(): FeedCursor | null {
    return this.#kv.get<FeedCursor>(CURSOR_KEY) ?? null;
  }

  setCursor(cursor: FeedCursor): void {
    this.#kv.put(CURSOR_KEY, cursor);
  }

  note(threads: readonly FeedThread[], now: number): number {
    this.#sql.exec('DELETE FROM threads WHERE noted_at < ?', now - THREAD_LIFE_MS);
    this.#sql.exec('DELETE FROM known_threads WHERE known_at < ?', now - KNOWLEDGE_LIFE_MS);
    return threads.filter((thread) => this.#noteOne(thread, now)).length;
  }

  /** False if it was already noted in this state. */
  #noteOne({ id, isByBot, repository, number, updatedAt }: FeedThread, now: number): boolean {
    if (isByBot) this.#sql.exec('INSERT OR IGNORE INTO known_threads VALUES (?, 1, NULL, ?)', id, now);
    const noted = this.#sql.exec(
      `INSERT INTO threads (id, owner, repo, number, updated_at, noted_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, repo = excluded.repo, number = excluded.number,
         updated_at = excluded.updated_at, noted_at = excluded.noted_at, examined_at = 0, failures = 0, due_at = 0
       WHERE excluded.updated_at > threads.updated_at
       RETURNING id`,
      id,
      repository.owner,
      repository.name,
      number,
      updatedAt,
      now,
    );
    return noted.toArray().length > 0;
  }

  due(limit: number, now: number): readonly NotedThread[] {
    const rows = this.#sql.exec<ThreadRow>(
      `SELECT id, owner, repo, number, updated_at AS updatedAt, noted_at AS notedAt, failures,
         coalesce(is_ours, 0) AS isKnown, read_to AS readTo
       FROM threads LEFT JOIN known_threads USING (id)
       WHERE examined_at < updated_at + ? AND is_ours IS NOT 0 AND (due_at <= ? OR due_at > ?)
       ORDER BY isKnown DESC, failures, updated_at LIMIT ?`,
      SETTLED_MS,
      now,
      now + LONGEST_WAIT_MS,
      limit,
    );
    return rows.toArray().map(threadOf);
  }

  know({ id, updatedAt }: NotedThread, isOurs: boolean, at: number): void {
    this.#sql.exec(
      'INSERT OR REPLACE INTO known_threads VALUES (?, ?, ?, ?)',
      id,
      isOurs ? 1 : 0,
      updatedAt,
      at,
    );
  }

  /** Within seconds of its change, it is due once more: the same second may have brought another change. */
  examined({ id }: NotedThread, at: number): void {
    this.#sql.exec('UPDATE threads SET examined_at = ?, failures = 0 WHERE id = ?', at, id);
  }

  failed({ id, failures }: NotedThread, now: number): void {
    const dueAt = dueAgainAt(failures, now, 0);
    this.#sql.exec('UPDATE threads SET failures = failures + 1, due_at = ? WHERE id = ?', dueAt, id);
  }

  takeLook(now: number): boolean {
    return this.#take('looks', now);
  }

  /** False if this hour's calls are used up. */
  takeCall(now: number): boolean {
    return this.#take('calls', now);
  }

  #take(kind: 'calls' | 'looks', now: number): boolean {
    const next = afterOneMore(this.#kv.get<SpentCalls>(SPENT_KEY) ?? null, kind, now);
    if (next !== null) this.#kv.put(SPENT_KEY, next);
    return next !== null;
  }
}
