/**
 * The facts of src/durable/identity/moderation.ts, in the database of a Durable Object and, once read, in its memory.
 *
 * Cost: a report writes one row, and its end deletes that row; what it leads to writes one more.
 */
import { type ModerationFacts, NO_FACTS, type Report, pruned } from './moderation.ts';

interface ReportRow extends Record<string, SqlStorageValue> {
  reporter: string;
  site: string;
  at: number;
}

interface StateRow extends Record<string, SqlStorageValue> {
  cooldown_until: number;
  is_blocked: number;
  pardoned_at: number;
}

export class SqlModeration {
  readonly #sql: SqlStorage;
  #facts: ModerationFacts | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS standing_reports (
      reporter TEXT PRIMARY KEY, site TEXT NOT NULL, at INTEGER NOT NULL
    ) WITHOUT ROWID`);
    sql.exec(`CREATE TABLE IF NOT EXISTS moderation (
      only INTEGER PRIMARY KEY CHECK (only = 1), cooldown_until INTEGER NOT NULL, is_blocked INTEGER NOT NULL,
      pardoned_at INTEGER NOT NULL
    )`);
  }

  read(): ModerationFacts {
    return (this.#facts ??= this.#load());
  }

  /** Writes down a report, and what it has led to if that is something. */
  add({ reporter, site, at }: Report, facts: ModerationFacts): void {
    // One of the same reporter that counts no more may still be there.
    this.#sql.exec('INSERT OR REPLACE INTO standing_reports VALUES (?, ?, ?)', reporter, site, at);
    const before = this.read();
    const hasChanged = before.isBlocked !== facts.isBlocked || before.cooldownUntil !== facts.cooldownUntil;
    if (hasChanged) this.writeState(facts);
    const others = before.reports.filter((report) => report.reporter !== reporter);
    this.#facts = { ...facts, reports: [...others, { reporter, site, at }] };
  }

  /** Everything but the reports. */
  writeState({ cooldownUntil, isBlocked, pardonedAt }: Omit<ModerationFacts, 'reports'>): void {
    this.#facts = { reports: this.read().reports, cooldownUntil, isBlocked, pardonedAt };
    this.#sql.exec(
      'INSERT OR REPLACE INTO moderation VALUES (1, ?, ?, ?)',
      cooldownUntil,
      isBlocked ? 1 : 0,
      pardonedAt,
    );
  }

  /** Forgets the reports that count no more. */
  prune(now: number): void {
    const facts = this.read();
    const { reports } = pruned(facts, now);
    if (reports.length === facts.reports.length) return;
    for (const { reporter } of facts.reports.filter((report) => !reports.includes(report))) {
      this.#sql.exec('DELETE FROM standing_reports WHERE reporter = ?', reporter);
    }
    this.#facts = { ...facts, reports };
  }

  #load(): ModerationFacts {
    const [state] = this.#sql.exec<StateRow>(
      'SELECT cooldown_until, is_blocked, pardoned_at FROM moderation',
    );
    return {
      reports: this.#sql
        .exec<ReportRow>('SELECT reporter, site, at FROM standing_reports ORDER BY at')
        .toArray(),
      cooldownUntil: state?.cooldown_until ?? NO_FACTS.cooldownUntil,
      isBlocked: state?.is_blocked === 1,
      pardonedAt: state?.pardoned_at ?? NO_FACTS.pardonedAt,
    };
  }
}
