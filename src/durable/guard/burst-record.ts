/**
 * The pull requests of the last two hours and the bursts among them: what a rollback closes (contract, 3.4).
 *
 * A pull request belongs to a burst if the time from the beginning of its push to its opening overlaps the burst. A
 * burst begins a minute before the detector fires, with the pushes that made it fire.
 */
import { MAIN_HOST } from '../../config/hosts.ts';
import { BURST_WINDOW_MS } from './burst-detector.ts';
import type { TrackedPullRequest } from './tracked-pull-request.ts';

export const TRACKED_MS = 2 * 60 * 60 * 1000;

interface PullRequestRow extends Record<string, SqlStorageValue> {
  url: string;
  pr_hash: string;
  host: string;
  owner: string;
  repo: string;
  number: number;
  pushed_at: number;
  opened_at: number;
}

/** Columns that the table did not have at first. */
const NEW_COLUMNS = {
  client: 'INTEGER',
  is_settled: 'INTEGER NOT NULL DEFAULT 0',
  host: `TEXT NOT NULL DEFAULT '${MAIN_HOST}'`,
} as const;

export class BurstRecord {
  readonly #sql: SqlStorage;
  /**
   * Numbers for clients, by their keyed hash, as long as a record has them. In memory only, so that no record tells,
   * even to a holder of the key, which client opened which pull request.
   */
  readonly #clients = new Map<string, number>();
  #lastNumber: number;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS pull_requests (
      url TEXT PRIMARY KEY, pr_hash TEXT NOT NULL, owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER NOT NULL,
      pushed_at INTEGER NOT NULL, opened_at INTEGER NOT NULL
    ) WITHOUT ROWID`);
    const columns = sql
      .exec<{ name: string }>("SELECT name FROM pragma_table_info('pull_requests')")
      .toArray();
    for (const [name, type] of Object.entries(NEW_COLUMNS)) {
      if (!columns.some((column) => column.name === name)) {
        sql.exec(`ALTER TABLE pull_requests ADD COLUMN ${name} ${type}`);
      }
    }
    sql.exec('CREATE TABLE IF NOT EXISTS bursts (began_at INTEGER NOT NULL, ended_at INTEGER)');
    const { last } = sql.exec<{ last: number | null }>('SELECT max(client) AS last FROM pull_requests').one();
    this.#lastNumber = last ?? 0;
  }

  /**
   * Cost: one row. If the pull request is recorded already, the first record stays.
   * @param client as a keyed hash, which is not kept.
   */
  opened(
    { url, prHash, host, owner, repo, number, pushedAt }: TrackedPullRequest,
    client: string,
    now: number,
  ): void {
    this.#sql.exec(
      `INSERT OR IGNORE INTO pull_requests (url, pr_hash, host, owner, repo, number, pushed_at, opened_at, client)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      url,
      prHash,
      host,
      owner,
      repo,
      number,
      pushedAt,
      now,
      this.#numberOf(client),
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

  /**
   * The pull requests that a rollback must close, oldest first.
   * @param spareSingle without those whose client has opened no other one within the two hours.
   */
  tracked(now: number, spareSingle: boolean): TrackedPullRequest[] {
    const rows = this.#sql.exec<PullRequestRow>(
      `SELECT * FROM pull_requests AS it WHERE opened_at > ?1 AND NOT is_settled AND EXISTS (
         SELECT 1 FROM bursts WHERE opened_at >= began_at AND (ended_at IS NULL OR pushed_at < ended_at)
       ) AND (NOT ?2 OR client IS NULL OR EXISTS (
         SELECT 1 FROM pull_requests AS other
         WHERE other.client = it.client AND other.url <> it.url AND other.opened_at > ?1
       )) ORDER BY opened_at, url`,
      now - TRACKED_MS,
      Number(spareSingle),
    );
    return rows.toArray().map(({ url, pr_hash, host, owner, repo, number, pushed_at }) => ({
      url,
      prHash: pr_hash,
      host,
      owner,
      repo,
      number,
      pushedAt: pushed_at,
    }));
  }

  /** These need nothing more. They still count as opened by their clients. */
  settle(urls: readonly string[]): void {
    for (const url of urls) this.#sql.exec('UPDATE pull_requests SET is_settled = 1 WHERE url = ?', url);
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
    this.#forgetClients();
    return oldest === null ? null : oldest + TRACKED_MS;
  }

  #forgetClients(): void {
    const rows = this.#sql.exec<{ client: number | null }>('SELECT DISTINCT client FROM pull_requests');
    const kept = new Set(rows.toArray().map(({ client }) => client));
    for (const [client, number] of this.#clients) if (!kept.has(number)) this.#clients.delete(client);
  }

  /** After a restart, every client gets a new number. */
  #numberOf(client: string): number {
    const known = this.#clients.get(client);
    if (known !== undefined) return known;
    const number = ++this.#lastNumber;
    this.#clients.set(client, number);
    return number;
  }
}
