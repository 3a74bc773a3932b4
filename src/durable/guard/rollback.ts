/**
 * What a rollback undoes, and how (contract, 3.4 and 4.17): whatever the service has created in the last two hours is
 * tracked. First, the delayed pushes of these hours are discarded, so that nothing follows. Then its pull requests are
 * closed, a few at a time, and if the operator says so, its comments are deleted and its issues closed.
 *
 * A rollback runs in the guard's alarm. A caller that disconnects stops nothing, and after a restart the alarm continues
 * where the last one ended. What fails stays tracked, for the next attempt.
 */
import { randomBytes } from 'node:crypto';
import { hostWithKey } from '../../config/hosts.ts';
import { configOf, openHttp } from '../../configured.ts';
import type { Env } from '../../env.ts';
import { closedEvent } from '../../events/host-event.ts';
import { HostError } from '../../host-error.ts';
import { openRepositories, openThreads } from '../../host/open.ts';
import { systemClock } from '../../isolate/clock.ts';
import { delayedPushesOf, pullRequestOf } from '../../objects.ts';
import { openHostAccess } from '../host-access.ts';

export const TRACKED_MS = 2 * 60 * 60 * 1000;
/** Results are kept for callers that ask again. */
const RESULT_LIFE_MS = 10 * 60 * 1000;
/** A request to a Worker may have six connections open. */
const AT_ONCE = 4;

/** Something at a code host. */
interface Place {
  /** The key of the code host. */
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  /** Of a comment: its id. */
  readonly number: number;
  readonly url: string;
}

/** What a rollback needs to know about a pull request. */
export interface TrackedPullRequest extends Place {
  readonly prHash: string;
}

/** The same of what was said. Nothing tells by whom. */
export interface TrackedPost extends Place {
  readonly kind: 'comment' | 'issue';
}

type Tracked = ({ readonly kind: 'pull-request' } & TrackedPullRequest) | TrackedPost;

/** What a rollback is to undo. */
export interface RollbackScope {
  /** Leave alone the pull requests of clients that opened no other one. */
  readonly spareSingle: boolean;
  readonly comments: boolean;
  readonly issues: boolean;
}

export interface RollbackResult {
  readonly closedUrls: readonly string[];
  readonly failedUrls: readonly string[];
}

interface RollbackRow extends Record<string, SqlStorageValue> {
  id: string;
  token_hash: string | null;
  /** JSON. */
  scope: string;
  began_at: number;
  ended_at: number | null;
}

/** Undoes one. Rejects with HostError. Answers how its subscriber is told of that. */
export type Undo = (one: Tracked) => Promise<() => Promise<void>>;

export class Rollbacks {
  readonly #sql: SqlStorage;
  #isRunning = false;
  /** Callers that wait, by the rollback's id. */
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();
  /**
   * Numbers for clients, by their keyed hash, as long as a row has them. In memory only, so that no row tells, even to a
   * holder of the key, which client opened which pull request. After a restart, every client gets a new number.
   */
  readonly #clients = new Map<string, number>();
  #lastClient: number;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS created (
      url TEXT PRIMARY KEY, kind TEXT NOT NULL, pr_hash TEXT, host TEXT NOT NULL, owner TEXT NOT NULL,
      repo TEXT NOT NULL, number INTEGER NOT NULL, created_at INTEGER NOT NULL, client INTEGER,
      is_settled INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE IF NOT EXISTS begun_rollbacks (
      id TEXT PRIMARY KEY, token_hash TEXT, scope TEXT NOT NULL, began_at INTEGER NOT NULL, ended_at INTEGER
    ) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE IF NOT EXISTS rollback_results (
      rollback TEXT NOT NULL, url TEXT NOT NULL, is_closed INTEGER NOT NULL, PRIMARY KEY (rollback, url)
    ) WITHOUT ROWID`);
    const { last } = sql.exec<{ last: number | null }>('SELECT max(client) AS last FROM created').one();
    this.#lastClient = last ?? 0;
  }

  /**
   * Cost: one row. What is tracked already stays as it is.
   * @param client that has opened a pull request, as a keyed hash, which is not kept; null: nobody knows.
   */
  track(one: Tracked, client: string | null, createdAt: number): void {
    this.#sql.exec(
      `INSERT OR IGNORE INTO created (url, kind, pr_hash, host, owner, repo, number, created_at, client)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      one.url,
      one.kind,
      one.kind === 'pull-request' ? one.prHash : null,
      one.host,
      one.owner,
      one.repo,
      one.number,
      createdAt,
      client === null ? null : this.#numberOf(client),
    );
  }

  /**
   * The id of a new one, which the next `run` carries out; of the one that this credential has begun, while it runs.
   * @param tokenHash null: by the password. @param mayBegin asked only for a new one; false: null is answered.
   */
  begin(
    tokenHash: string | null,
    { spareSingle, comments, issues }: RollbackScope,
    mayBegin: () => boolean,
    now: number,
  ): string | null {
    const scope = JSON.stringify({ spareSingle, comments, issues });
    const running = this.#waiting().find((row) => row.token_hash === tokenHash && row.scope === scope);
    if (running !== undefined) return running.id;
    if (!mayBegin()) return null;
    const id = randomBytes(8).toString('hex');
    this.#sql.exec('INSERT INTO begun_rollbacks VALUES (?, ?, ?, ?, NULL)', id, tokenHash, scope, now);
    return id;
  }

  /** Whether one waits for an alarm. */
  get isWaiting(): boolean {
    return !this.#isRunning && this.#waiting().length > 0;
  }

  /**
   * Carries out those that have not ended, also those that begin meanwhile, one after the other.
   * @param stop keeps what is not public yet from becoming so. Never rejects.
   * @param onIncomplete called with the token of each that could not undo everything.
   */
  async run(
    stop: () => Promise<void>,
    undo: Undo,
    now: () => number,
    onIncomplete: (tokenHash: string) => void,
  ): Promise<void> {
    this.#isRunning = true;
    try {
      for (let [row] = this.#waiting(); row !== undefined; [row] = this.#waiting()) {
        const { id, token_hash: tokenHash } = row;
        // A flood of comments is no reason to discard a push.
        if (!(JSON.parse(row.scope) as RollbackScope).spareSingle) await stop();
        const failed = await undoAll(this.#toUndo(row, now()), (one) => this.#undoOne(id, one, undo));
        for (const { url } of failed) this.#record(id, url, false);
        this.#sql.exec('UPDATE begun_rollbacks SET ended_at = ? WHERE id = ?', now(), id);
        if (failed.length > 0 && tokenHash !== null) onIncomplete(tokenHash);
        this.#ends.get(id)?.resolve();
        this.#ends.delete(id);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Resolves when it has ended; null if there is none with this id, or none any more. */
  async result(id: string): Promise<RollbackResult | null> {
    const row = this.#sql.exec<RollbackRow>('SELECT * FROM begun_rollbacks WHERE id = ?', id).toArray()[0];
    if (row === undefined) return null;
    if (row.ended_at === null) {
      const end = this.#ends.get(id) ?? Promise.withResolvers<void>();
      this.#ends.set(id, end);
      await end.promise;
    }
    return { closedUrls: this.#urls(id, true), failedUrls: this.#urls(id, false) };
  }

  /** Deletes old results, and what is too old for a rollback. Answers when the next deletion is due, or null. */
  forgetOld(now: number): number | null {
    const sql = this.#sql;
    sql.exec('DELETE FROM begun_rollbacks WHERE ended_at <= ?', now - RESULT_LIFE_MS);
    sql.exec('DELETE FROM rollback_results WHERE rollback NOT IN (SELECT id FROM begun_rollbacks)');
    sql.exec('DELETE FROM created WHERE created_at <= ?', now - TRACKED_MS);
    const clients = sql.exec<{ client: number }>('SELECT client FROM created WHERE client IS NOT NULL');
    const kept = new Set(clients.toArray().map(({ client }) => client));
    for (const [client, number] of this.#clients) if (!kept.has(number)) this.#clients.delete(client);
    return sql
      .exec<{ at: number | null }>(
        `SELECT min(at) AS at FROM (
           SELECT min(coalesce(ended_at, began_at)) + ? AS at FROM begun_rollbacks
           UNION ALL SELECT min(created_at) + ? FROM created)`,
        RESULT_LIFE_MS,
        TRACKED_MS,
      )
      .one().at;
  }

  /** Noted as soon as it is undone. One whose subscriber could not be told stays tracked: it is told next time. */
  async #undoOne(id: string, one: Tracked, undo: Undo): Promise<void> {
    const tell = await undo(one);
    this.#record(id, one.url, true);
    await tell().then(
      // A pull request still counts as opened by its client.
      () => this.#sql.exec('UPDATE created SET is_settled = 1 WHERE url = ?', one.url),
      () => {},
    );
  }

  /** The pull requests before what was said; the oldest first. */
  #toUndo({ scope }: RollbackRow, now: number): Tracked[] {
    const { spareSingle, comments, issues } = JSON.parse(scope) as RollbackScope;
    const rows = this.#sql.exec<Tracked & Record<string, SqlStorageValue>>(
      `SELECT url, kind, pr_hash AS prHash, host, owner, repo, number FROM created AS it
       WHERE created_at > ?1 AND NOT is_settled AND CASE kind WHEN 'comment' THEN ?2 WHEN 'issue' THEN ?3
         ELSE NOT ?4 OR client IS NULL OR EXISTS (
           SELECT 1 FROM created AS other
           WHERE other.client = it.client AND other.url <> it.url AND other.created_at > ?1
         ) END
       ORDER BY kind <> 'pull-request', created_at, url`,
      now - TRACKED_MS,
      Number(comments),
      Number(issues),
      Number(spareSingle),
    );
    return rows.toArray();
  }

  #record(id: string, url: string, isClosed: boolean): void {
    this.#sql.exec('INSERT OR REPLACE INTO rollback_results VALUES (?, ?, ?)', id, url, Number(isClosed));
  }

  #waiting(): RollbackRow[] {
    const rows = this.#sql.exec<RollbackRow>(
      'SELECT * FROM begun_rollbacks WHERE ended_at IS NULL ORDER BY began_at',
    );
    return rows.toArray();
  }

  #urls(id: string, isClosed: boolean): string[] {
    const rows = this.#sql.exec<{ url: string }>(
      'SELECT url FROM rollback_results WHERE rollback = ? AND is_closed = ? ORDER BY url',
      id,
      Number(isClosed),
    );
    return rows.toArray().map(({ url }) => url);
  }

  #numberOf(client: string): number {
    const number = this.#clients.get(client) ?? ++this.#lastClient;
    this.#clients.set(client, number);
    return number;
  }
}

/** A few at a time. Answers those that have failed. Never rejects. */
export async function undoAll<T extends Place>(all: T[], undo: (one: T) => Promise<void>): Promise<T[]> {
  const [waiting, failed, limited] = [[...all], [] as T[], new Set<string>()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        // Further requests would only lengthen the host's rate limit.
        if (limited.has(next.host)) failed.push(next);
        else await undo(next);
      } catch (error) {
        failed.push(next);
        if (error instanceof HostError && error.code === 'rate-limited') limited.add(next.host);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

/** What was pushed in the same hours, and is not public yet, does not become so. Never rejects. */
export async function stopDelayed(env: Env): Promise<void> {
  // The operator's request insists on the same.
  const stopping: Promise<void> = delayedPushesOf(env).stopSince(systemClock.now() - TRACKED_MS);
  await stopping.catch(() => {});
}

/** At the code host. With an invalid configuration every attempt fails. */
export function undoAtHost(env: Env): Undo {
  const result = configOf(env);
  const http = result.kind === 'invalid' ? null : openHttp(result.config);
  return async (one) => {
    const host = result.kind === 'invalid' ? undefined : hostWithKey(result.config, one.host);
    if (result.kind === 'invalid' || http === null || host === undefined)
      throw new Error('the configuration does not name this host');
    const access = openHostAccess(env, result.config, host, http);
    const [repository, { number, url }] = [{ owner: one.owner, name: one.repo }, one];
    if (one.kind === 'pull-request') {
      const closed = await openRepositories(access).closePullRequest(repository, number);
      return async () => {
        // The notifications feed reports merges, but never what the bot itself closes.
        if (closed.kind === 'merged' || closed.at === null) return;
        const event = closedEvent(number, closed.at, url);
        await pullRequestOf(env, one.prHash).tell(one.host, [event], systemClock.now());
      };
    }
    const threads = openThreads(access);
    await (one.kind === 'comment'
      ? threads.deleteComment(repository, number)
      : threads.closeIssue(repository, number));
    return async () => {};
  };
}
