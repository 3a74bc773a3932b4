/**
 * Keeps where maintainers have installed which App, by the number of the repository, since when it
 * is missing there, and when the threads that it has opened there were listed last: no notification
 * tells the account of them. A service without an App has no such table.
 * Proved by test/durable/notification-feed/installations.test.ts.
 */
import type { NumberedRepository } from '../../host/code-host.ts';
import { fullName, parseRepositoryName, type RepositoryName } from '../../words/repository-name.ts';

/** How often a repository is looked at, if no webhook comes. */
const BETWEEN_READS_MS = 10 * 60 * 1000;
/** How long the App has to be missing before the host is asked once more, and is believed then. */
const DOUBTED_MS = 10 * 60 * 1000;
/** Bounds the calls of one run, which are one for each. */
const READ_PER_RUN = 10;

export interface Installed {
  /** The host's number of the repository. */
  readonly id: number;
  /** The number of the App. The operator may have registered another one since. */
  readonly app: number;
  /** The host's number of the App's installation. */
  readonly installation: number;
  /** When the host first said that it is missing; milliseconds since 1970; null: it is not. */
  readonly missingAt: number | null;
}

export interface ReadRepository extends NumberedRepository {
  /** When it was read last; milliseconds since 1970. */
  readonly readAt: number;
}

type NamedRow = { readonly id: number; readonly name: string };

export class SqlInstalled {
  readonly #sql: SqlStorage;
  #isMade = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns what was seen of the repository that has this name; null: no App was. */
  find(name: RepositoryName): Installed | null {
    const question =
      'SELECT id, app, installation, missing_at AS missingAt FROM installations WHERE name = ?';
    const rows = this.#table().exec<Installed & Record<string, SqlStorageValue>>(question, fullName(name));
    return rows.toArray()[0] ?? null;
  }

  /** Tells if an App was seen in the repository of this number. */
  has(id: number | null): boolean {
    return this.#table().exec('SELECT 1 FROM installations WHERE id = ?', id).toArray().length > 0;
  }

  /** Notes that an App is there. A repository that was renamed stays read up to where it was. */
  add(
    { id, ...name }: NumberedRepository,
    { app, installation }: Pick<Installed, 'app' | 'installation'>,
    now: number,
  ): void {
    this.correctNames(name, id);
    this.#table().exec(
      `INSERT INTO installations VALUES (?, ?, ?, ?, NULL, ?, ?)
       ON CONFLICT (id) DO UPDATE SET app = excluded.app, installation = excluded.installation, missing_at = NULL`,
      id,
      fullName(name),
      app,
      installation,
      now,
      now,
    );
  }

  delete(id: number): void {
    this.#table().exec('DELETE FROM installations WHERE id = ?', id);
  }

  /** @param at null: the App is there after all. */
  setMissing(id: number, at: number | null): void {
    this.#table().exec('UPDATE installations SET missing_at = ? WHERE id = ?', at, id);
  }

  /**
   * Lists where the App has been missing for so long that the next answer decides, the one first
   * that was not tried for longest.
   */
  toConfirm(now: number): readonly NumberedRepository[] {
    const question =
      "SELECT id, name FROM installations WHERE missing_at <= ? AND name <> '' ORDER BY tried_at LIMIT ?";
    return this.#named<NamedRow>(question, now - DOUBTED_MS);
  }

  /**
   * Notes which repository has a name now, so that no other one is taken for it. An installation is
   * an account's: one whose repository another account has now is none of it any more.
   */
  correctNames(name: RepositoryName, id: number): void {
    if (!this.#exists()) return;
    const full = fullName(name);
    const owner = `${name.owner}/`;
    this.#sql.exec(
      `UPDATE installations SET name = ?1, app = CASE
         WHEN name = '' OR substr(name, 1, length(?3)) = ?3 COLLATE NOCASE THEN app ELSE 0 END
       WHERE id = ?2 AND name <> ?1`,
      full,
      id,
      owner,
    );
    this.#sql.exec("UPDATE installations SET name = '' WHERE name = ? AND id <> ?", full, id);
  }

  /** Tells if a name that is not known may be the new one of a repository that is. */
  mayBeRenamed(name: RepositoryName): boolean {
    const any = () => this.#sql.exec('SELECT 1 FROM installations LIMIT 1').toArray().length > 0;
    return this.#exists() && any() && this.find(name) === null;
  }

  /** Lists repositories that it is time to read, the one first that was not tried for longest. */
  toRead(now: number): readonly ReadRepository[] {
    const question =
      "SELECT id, name, read_at AS readAt FROM installations WHERE tried_at <= ? AND name <> '' ORDER BY tried_at LIMIT ?";
    return this.#named<NamedRow & { readonly readAt: number }>(question, now - BETWEEN_READS_MS);
  }

  /** @param what `read`: the host has answered. */
  note(id: number, what: 'tried' | 'read', at: number): void {
    this.#table().exec(`UPDATE installations SET ${what}_at = ? WHERE id = ?`, at, id);
  }

  /** @param question leaves out rows whose name is another repository's now. */
  #named<Row extends NamedRow>(
    question: string,
    until: number,
  ): readonly (RepositoryName & Omit<Row, 'name'>)[] {
    const rows = this.#table().exec<Row & Record<string, SqlStorageValue>>(question, until, READ_PER_RUN);
    return rows.toArray().flatMap(({ name: full, ...row }) => {
      const [owner = '', name = ''] = full.split('/');
      const parsed = parseRepositoryName(owner, name);
      return parsed === null ? [] : [{ ...row, ...parsed }];
    });
  }

  #exists(): boolean {
    const question = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'installations'";
    this.#isMade ||= this.#sql.exec(question).toArray().length > 0;
    return this.#isMade;
  }

  #table(): SqlStorage {
    const create = `CREATE TABLE IF NOT EXISTS installations (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, app INTEGER NOT NULL, installation INTEGER NOT NULL,
      missing_at INTEGER, read_at INTEGER NOT NULL, tried_at INTEGER NOT NULL
    )`;
    const index = 'CREATE INDEX IF NOT EXISTS installations_by_name ON installations (name)';
    if (!this.#isMade) for (const statement of [create, index]) this.#sql.exec(statement);
    this.#isMade = true;
    return this.#sql;
  }
}
