/**
 * Keeps where maintainers have installed which App, and when the threads that it has opened there
 * were listed last: no notification tells the account of them. A service without an App has no such
 * table.
 * Proved by test/durable/notification-feed/wake.test.ts.
 */
import { fullName, parseRepositoryName, type RepositoryName } from '../../words/repository-name.ts';

/** How often a repository is looked at, if no webhook comes. */
const BETWEEN_READS_MS = 10 * 60 * 1000;
/** Bounds the calls of one run, which are one for each. */
const READ_PER_RUN = 10;

interface ReadRepository {
  readonly repository: RepositoryName;
  /** When it was read last; milliseconds since 1970. */
  readonly readAt: number;
}

export class SqlInstalled {
  readonly #sql: SqlStorage;
  #isMade = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Returns the number of the App that was seen there; null: none was. The operator may have
   * registered another one since.
   */
  appIn(name: RepositoryName): number | null {
    const question = 'SELECT app FROM installed WHERE name = ?';
    return this.#table().exec<{ app: number }>(question, fullName(name)).toArray()[0]?.app ?? null;
  }

  add(name: RepositoryName, app: number, now: number): void {
    this.#table().exec('INSERT OR REPLACE INTO installed VALUES (?, ?, ?, ?)', fullName(name), app, now, now);
  }

  delete(name: RepositoryName): void {
    this.#table().exec('DELETE FROM installed WHERE name = ?', fullName(name));
  }

  /** Lists repositories that it is time to read, the one first that was not tried for longest. */
  toRead(now: number): readonly ReadRepository[] {
    const rows = this.#table().exec<{ name: string; readAt: number }>(
      'SELECT name, read_at AS readAt FROM installed WHERE tried_at <= ? ORDER BY tried_at LIMIT ?',
      now - BETWEEN_READS_MS,
      READ_PER_RUN,
    );
    return rows.toArray().flatMap(({ name, readAt }) => {
      const [owner = '', repository = ''] = name.split('/');
      const parsed = parseRepositoryName(owner, repository);
      return parsed === null ? [] : [{ repository: parsed, readAt }];
    });
  }

  /** @param what `read`: the host has answered. */
  note(name: RepositoryName, what: 'tried' | 'read', at: number): void {
    this.#table().exec(`UPDATE installed SET ${what}_at = ? WHERE name = ?`, at, fullName(name));
  }

  #table(): SqlStorage {
    const create = `CREATE TABLE IF NOT EXISTS installed (
      name TEXT PRIMARY KEY COLLATE NOCASE, app INTEGER NOT NULL, read_at INTEGER NOT NULL,
      tried_at INTEGER NOT NULL
    )`;
    if (!this.#isMade) this.#sql.exec(create);
    this.#isMade = true;
    return this.#sql;
  }
}
