/**
 * Rollbacks under way, and the results of those that have ended (contract, 4.17). They run in the guard's alarm: a
 * caller that disconnects stops nothing, and after a restart the alarm continues where the last one ended.
 */
import { randomBytes } from 'node:crypto';
import { rollBack, type RollbackWorld } from './rollback.ts';
import type { TrackedPullRequest, TrackedPullRequests } from './tracked-pull-requests.ts';

/** Results are kept for callers that ask again. */
const RESULT_LIFE_MS = 10 * 60 * 1000;

/** What became of the pull requests of a rollback. */
export interface RollbackResult {
  readonly closedUrls: readonly string[];
  readonly failedUrls: readonly string[];
}

interface RollbackRow extends Record<string, SqlStorageValue> {
  id: string;
  token_hash: string | null;
  spare_single: number;
  began_at: number;
  ended_at: number | null;
}

export class Rollbacks {
  readonly #sql: SqlStorage;
  readonly #tracked: TrackedPullRequests;
  #isRunning = false;
  /** Callers that wait, by the rollback's id. */
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();

  constructor(sql: SqlStorage, tracked: TrackedPullRequests) {
    this.#sql = sql;
    this.#tracked = tracked;
    sql.exec(`CREATE TABLE IF NOT EXISTS rollbacks (
      id TEXT PRIMARY KEY, token_hash TEXT, spare_single INTEGER NOT NULL, began_at INTEGER NOT NULL, ended_at INTEGER
    ) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE IF NOT EXISTS rollback_results (
      rollback TEXT NOT NULL, url TEXT NOT NULL, is_closed INTEGER NOT NULL, PRIMARY KEY (rollback, url)
    ) WITHOUT ROWID`);
  }

  /** The id of a new one, which the next `run` carries out. @param tokenHash null: it was begun by the password. */
  begin(tokenHash: string | null, spareSingle: boolean, now: number): string {
    const id = randomBytes(8).toString('hex');
    this.#sql.exec(
      'INSERT INTO rollbacks VALUES (?, ?, ?, ?, NULL)',
      id,
      tokenHash,
      Number(spareSingle),
      now,
    );
    return id;
  }

  /** The id of the one that this credential has begun and that has not ended; null if there is none. */
  runningOf(tokenHash: string | null, spareSingle: boolean): string | null {
    const running = this.#waiting().find(
      (row) => row.token_hash === tokenHash && row.spare_single === Number(spareSingle),
    );
    return running?.id ?? null;
  }

  /** Whether one waits for an alarm. */
  get isWaiting(): boolean {
    return !this.#isRunning && this.#waiting().length > 0;
  }

  /**
   * Carries out those that have not ended, also those that begin meanwhile, one after the other.
   * @param onIncomplete called with the token of each that could not close everything.
   */
  async run(
    world: RollbackWorld,
    now: () => number,
    onIncomplete: (tokenHash: string) => void,
  ): Promise<void> {
    this.#isRunning = true;
    try {
      for (let [row] = this.#waiting(); row !== undefined; [row] = this.#waiting()) {
        await this.#carryOut(row, world, now, onIncomplete);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Resolves when it has ended; null if there is none with this id, or none any more. */
  async result(id: string): Promise<RollbackResult | null> {
    const row = this.#sql.exec<RollbackRow>('SELECT * FROM rollbacks WHERE id = ?', id).toArray()[0];
    if (row === undefined) return null;
    if (row.ended_at === null) {
      const end = this.#ends.get(id) ?? Promise.withResolvers<void>();
      this.#ends.set(id, end);
      await end.promise;
    }
    return { closedUrls: this.#urls(id, true), failedUrls: this.#urls(id, false) };
  }

  /** Answers when the next result is deleted, or null. */
  forgetOld(now: number): number | null {
    this.#sql.exec('DELETE FROM rollbacks WHERE ended_at <= ?', now - RESULT_LIFE_MS);
    this.#sql.exec('DELETE FROM rollback_results WHERE rollback NOT IN (SELECT id FROM rollbacks)');
    const { oldest } = this.#sql
      .exec<{ oldest: number | null }>('SELECT min(coalesce(ended_at, began_at)) AS oldest FROM rollbacks')
      .one();
    return oldest === null ? null : oldest + RESULT_LIFE_MS;
  }

  async #carryOut(
    row: RollbackRow,
    world: RollbackWorld,
    now: () => number,
    onIncomplete: (tokenHash: string) => void,
  ): Promise<void> {
    const pullRequests = this.#tracked.toClose(now(), row.spare_single === 1);
    const report = await rollBack(this.#recording(row.id, world), pullRequests);
    for (const { url } of report.failed) this.#record(row.id, url, false);
    this.#sql.exec('UPDATE rollbacks SET ended_at = ? WHERE id = ?', now(), row.id);
    if (report.failed.length > 0 && row.token_hash !== null) onIncomplete(row.token_hash);
    this.#ends.get(row.id)?.resolve();
    this.#ends.delete(row.id);
  }

  /** Notes each pull request as soon as it is closed. One that is closed without its subscriber told stays tracked. */
  #recording(id: string, world: RollbackWorld): RollbackWorld {
    return {
      close: async (pullRequest) => {
        const closed = await world.close(pullRequest);
        this.#record(id, pullRequest.url, true);
        return closed;
      },
      tell: async (pullRequest, closed) => {
        await world.tell(pullRequest, closed);
        this.#tracked.settle(pullRequest.url);
      },
    };
  }

  #record(id: string, url: TrackedPullRequest['url'], isClosed: boolean): void {
    this.#sql.exec('INSERT OR REPLACE INTO rollback_results VALUES (?, ?, ?)', id, url, Number(isClosed));
  }

  #waiting(): RollbackRow[] {
    return this.#sql
      .exec<RollbackRow>('SELECT * FROM rollbacks WHERE ended_at IS NULL ORDER BY began_at')
      .toArray();
  }

  #urls(id: string, isClosed: boolean): string[] {
    const rows = this.#sql.exec<{ url: string }>(
      'SELECT url FROM rollback_results WHERE rollback = ? AND is_closed = ? ORDER BY url',
      id,
      Number(isClosed),
    );
    return rows.toArray().map(({ url }) => url);
  }
}
