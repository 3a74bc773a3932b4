/**
 * The comments of one pseudonym: where they are, and what must still be done with them. Only the host stores their texts.
 *
 * An attempt is recorded before the host is asked. If the record is still there later, its answer was lost and its comment
 * may exist, so the thread is searched for it. What moderation decides meanwhile is recorded with the attempt.
 */
import type { CommentWithText } from '../../host/code-host.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { DueRows, earliest } from '../due-rows.ts';

/** `reset`: show karma 0. `restore`: show the karma that was reset. */
export type ChoreKind = 'reset' | 'delete' | 'restore';

export interface Thread {
  readonly repository: RepositoryName;
  readonly number: number;
}

/** A comment that the host has not been asked to delete. */
export interface PostedOn extends Thread {
  readonly id: number;
}

export interface Attempt extends Thread {
  readonly id: number;
  readonly startedAt: number;
  /** When to look for its comment if it has not ended by then. */
  readonly dueAt: number;
  /** How often the thread was searched without a result. */
  readonly failures: number;
}

export interface Chore {
  readonly kind: ChoreKind;
  readonly repository: RepositoryName;
  readonly commentId: number;
  readonly orderedAt: number;
  readonly failures: number;
  /** The karma that it showed before a reset; null if that is not known. */
  readonly karma: number | null;
}

/** A comment that may exist is searched for after this time, when the host and the attempt have surely finished. */
const SETTLING_MS = 5 * 60 * 1000;
/** Enough to judge a pseudonym by. */
const MOST_SHOWN = 20;

/** As a query answers it. */
type Row<T extends Pick<Thread, 'repository'>> = Omit<T, 'repository'> & { owner: string; name: string };

function placed<T extends Pick<Thread, 'repository'>>({ owner, name, ...rest }: Row<T>): T {
  return { ...rest, repository: { owner, name } } as unknown as T;
}

export class Comments {
  readonly #sql: SqlStorage;
  readonly #chores: DueRows<Row<Chore>>;
  readonly #attempts: DueRows<Row<Attempt>>;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#chores = new DueRows(sql, {
      table: 'comments',
      columns:
        'chore AS kind, owner, repo AS name, id AS commentId, ordered_at AS orderedAt, failures, karma',
      condition: 'chore IS NOT NULL',
    });
    this.#attempts = new DueRows(sql, {
      table: 'attempts',
      columns: 'id, owner, repo AS name, number, started_at AS startedAt, due_at AS dueAt, failures',
    });
    sql.exec(`CREATE TABLE IF NOT EXISTS comments (
      id INTEGER PRIMARY KEY, owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER,
      chore TEXT, ordered_at INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0,
      failures INTEGER NOT NULL DEFAULT 0, karma INTEGER
    )`);
    sql.exec('CREATE INDEX IF NOT EXISTS chores ON comments (due_at) WHERE chore IS NOT NULL');
    sql.exec(`CREATE TABLE IF NOT EXISTS attempts (
      id INTEGER PRIMARY KEY, owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER NOT NULL,
      started_at INTEGER NOT NULL, due_at INTEGER NOT NULL, chore TEXT, failures INTEGER NOT NULL DEFAULT 0
    )`);
  }

  /** Only when the one before it has ended. */
  begin({ repository, number }: Thread, now: number): Attempt {
    const dueAt = now + SETTLING_MS;
    const { id } = this.#sql
      .exec<{ id: number }>(
        'INSERT INTO attempts (owner, repo, number, started_at, due_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
        repository.owner,
        repository.name,
        number,
        now,
        dueAt,
      )
      .one();
    return { id, repository, number, startedAt: now, dueAt, failures: 0 };
  }

  /** Ends an attempt that posted no comment. */
  forget({ id }: Attempt): void {
    this.#sql.exec('DELETE FROM attempts WHERE id = ?', id);
  }

  /**
   * Ends an attempt with the comment that it has posted. Answers what moderation has decided meanwhile.
   * @param commentId null: the attempt goes on.
   */
  settle({ id, repository, number }: Attempt, commentId: number | null, now: number): ChoreKind | null {
    const [row] = this.#sql.exec<{ chore: ChoreKind | null }>('SELECT chore FROM attempts WHERE id = ?', id);
    const chore = row?.chore ?? null;
    if (commentId === null) return chore;
    this.#sql.exec(
      'INSERT OR IGNORE INTO comments (id, owner, repo, number, chore, ordered_at, due_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      commentId,
      repository.owner,
      repository.name,
      number,
      chore,
      now,
      now,
    );
    this.#sql.exec('DELETE FROM attempts WHERE id = ?', id);
    return chore;
  }

  newest(): PostedOn[] {
    const rows = this.#sql.exec<Row<PostedOn>>(
      `SELECT id, owner, repo AS name, number FROM comments
       WHERE number IS NOT NULL AND chore IS NOT 'delete' ORDER BY id DESC LIMIT ${MOST_SHOWN}`,
    );
    return rows.toArray().map((row) => placed<PostedOn>(row));
  }

  unknownAmong(comments: readonly CommentWithText[]): CommentWithText[] {
    return comments.filter(
      ({ id }) => this.#sql.exec('SELECT 1 FROM comments WHERE id = ?', id).toArray().length === 0,
    );
  }

  /** For all comments, including those that are being posted. */
  order(kind: ChoreKind, now: number): void {
    this.#sql.exec('UPDATE comments SET chore = ?, ordered_at = ?, due_at = ?, failures = 0', kind, now, now);
    this.#sql.exec('UPDATE attempts SET chore = ?', kind);
  }

  /** Cancels what is pending, and orders the opposite of what was carried out. Answers for how many comments. */
  restore(now: number): number {
    this.#sql.exec('UPDATE attempts SET chore = NULL WHERE chore IS NOT NULL');
    this.#sql.exec('UPDATE comments SET chore = NULL WHERE chore IS NOT NULL');
    const restored = this.#sql.exec(
      "UPDATE comments SET chore = 'restore', ordered_at = ?, due_at = ?, failures = 0 WHERE karma IS NOT NULL RETURNING id",
      now,
      now,
    );
    return restored.toArray().length;
  }

  extent(): { comments: number; repository: string | null } {
    return this.#sql
      .exec<{ comments: number; repository: string | null }>(
        "SELECT count(*) AS comments, min(owner || '/' || repo) AS repository FROM comments",
      )
      .one();
  }

  /** The oldest comments with an action that is due, in order. */
  dueChores(now: number, limit: number): Chore[] {
    return this.#chores.due(now, limit).map((row) => placed<Chore>(row));
  }

  /**
   * An action that was ordered in the meantime stays. If a pardon cancelled this action while it was carried out, it is
   * undone.
   * @param karmaBefore of a reset: what the comment showed; null if it showed none.
   */
  done({ kind, commentId }: Chore, karmaBefore: number | null = null): void {
    if (kind === 'delete') {
      this.#sql.exec('DELETE FROM comments WHERE id = ?', commentId);
    } else if (kind === 'restore') {
      const done = 'UPDATE comments SET chore = NULL, karma = NULL WHERE id = ? AND chore = ?';
      this.#sql.exec(done, commentId, kind);
    } else {
      this.#sql.exec(
        `UPDATE comments SET karma = coalesce(nullif(?, 0), karma), chore = CASE
           WHEN chore = 'reset' THEN NULL
           WHEN chore IS NULL AND coalesce(nullif(?, 0), karma) IS NOT NULL THEN 'restore'
           ELSE chore END
         WHERE id = ?`,
        karmaBefore,
        karmaBefore,
        commentId,
      );
    }
  }

  /** Answers when it is tried again. */
  postpone({ commentId, failures }: Chore, now: number): number {
    return this.#chores.later(commentId, failures, now);
  }

  /** Nothing before this moment. */
  postponeAll(until: number): void {
    this.#sql.exec('UPDATE comments SET due_at = max(due_at, ?) WHERE chore IS NOT NULL', until);
    this.#sql.exec('UPDATE attempts SET due_at = max(due_at, ?)', until);
  }

  /** Those that have ended without an answer, unless the clock has jumped: then one is recorded twice, which changes nothing. */
  dueAttempts(now: number): Attempt[] {
    return this.#attempts.due(now).map((row) => placed<Attempt>(row));
  }

  lookAgain({ id, failures }: Attempt, now: number): void {
    this.#attempts.later(id, failures, now);
  }

  /** True if there is no comment, and none that may exist. */
  isEmpty(): boolean {
    const some = 'SELECT id FROM comments UNION ALL SELECT id FROM attempts LIMIT 1';
    return this.#sql.exec(some).toArray().length === 0;
  }

  /** When something is due next; null if nothing is. */
  nextDueAt(): number | null {
    return earliest(this.#chores.nextDueAt(), this.#attempts.nextDueAt());
  }
}
