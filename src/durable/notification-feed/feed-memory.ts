/** What is remembered of the notifications feed, in the database of a Durable Object. */
import { type SpentCalls, afterOneMore } from '../../events/call-budget.ts';
import { type FeedCursor, SETTLED_MS } from '../../events/feed-cursor.ts';
import type { FeedMemory, NotedThread } from '../../events/follow.ts';
import type { FeedThread } from '../../host/code-host.ts';
import { dueAgainAt, LONGEST_WAIT_MS } from '../due-rows.ts';

/**
 * Threads that could not be examined for this long are given up. Examined threads are forgotten after the same time.
 */
const THREAD_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/** How long it is known whose a pull request is. That never changes, but not all of them need be kept for ever. */
const KNOWLEDGE_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

interface CursorRow extends Record<string, SqlStorageValue> {
  not_before: number;
  last_modified: string | null;
  listed_at: number;
  newest_at: number;
}

type SpentRow = SpentCalls & Record<string, SqlStorageValue>;

interface ThreadRow extends Record<string, SqlStorageValue> {
  id: string;
  owner: string;
  repo: string;
  number: number;
  updated_at: number;
  noted_at: number;
  is_known: number;
  read_to: number | null;
  failures: number;
}

export class SqlFeedMemory implements FeedMemory {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS cursor (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      not_before INTEGER NOT NULL, last_modified TEXT, listed_at INTEGER NOT NULL, newest_at INTEGER NOT NULL
    )`);
    sql.exec(`CREATE TABLE IF NOT EXISTS threads (
      id TEXT PRIMARY KEY,
      owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER NOT NULL,
      updated_at INTEGER NOT NULL, noted_at INTEGER NOT NULL,
      examined_at INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0
    )`);
    sql.exec(`CREATE TABLE IF NOT EXISTS known_threads (
      id TEXT PRIMARY KEY, is_ours INTEGER NOT NULL, read_to INTEGER, known_at INTEGER NOT NULL
    )`);
    sql.exec(`CREATE TABLE IF NOT EXISTS spent (
      only INTEGER PRIMARY KEY CHECK (only = 1), hour INTEGER NOT NULL, calls INTEGER NOT NULL, looks INTEGER NOT NULL
    )`);
  }

  cursor(): FeedCursor | null {
    const [row] = this.#sql.exec<CursorRow>('SELECT * FROM cursor');
    if (row === undefined) return null;
    const { not_before, last_modified, listed_at, newest_at } = row;
    return {
      notBefore: not_before,
      lastModified: last_modified,
      listedAt: listed_at,
      newestAt: newest_at,
    };
  }

  setCursor({ notBefore, lastModified, listedAt, newestAt }: FeedCursor): void {
    this.#sql.exec(
      'INSERT OR REPLACE INTO cursor VALUES (1, ?, ?, ?, ?)',
      notBefore,
      lastModified,
      listedAt,
      newestAt,
    );
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
      `SELECT threads.*, coalesce(is_ours, 0) AS is_known, read_to
       FROM threads LEFT JOIN known_threads USING (id)
       WHERE examined_at < updated_at + ? AND is_ours IS NOT 0 AND (due_at <= ? OR due_at > ?)
       ORDER BY is_known DESC, failures, updated_at LIMIT ?`,
      SETTLED_MS,
      now,
      now + LONGEST_WAIT_MS,
      limit,
    );
    return rows.toArray().map((row) => ({
      id: row.id,
      repository: { owner: row.owner, name: row.repo },
      number: row.number,
      updatedAt: row.updated_at,
      notedAt: row.noted_at,
      isKnown: row.is_known === 1,
      readTo: row.read_to,
      failures: row.failures,
    }));
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

  /**
   * A thread that was examined within seconds of its change is due once more, because the same second may have brought
   * another change.
   */
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
    const [spent] = this.#sql.exec<SpentRow>('SELECT hour, calls, looks FROM spent');
    const next = afterOneMore(spent ?? null, kind, now);
    if (next === null) return false;
    this.#sql.exec('INSERT OR REPLACE INTO spent VALUES (1, ?, ?, ?)', next.hour, next.calls, next.looks);
    return true;
  }
}
