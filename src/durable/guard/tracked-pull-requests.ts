/** The pull requests of the last two hours: what a rollback closes (contract, 3.4 and 4.17). */

export const TRACKED_MS = 2 * 60 * 60 * 1000;

/** What a rollback needs to know about a pull request. */
export interface TrackedPullRequest {
  readonly prHash: string;
  /** The key of the code host. */
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly url: string;
}

export class TrackedPullRequests {
  readonly #sql: SqlStorage;
  /**
   * Numbers for clients, by their keyed hash, as long as a row has them. In memory only, so that no row tells, even to a
   * holder of the key, which client opened which pull request.
   */
  readonly #clients = new Map<string, number>();
  #lastNumber: number;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS tracked (
      url TEXT PRIMARY KEY, pr_hash TEXT NOT NULL, host TEXT NOT NULL, owner TEXT NOT NULL, repo TEXT NOT NULL,
      number INTEGER NOT NULL, opened_at INTEGER NOT NULL, client INTEGER, is_settled INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID`);
    const { last } = sql.exec<{ last: number | null }>('SELECT max(client) AS last FROM tracked').one();
    this.#lastNumber = last ?? 0;
  }

  /**
   * Cost: one row. If the pull request is tracked already, the first row stays.
   * @param client as a keyed hash, which is not kept; null: nobody knows.
   */
  opened(
    { url, prHash, host, owner, repo, number }: TrackedPullRequest,
    client: string | null,
    openedAt: number,
  ): void {
    this.#sql.exec(
      `INSERT OR IGNORE INTO tracked (url, pr_hash, host, owner, repo, number, opened_at, client)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      url,
      prHash,
      host,
      owner,
      repo,
      number,
      openedAt,
      client === null ? null : this.#numberOf(client),
    );
  }

  /**
   * The pull requests that a rollback must close, oldest first.
   * @param spareSingle without those whose client has opened no other one within the two hours.
   */
  toClose(now: number, spareSingle: boolean): TrackedPullRequest[] {
    const rows = this.#sql.exec<TrackedPullRequest & Record<string, SqlStorageValue>>(
      `SELECT url, pr_hash AS prHash, host, owner, repo, number FROM tracked AS it
       WHERE opened_at > ?1 AND NOT is_settled AND (NOT ?2 OR client IS NULL OR EXISTS (
         SELECT 1 FROM tracked AS other
         WHERE other.client = it.client AND other.url <> it.url AND other.opened_at > ?1
       )) ORDER BY opened_at, url`,
      now - TRACKED_MS,
      Number(spareSingle),
    );
    return rows.toArray();
  }

  /** It needs nothing more. It still counts as opened by its client. */
  settle(url: string): void {
    this.#sql.exec('UPDATE tracked SET is_settled = 1 WHERE url = ?', url);
  }

  /** Deletes what is too old for a rollback. Answers when the next deletion is due, or null. */
  forgetOld(now: number): number | null {
    this.#sql.exec('DELETE FROM tracked WHERE opened_at <= ?', now - TRACKED_MS);
    const rows = this.#sql
      .exec<{ client: number | null; opened_at: number }>('SELECT client, opened_at FROM tracked')
      .toArray();
    const kept = new Set(rows.map(({ client }) => client));
    for (const [client, number] of this.#clients) if (!kept.has(number)) this.#clients.delete(client);
    return rows.length === 0 ? null : Math.min(...rows.map(({ opened_at }) => opened_at)) + TRACKED_MS;
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
