/**
 * The comments of one pseudonym: where they are, and what must still be done: show another karma in
 * their footers, delete them, or look for one that may exist. Only the host stores their texts. An
 * attempt is recorded before the host is asked: if the record is still there later, the answer was
 * lost, and the thread is searched.
 */
import type { CommentWithText, PostedComment } from '../../host/code-host.ts';
import type { ThreadHost } from '../../host/open.ts';
import { HostError, hostFailureOf } from '../../words/host-error.ts';
import { succeeds, within } from '../../isolate/within.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { shownKarma, withKarma } from '../../text/footer.ts';
import { addColumn } from '../add-column.ts';
import { DueRows, earliest } from '../due-rows.ts';

/** An action on a comment. `reset`: show karma 0. `restore`: show the karma that was reset. */
type ChoreKind = 'reset' | 'delete' | 'restore';

export interface Thread {
  readonly repository: RepositoryName;
  readonly number: number;
}

/** A comment that the host has not been asked to delete. */
export interface PostedOn extends Thread {
  readonly id: number;
}

export interface CommentAttempt extends Thread {
  readonly id: number;
  readonly startedAt: number;
  /** The moment to look for its comment if it has not ended by then. */
  readonly dueAt: number;
  /** How often searching the thread has failed. */
  readonly failures: number;
}

/**
 * Takes the comment of an attempt that turns out to have posted one. If it rejects, it is called
 * again.
 */
type OnFound = (attempt: CommentAttempt, found: CommentWithText) => Promise<void>;

interface Chore {
  readonly kind: ChoreKind;
  readonly repository: RepositoryName;
  readonly commentId: number;
  readonly orderedAt: number;
  readonly failures: number;
  /** The karma that it showed before a reset; null if that is not known. */
  readonly karma: number | null;
  /** The number of the App that has posted it; null: the account has. */
  readonly app: number | null;
}

/**
 * The time after which a comment that may exist is searched for: the host and the attempt have
 * surely finished then.
 */
const SETTLING_MS = 5 * 60 * 1000;
/** How long the next comment waits for what was lost before it. */
const FINDING_MS = 5_000;
/** The most comments that are shown: enough to judge a pseudonym by. */
const MOST_SHOWN = 20;
/**
 * The most writes of a run. GitHub asks for a second between writes, so a run makes a few at once,
 * and the next run waits for their seconds.
 */
const CHORES_PER_RUN = 10;
const RUN_PAUSE_MS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** How long to ask a host that refuses: it will not do it after that. */
const CHORE_LIFE_MS = 30 * DAY_MS;
/** How long to ask for what it does not find: its repository may be private for a while. */
const MISSING_LIFE_MS = DAY_MS;
/** How far the host's clock may be behind. */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

const ATTEMPT = 'id, owner, repo AS name, number, started_at AS startedAt, due_at AS dueAt, failures';

type Row<T extends Pick<Thread, 'repository'>> = Omit<T, 'repository'> & { owner: string; name: string };

function placed<T extends Pick<Thread, 'repository'>>({ owner, name, ...rest }: Row<T>): T {
  return { ...rest, repository: { owner, name } } as unknown as T;
}

export class Comments {
  readonly #sql: SqlStorage;
  readonly #hash: string;
  readonly #chores: DueRows<Row<Chore>>;
  readonly #attempts: DueRows<Row<CommentAttempt>>;

  /** @param hash of the pseudonym */
  constructor(sql: SqlStorage, hash: string) {
    this.#sql = sql;
    this.#hash = hash;
    this.#chores = new DueRows(sql, {
      table: 'comments',
      columns:
        'chore AS kind, owner, repo AS name, id AS commentId, ordered_at AS orderedAt, failures, karma, app',
      condition: 'chore IS NOT NULL',
    });
    this.#attempts = new DueRows(sql, { table: 'attempts', columns: ATTEMPT });
    sql.exec(`CREATE TABLE IF NOT EXISTS comments (
      id INTEGER PRIMARY KEY, owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER,
      chore TEXT, ordered_at INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0,
      failures INTEGER NOT NULL DEFAULT 0, karma INTEGER, app INTEGER
    )`);
    addColumn(sql, 'comments', 'app INTEGER');
    sql.exec('CREATE INDEX IF NOT EXISTS chores ON comments (due_at) WHERE chore IS NOT NULL');
    sql.exec(`CREATE TABLE IF NOT EXISTS attempts (
      id INTEGER PRIMARY KEY, owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER NOT NULL,
      started_at INTEGER NOT NULL, due_at INTEGER NOT NULL, chore TEXT, failures INTEGER NOT NULL DEFAULT 0
    )`);
  }

  /** Records an attempt to post a comment, when the one before it has ended. */
  begin({ repository: { owner, name }, number }: Thread, now: number): CommentAttempt {
    const insert = `INSERT INTO attempts (owner, repo, number, started_at, due_at) VALUES (?, ?, ?, ?, ?) RETURNING ${ATTEMPT}`;
    const row = this.#sql
      .exec<Row<CommentAttempt>>(insert, owner, name, number, now, now + SETTLING_MS)
      .one();
    return placed<CommentAttempt>(row);
  }

  /** Ends an attempt that posted no comment. */
  forget({ id }: CommentAttempt): void {
    this.#sql.exec('DELETE FROM attempts WHERE id = ?', id);
  }

  /**
   * Answers what moderation has decided meanwhile; null: nothing.
   * @param posted the comment that the attempt has posted, which ends it; null: it goes on.
   */
  settle(
    attempt: CommentAttempt,
    posted: Pick<PostedComment, 'id' | 'app'> | null,
    now: number,
  ): ChoreKind | null {
    const { id, repository, number } = attempt;
    const [row] = this.#sql.exec<{ chore: ChoreKind | null }>('SELECT chore FROM attempts WHERE id = ?', id);
    const chore = row?.chore ?? null;
    if (posted === null) return chore;
    const insert = `INSERT OR IGNORE INTO comments (id, owner, repo, number, chore, ordered_at, due_at, app)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)`;
    const { owner, name } = repository;
    this.#sql.exec(insert, posted.id, owner, name, number, chore, now, posted.app ?? null);
    this.forget(attempt);
    return chore;
  }

  /** Lists where the comments are, the newest first. */
  newest(): PostedOn[] {
    const query = `SELECT id, owner, repo AS name, number FROM comments
      WHERE number IS NOT NULL AND chore IS NOT 'delete' ORDER BY id DESC LIMIT ${MOST_SHOWN}`;
    return [...this.#sql.exec<Row<PostedOn>>(query)].map((row) => placed<PostedOn>(row));
  }

  /** Orders an action for all comments, including those that are being posted. */
  order(kind: ChoreKind, now: number): void {
    this.#sql.exec('UPDATE comments SET chore = ?, ordered_at = ?, due_at = ?, failures = 0', kind, now, now);
    this.#sql.exec('UPDATE attempts SET chore = ?', kind);
  }

  /**
   * Cancels what is pending, and orders the opposite of what was carried out. Answers the number of
   * comments that are restored.
   */
  restore(now: number): number {
    this.#sql.exec('UPDATE attempts SET chore = NULL WHERE chore IS NOT NULL');
    this.#sql.exec('UPDATE comments SET chore = NULL WHERE chore IS NOT NULL');
    const order = `UPDATE comments SET chore = 'restore', ordered_at = ?1, due_at = ?1, failures = 0
      WHERE karma IS NOT NULL RETURNING id`;
    return this.#sql.exec(order, now).toArray().length;
  }

  extent(): { comments: number; repository: string | null } {
    const query = "SELECT count(*) AS comments, min(owner || '/' || repo) AS repository FROM comments";
    return this.#sql.exec<{ comments: number; repository: string | null }>(query).one();
  }

  /** Answers whether there is no comment, and none that may exist. */
  isEmpty(): boolean {
    const some = 'SELECT id FROM comments UNION ALL SELECT id FROM attempts LIMIT 1';
    return this.#sql.exec(some).toArray().length === 0;
  }

  /** Finds the moment when something is due next; null: nothing is. */
  nextDueAt(): number | null {
    return earliest(this.#chores.nextDueAt(), this.#attempts.nextDueAt());
  }

  /**
   * Lists the attempts that have ended without an answer. If the clock has jumped, one may still
   * run: its comment is recorded twice then, which changes nothing.
   */
  dueAttempts(now: number): CommentAttempt[] {
    return this.#attempts.due(now).map((row) => placed<CommentAttempt>(row));
  }

  /** Lists the oldest comments with an action that is due, in order. */
  dueChores(now: number): Chore[] {
    return this.#chores.due(now, CHORES_PER_RUN).map((row) => placed<Chore>(row));
  }

  /**
   * Finds the comment that an attempt has posted; null: there is none (yet).
   * @throws HostError
   */
  async find(
    host: ThreadHost,
    attempt: CommentAttempt,
    isIt: (text: string) => boolean,
  ): Promise<CommentWithText | null> {
    const [found = null] = await this.#lost(host, attempt, isIt);
    return found;
  }

  /** Lists the comments since an attempt began that belong to no attempt that has ended. */
  async #lost(
    host: ThreadHost,
    { repository, number, startedAt }: CommentAttempt,
    isIt: (text: string) => boolean,
  ): Promise<CommentWithText[]> {
    const own = await host.ownComments(repository, number, startedAt - CLOCK_SKEW_MS);
    const isKnown = (id: number): boolean =>
      this.#sql.exec('SELECT 1 FROM comments WHERE id = ?', id).toArray().length > 0;
    return own.filter(({ id, text }) => isIt(text) && !isKnown(id));
  }

  #isOurs(text: string): boolean {
    return shownKarma(text, this.#hash) !== null;
  }

  /**
   * Looks for what ended without an answer, due or not. What the host does not show may still come.
   * Never rejects.
   */
  async findOpen(host: ThreadHost, onFound: OnFound): Promise<void> {
    const rows = this.#sql.exec<Row<CommentAttempt>>(`SELECT ${ATTEMPT} FROM attempts ORDER BY id`).toArray();
    const open = rows.map((row) => placed<CommentAttempt>(row));
    const [oldest] = open;
    if (oldest === undefined) return;
    const looking = this.#lost(host, oldest, (text) => this.#isOurs(text));
    const lost = await within(FINDING_MS, looking).catch(() => []);
    for (const [index, attempt] of open.entries()) {
      const found = lost[index];
      // Without the guard, the alarm settles it.
      if (found !== undefined) await succeeds(onFound(attempt, found));
    }
  }

  /** Does what is due. What fails is tried again later. */
  async doDue(host: ThreadHost, onFound: OnFound): Promise<void> {
    for (const attempt of this.dueAttempts(Date.now())) {
      if (!(await this.#search(host, attempt, onFound))) return;
    }
    const chores = this.dueChores(Date.now());
    const left = new Set<string>();
    for (const chore of chores) {
      const name = fullName(chore.repository);
      const next = left.has(name) ? 'all' : await this.#carryOut(host, chore);
      if (next === 'none') return;
      if (next === 'others') left.add(name);
    }
    if (chores.length === CHORES_PER_RUN) this.#postpone(Date.now() + RUN_PAUSE_MS, null);
  }

  /**
   * Searches for the comment of an attempt. False: the host wants no requests now. If only the
   * guard does not answer, or the App has a problem there, the host may be asked for others.
   */
  async #search(host: ThreadHost, attempt: CommentAttempt, onFound: OnFound): Promise<boolean> {
    try {
      const found = await this.find(host, attempt, (text) => this.#isOurs(text));
      if (found === null) this.forget(attempt);
      else await onFound(attempt, found);
      return true;
    } catch (error) {
      const { lasts, retryAfterMs, isLocal = false } = hostFailureOf(error);
      const now = Date.now();
      if (now - attempt.startedAt > lifeOf(error)) this.forget(attempt);
      else this.#attempts.later(attempt.id, attempt.failures, now);
      if (lasts === 'until') this.#postpone(now + (retryAfterMs ?? 0), isLocal ? attempt.repository : null);
      return isLocal || lasts === 'final' || !(error instanceof HostError);
    }
  }

  /** Carries out an action. Answers for which repositories the host may be asked next. */
  async #carryOut(host: ThreadHost, chore: Chore): Promise<'all' | 'others' | 'none'> {
    const { kind, repository, commentId, orderedAt, failures, app } = chore;
    try {
      let karmaBefore: number | null = null;
      if (kind === 'delete') await host.deleteComment(repository, commentId, app);
      else {
        const karma = kind === 'restore' ? (chore.karma ?? 0) : 0;
        const change = (text: string) => {
          karmaBefore = shownKarma(text, this.#hash);
          return withKarma(text, this.#hash, karma);
        };
        await host.editComment(repository, commentId, change, app);
      }
      this.#done(chore, karmaBefore);
      return 'all';
    } catch (error) {
      const { lasts, retryAfterMs, isLocal = false } = hostFailureOf(error);
      const now = Date.now();
      const dueAt = this.#chores.later(commentId, failures, now);
      if (lasts === 'final' && now - orderedAt > lifeOf(error)) this.#done(chore, null);
      // A problem of this comment only: its thread may be locked, or its repository archived.
      if (lasts === 'final' && !isMissing(error)) return 'all';
      const isOfOne = isLocal || lasts === 'final';
      this.#postpone(Math.max(dueAt, now + (retryAfterMs ?? 0)), isOfOne ? repository : null);
      return isOfOne ? 'others' : 'none';
    }
  }

  /**
   * Notes that an action was carried out. What was ordered meanwhile stays, and what a pardon has
   * cancelled is undone.
   * @param karmaBefore the karma that was shown before a reset
   */
  #done({ kind, commentId }: Chore, karmaBefore: number | null): void {
    if (kind === 'delete') {
      this.#sql.exec('DELETE FROM comments WHERE id = ?', commentId);
    } else if (kind === 'restore') {
      const done = 'UPDATE comments SET chore = NULL, karma = NULL WHERE id = ? AND chore = ?';
      this.#sql.exec(done, commentId, kind);
    } else {
      this.#sql.exec(
        `UPDATE comments SET karma = coalesce(nullif(?1, 0), karma), chore = CASE
           WHEN chore = 'reset' THEN NULL
           WHEN chore IS NULL AND coalesce(nullif(?1, 0), karma) IS NOT NULL THEN 'restore'
           ELSE chore END
         WHERE id = ?2`,
        karmaBefore,
        commentId,
      );
    }
  }

  /**
   * Lets nothing be due before this moment.
   * @param only the repository to which the host's answer is limited; null: it concerns all.
   */
  #postpone(until: number, only: RepositoryName | null): void {
    const where = only === null ? 'true' : 'owner = ?2 AND repo = ?3';
    const values = only === null ? [until] : [until, only.owner, only.name];
    this.#sql.exec(
      `UPDATE comments SET due_at = max(due_at, ?1) WHERE chore IS NOT NULL AND ${where}`,
      ...values,
    );
    this.#sql.exec(`UPDATE attempts SET due_at = max(due_at, ?1) WHERE ${where}`, ...values);
  }
}

const isMissing = (error: unknown): boolean => error instanceof HostError && error.code === 'missing';

/** Tells for how long to try what has failed. What is in a repository that is gone is gone, too. */
const lifeOf = (error: unknown): number => (isMissing(error) ? MISSING_LIFE_MS : CHORE_LIFE_MS);
