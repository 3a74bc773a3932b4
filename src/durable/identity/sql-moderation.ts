/** The facts of src/identity/moderation.ts, in the database of a Durable Object and, once read, in its memory. */
import { type ModerationFacts, NO_FACTS } from '../../identity/moderation.ts';

interface ReportRow extends Record<string, SqlStorageValue> {
  reporter: string;
  at: number;
}

interface StateRow extends Record<string, SqlStorageValue> {
  cooldown_until: number;
  is_blocked: number;
}

export class SqlModeration {
  readonly #sql: SqlStorage;
  #facts: ModerationFacts | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec('CREATE TABLE IF NOT EXISTS reports (reporter TEXT PRIMARY KEY, at INTEGER NOT NULL)');
    sql.exec(`CREATE TABLE IF NOT EXISTS moderation (
      only INTEGER PRIMARY KEY CHECK (only = 1), cooldown_until INTEGER NOT NULL, is_blocked INTEGER NOT NULL
    )`);
  }

  read(): ModerationFacts {
    return (this.#facts ??= this.#load());
  }

  /** Replaces the facts. Reports that are no longer among them are deleted. */
  write(facts: ModerationFacts): void {
    this.#facts = facts;
    const { reports, cooldownUntil, isBlocked } = facts;
    this.#sql.exec('INSERT OR REPLACE INTO moderation VALUES (1, ?, ?)', cooldownUntil, isBlocked ? 1 : 0);
    this.#sql.exec('DELETE FROM reports');
    for (const { reporter, at } of reports) this.#sql.exec('INSERT INTO reports VALUES (?, ?)', reporter, at);
  }

  #load(): ModerationFacts {
    const [state] = this.#sql.exec<StateRow>('SELECT cooldown_until, is_blocked FROM moderation');
    return {
      reports: this.#sql.exec<ReportRow>('SELECT reporter, at FROM reports ORDER BY at').toArray(),
      cooldownUntil: state?.cooldown_until ?? NO_FACTS.cooldownUntil,
      isBlocked: state?.is_blocked === 1,
    };
  }
}
