/**
 * The pull requests of the last two hours and the bursts among them: what a rollback closes (contract, 3.4).
 *
 * A pull request belongs to a burst if the time from the beginning of its push to its opening overlaps the burst. A
 * burst begins a minute before the detector fires, with the pushes that made it fire.
 */
import { BURST_WINDOW_MS } from '../../guard/burst-detector.ts';
import type { TrackedPullRequest } from '../../guard/tracked-pull-request.ts';

export const TRACKED_MS = 2 * 60 * 60 * 1000;

interface PullRequestRow extends Record<string, SqlStorageValue> {
  url: string;
  pr_hash: string;
  owner: string;
  repo: string;
  number: number;
  pushed_at: number;
  opened_at: number;
}

export class BurstRecord {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS pull_requests (
      url TEXT PRIMARY KEY, pr_hash TEXT NOT NULL, owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER NOT NULL,
      pushed_at INTEGER NOT NULL, opened_at INTEGER NOT NULL
    ) WITHOUT ROWID`);
    sql.exec('CREATE TABLE IF NOT EXISTS bursts (began_at INTEGER NOT NULL, ended_at INTEGER)');
  }

  /** Cost: one row. Of the same pull request, it keeps the first record. */
  opened({ url, prHash, owner, repo, number, pushedAt }: TrackedPullRequest, now: number): void {
    this.#sql.exec(
      'INSERT OR IGNORE INTO pull_requests VALUES (?, ?, ?, ?, ?, ?, ?)',
      url,
      prHash,
      owner,
      repo,
      number,
      pushedAt,
      now,
    );
  }

  /** The detector has fired. */
  burstBegan(now: number): void {
    this.#sql.exec('INSERT INTO bursts VALUES (?, NULL)', now - BURST_WINDOW_MS);
  }

  /** Ends the present burst, if there is one. */
  burstEnded(at: number): void {
    this.#sql.exec('UPDATE bursts SET ended_at = ? WHERE ended_at IS NULL', at);
  }

  /** The pull requests that a rollback must close, oldest first. */
  tracked(now: number): TrackedPullRequest[] {
    const rows = this.#sql.exec<PullRequestRow>(
      `SELECT * FROM pull_requests WHERE opened_at > ? AND EXISTS (
         SELECT 1 FROM bursts WHERE opened_at >= began_at AND (ended_at IS NULL OR pushed_at < ended_at)
       ) ORDER BY opened_at, url`,
      now - TRACKED_MS,
    );
    return rows.toArray().map(({ url, pr_hash, owner, repo, number, pushed_at }) => ({
      url,
      prHash: pr_hash,
      owner,
      repo,
      number,
      pushedAt: pushed_at,
    }));
  }

  /** These need nothing more. */
  settle(urls: readonly string[]): void {
    for (const url of urls) this.#sql.exec('DELETE FROM pull_requests WHERE url = ?', url);
  }

  /** Deletes what is too old for a rollback. Answers when the next deletion is due, or null. */
  forgetOld(now: number): number | null {
    const before = now - TRACKED_MS;
    this.#sql.exec('DELETE FROM pull_requests WHERE opened_at <= ?', before);
    this.#sql.exec('DELETE FROM bursts WHERE ended_at <= ?', before);
    const { oldest } = this.#sql
      .exec<{ oldest: number | null }>(
        `SELECT min(at) AS oldest FROM (
           SELECT opened_at AS at FROM pull_requests UNION ALL SELECT coalesce(ended_at, ?) FROM bursts
         )`,
        now,
      )
      .one();
    return oldest === null ? null : oldest + TRACKED_MS;
  }
}
