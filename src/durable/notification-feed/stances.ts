/**
 * Keeps what maintainers have said, by the number of the repository, and under the name that it had
 * then. The comments that were heard are kept longer than the feed reads back.
 */
import { type SaidWords, type Stance, type StanceMemory, WHOLE } from '../../events/hear.ts';
import type { NumberedRepository } from '../../host/code-host.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';

const HEARD_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

/** A repository in which stop stands. */
export interface Stopped {
  readonly name: string;
  readonly at: number;
}

export class SqlStances implements StanceMemory {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS stances (
      repository INTEGER NOT NULL, thread INTEGER NOT NULL, name TEXT NOT NULL COLLATE NOCASE,
      word TEXT NOT NULL, at INTEGER NOT NULL, said_by INTEGER NOT NULL, since INTEGER NOT NULL,
      PRIMARY KEY (repository, thread)
    ) WITHOUT ROWID`);
    sql.exec('CREATE INDEX IF NOT EXISTS stances_by_name ON stances (name)');
    sql.exec('CREATE TABLE IF NOT EXISTS heard (remark TEXT PRIMARY KEY, at INTEGER NOT NULL)');
    sql.exec('CREATE INDEX IF NOT EXISTS heard_by_at ON heard (at)');
  }

  wasHeard(key: string): boolean {
    return this.#sql.exec('SELECT 1 FROM heard WHERE remark = ?', key).toArray().length > 0;
  }

  heard(key: string, at: number): void {
    this.#sql.exec('DELETE FROM heard WHERE at < ?', at - HEARD_LIFE_MS);
    this.#sql.exec('INSERT OR IGNORE INTO heard VALUES (?, ?)', key, at);
  }

  stance(repositoryId: number, thread: number): Stance | null {
    const question =
      'SELECT word, at, said_by AS saidBy, since FROM stances WHERE repository = ? AND thread = ?';
    const rows = this.#sql.exec<Stance & Record<string, SqlStorageValue>>(question, repositoryId, thread);
    return rows.toArray()[0] ?? null;
  }

  setStance(repository: NumberedRepository, thread: number, { word, at, saidBy, since }: Stance): void {
    const row = [repository.id, thread, fullName(repository), word, at, saidBy, since];
    this.#sql.exec('INSERT OR REPLACE INTO stances VALUES (?, ?, ?, ?, ?, ?, ?)', ...row);
  }

  /**
   * Reads what stands for a repository.
   * @param id the host's number, with which names are corrected; null: only the name is known.
   */
  said(name: RepositoryName, id: number | null): SaidWords {
    const full = fullName(name);
    if (id !== null) this.#correctNames(full, id);
    const isIt = id === null ? 'name = ?' : 'repository = ?';
    const rows = this.#sql.exec<{ thread: number; at: number }>(
      `SELECT thread, at FROM stances WHERE ${isIt} AND word <> 'welcome'`,
      id ?? full,
    );
    const standing = rows.toArray();
    const any = "SELECT 1 FROM stances WHERE word <> 'welcome' LIMIT 1";
    return {
      stoppedAt: standing.find(({ thread }) => thread === WHOLE)?.at ?? null,
      muted: standing.filter(({ thread }) => thread !== WHOLE),
      isAny: this.#sql.exec(any).toArray().length > 0,
    };
  }

  /** @param saidBy as `Stance` has it. */
  isStoppedBy(name: RepositoryName, saidBy: number): boolean {
    const question = "SELECT 1 FROM stances WHERE name = ? AND thread = ? AND word = 'stop' AND said_by = ?";
    return this.#sql.exec(question, fullName(name), WHOLE, saidBy).toArray().length > 0;
  }

  /** Notes which repository has a name now, so that no other one is taken for it. */
  #correctNames(name: string, id: number): void {
    this.#sql.exec('UPDATE stances SET name = ?1 WHERE repository = ?2 AND name <> ?1', name, id);
    this.#sql.exec("UPDATE stances SET name = '' WHERE name = ? AND repository <> ?", name, id);
  }

  /** Lists the repositories in which stop stands, the newest first. */
  stopped(most: number): readonly Stopped[] {
    const question =
      "SELECT name, at FROM stances WHERE thread = 0 AND word = 'stop' ORDER BY at DESC LIMIT ?";
    return this.#sql.exec<{ name: string; at: number }>(question, most).toArray();
  }
}
