/**
 * Rollbacks, which undo what was created in the last two hours (contract, 3.4 and 4.17). Unless
 * clients with a single pull request are spared, delayed pushes of these hours are stopped first.
 * Then pull requests are closed, a few at a time, and if the operator asked for it, comments are
 * deleted and issues closed. A rollback runs in the guard's alarm, so it needs no waiting caller.
 * What could not be undone stays tracked.
 */
import type { Env } from '../../env.ts';
import { closedEvent } from '../../events/host-event.ts';
import { HostError } from '../../words/host-error.ts';
import { openRepositories, openThreads } from '../../host/open.ts';
import { systemClock } from '../../isolate/clock.ts';
import { succeeds } from '../../isolate/within.ts';
import { delayedPushesOf, pullRequestOf } from '../../objects.ts';
import type { HttpClient } from '../../outgoing/http-client.ts';
import type { LedgerRepository } from '../../stats/ledger.ts';
import { addColumn } from '../add-column.ts';
import { earliest } from '../due-rows.ts';
import { reachHost } from '../../host-access.ts';

export const TRACKED_MS = 2 * 60 * 60 * 1000;
/** A request to a Worker may have six connections open. */
const AT_ONCE = 4;

interface CreatedAt {
  /** The key of the code host. */
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  /** The number of a pull request or issue, or the id of a comment. */
  readonly number: number;
  readonly url: string;
  /** The number of the App that has written it; absent or null: the account has. */
  readonly app?: number | null;
}

/** Something that a rollback can undo. It does not tell which pseudonym has written it. */
export type Tracked = CreatedAt &
  ({ readonly kind: 'pull-request'; readonly prHash: string } | { readonly kind: 'comment' | 'issue' });

export interface RollbackScope {
  /** Whether to leave alone the pull requests of clients that opened no other one. */
  readonly spareSingle: boolean;
  readonly comments: boolean;
  readonly issues: boolean;
}

export interface RollbackResult {
  readonly closedUrls: readonly string[];
  readonly failedUrls: readonly string[];
}

/** A rollback that has not ended; `scope` is JSON. */
type RollbackRow = { id: string; tokenHash: string | null; scope: string };

export class Rollbacks {
  readonly #sql: SqlStorage;
  #isRunning = false;
  /** Results for the callers, by the rollback's id. */
  readonly #ends = new Map<string, PromiseWithResolvers<RollbackResult | null>>();
  /**
   * Numbers that stand for clients in the rows, by keyed hash. They are in memory only, so that no
   * row tells which client opened what.
   */
  readonly #clients = new Map<string, number>();
  #lastClient: number;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS created (
      url TEXT PRIMARY KEY, kind TEXT NOT NULL, pr_hash TEXT, host TEXT NOT NULL, owner TEXT NOT NULL,
      repo TEXT NOT NULL, number INTEGER NOT NULL, created_at INTEGER NOT NULL, client INTEGER,
      is_settled INTEGER NOT NULL DEFAULT 0, app INTEGER
    ) WITHOUT ROWID`);
    addColumn(sql, 'created', 'app INTEGER');
    sql.exec(
      'CREATE TABLE IF NOT EXISTS rolled_back (url TEXT PRIMARY KEY, repository TEXT NOT NULL) WITHOUT ROWID',
    );
    sql.exec('CREATE TABLE IF NOT EXISTS rollbacks (id TEXT, token_hash TEXT, scope TEXT)');
    const { last } = sql.exec<{ last: number | null }>('SELECT max(client) AS last FROM created').one();
    this.#lastClient = last ?? 0;
  }

  /**
   * Stores what was created. Cost: one row.
   * @param client a keyed hash, which is not stored; null if it is not known.
   */
  track(one: Tracked, client: string | null, createdAt: number): void {
    const prHash = one.kind === 'pull-request' ? one.prHash : null;
    const by = client === null ? null : this.#numberOf(client);
    const { url, kind, host, owner, repo, number, app = null } = one;
    const row = [url, kind, prHash, host, owner, repo, number, createdAt, by, app];
    this.#sql.exec(
      `INSERT OR IGNORE INTO created (url, kind, pr_hash, host, owner, repo, number, created_at, client, app)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...row,
    );
  }

  /**
   * Begins a rollback for the next `run`, or joins the one that the same credential has begun with
   * the same scope. Answers its id; null if `mayBegin` forbids a new one.
   */
  begin(tokenHash: string | null, what: RollbackScope, mayBegin: () => boolean): string | null {
    const scope = JSON.stringify(what);
    const waiting = this.#waiting();
    const begun = waiting.find((row) => row.tokenHash === tokenHash && row.scope === scope);
    if (begun !== undefined || !mayBegin()) return begun?.id ?? null;
    // Earlier results are forgotten: whoever asks for one now is told that it is lost.
    if (waiting.length === 0) this.#ends.clear();
    const id = crypto.randomUUID();
    this.#sql.exec('INSERT INTO rollbacks VALUES (?, ?, ?)', id, tokenHash, scope);
    this.#ends.set(id, Promise.withResolvers());
    return id;
  }

  /** Resolves when the rollback has ended; null if its result is lost. */
  async result(id: string): Promise<RollbackResult | null> {
    const isWaiting = this.#waiting().some((row) => row.id === id);
    if (isWaiting && !this.#ends.has(id)) this.#ends.set(id, Promise.withResolvers());
    return this.#ends.get(id)?.promise ?? null;
  }

  get isWaiting(): boolean {
    return !this.#isRunning && this.#waiting().length > 0;
  }

  /**
   * Carries out all rollbacks that have not ended, one by one, including those that begin
   * meanwhile. Rejects if the disk takes no end of one: the platform then repeats the alarm.
   * @param onIncomplete gets the token of each rollback that could not undo everything.
   */
  async run(env: Env, onIncomplete: (tokenHash: string) => void): Promise<void> {
    this.#isRunning = true;
    try {
      for (let [row] = this.#waiting(); row !== undefined; [row] = this.#waiting()) {
        const { id, tokenHash } = row;
        const scope = JSON.parse(row.scope) as RollbackScope;
        // Stops delayed pushes; the operator's request, if it still runs, also removes those that
        // are half public. The rollback of a flood of comments leaves them alone.
        if (!scope.spareSingle) await succeeds(delayedPushesOf(env).stopSince(Date.now() - TRACKED_MS));
        const all = this.#toUndo(scope, Date.now());
        const by: ReachedBy = { http: null };
        const undo = undoAtHost(env, by, (one) => this.#noteClosed(one));
        // The row stays, because it still counts for its client. One whose subscriber could not be
        // told is not settled, so that the next rollback tells it.
        const undone = async (one: Tracked): Promise<void> => {
          if (await undo(one)) this.#sql.exec('UPDATE created SET is_settled = 1 WHERE url = ?', one.url);
        };
        const failed = new Set(await undoAll(all, undone));
        by.http?.closeIdle();
        this.#sql.exec('DELETE FROM rollbacks WHERE id = ?', id);
        if (failed.size > 0 && tokenHash !== null) onIncomplete(tokenHash);
        const urls = (isFailed: boolean): string[] =>
          all.filter((one) => failed.has(one) === isFailed).map(({ url }) => url);
        this.#ends.get(id)?.resolve({ closedUrls: urls(false), failedUrls: urls(true) });
      }
    } finally {
      this.#isRunning = false;
      for (const { id } of this.#waiting()) {
        this.#ends.get(id)?.resolve(null);
        this.#ends.delete(id);
      }
    }
  }

  /** Counts the pull requests of a repository that were ever rolled back. */
  closedIn(of: LedgerRepository): number {
    const question = 'SELECT count(*) AS count FROM rolled_back WHERE repository = ?';
    return this.#sql.exec<{ count: number }>(question, repositoryId(of)).one().count;
  }

  #noteClosed(one: Tracked): void {
    this.#sql.exec('INSERT OR IGNORE INTO rolled_back VALUES (?, ?)', one.url, repositoryId(one));
  }

  /** Deletes what is too old for a rollback. Answers when the next deletion is due; null: never. */
  forgetOld(now: number): number | null {
    this.#sql.exec('DELETE FROM created WHERE created_at <= ?', now - TRACKED_MS);
    const rows = this.#sql
      .exec<{ client: number | null; at: number }>('SELECT client, created_at AS at FROM created')
      .toArray();
    const kept = new Set(rows.map(({ client }) => client));
    for (const [client, number] of this.#clients) if (!kept.has(number)) this.#clients.delete(client);
    return earliest(...rows.map(({ at }) => at + TRACKED_MS));
  }

  /** Selects what to undo: pull requests before comments and issues, each oldest first. */
  #toUndo({ spareSingle, comments, issues }: RollbackScope, now: number): Tracked[] {
    const rows = this.#sql.exec<Tracked & Record<string, SqlStorageValue>>(
      `SELECT url, kind, pr_hash AS prHash, host, owner, repo, number, app FROM created AS it
       WHERE created_at > ?1 AND NOT is_settled AND CASE kind WHEN 'comment' THEN ?2 WHEN 'issue' THEN ?3
         ELSE NOT ?4 OR client IS NULL OR EXISTS (
           SELECT 1 FROM created AS other
           WHERE other.client = it.client AND other.url <> it.url AND other.created_at > ?1
         ) END
       ORDER BY kind <> 'pull-request', created_at, url`,
      now - TRACKED_MS,
      ...[comments, issues, spareSingle].map(Number),
    );
    return rows.toArray();
  }

  #waiting(): RollbackRow[] {
    const query = 'SELECT id, token_hash AS tokenHash, scope FROM rollbacks ORDER BY rowid';
    return this.#sql.exec<RollbackRow>(query).toArray();
  }

  #numberOf(client: string): number {
    const number = this.#clients.get(client) ?? ++this.#lastClient;
    this.#clients.set(client, number);
    return number;
  }
}

const repositoryId = ({ host, owner, repo }: LedgerRepository): string =>
  `${host}/${owner}/${repo}`.toLowerCase();

/** Undoes all, a few at a time. Answers those that have failed, and never rejects. */
export async function undoAll<T extends CreatedAt>(all: T[], undo: (one: T) => Promise<void>): Promise<T[]> {
  const [waiting, failed, limited] = [[...all], [] as T[], new Set<string>()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        // Further requests would only prolong the host's rate limit.
        if (limited.has(next.host)) failed.push(next);
        else await undo(next);
      } catch (error) {
        failed.push(next);
        const isLimit = error instanceof HostError && error.code === 'rate-limited';
        if (isLimit && error.failure.isLocal !== true) limited.add(next.host);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

/** The HTTP client of one rollback, made for its first request. */
type ReachedBy = { http: HttpClient | null };

/**
 * Makes the function that undoes one at its code host, and answers whether nothing is left to do:
 * false if its subscribers could not be told. Rejects if the configuration is invalid or the host
 * refuses.
 * @param onClosed gets each pull request that is closed.
 */
export function undoAtHost(
  env: Env,
  by: ReachedBy,
  onClosed: (one: Tracked) => void,
): (one: Tracked) => Promise<boolean> {
  return async (one) => {
    const reached = reachHost(env, one.host, by.http);
    if (reached === null) throw new Error('the configuration does not name this host');
    by.http = reached.http;
    const [repository, { number, url, app = null }] = [{ owner: one.owner, name: one.repo }, one];
    if (one.kind === 'pull-request') {
      const closed = await openRepositories(reached.access).closePullRequest(repository, number, app);
      // The notifications feed reports merges, but never what the bot itself closes.
      if (closed.kind === 'merged') return true;
      onClosed(one);
      if (closed.at === null) return true;
      const event = closedEvent(number, closed.at, url);
      return succeeds(pullRequestOf(env, one.prHash).tell(one.host, [event], systemClock.now()));
    }
    const threads = openThreads(reached.access);
    await (one.kind === 'comment'
      ? threads.deleteComment(repository, number, app)
      : threads.closeIssue(repository, number, app));
    return true;
  };
}
