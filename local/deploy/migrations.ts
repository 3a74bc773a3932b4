/**
 * Brings a local database up to date.
 *
 * Uses the same table as `wrangler d1 migrations apply` (d1_migrations), so that either may
 * continue where the other stopped. A migration and its entry are one transaction: after a crash,
 * both exist or neither.
 */
import type { D1Database } from '@cloudflare/workers-types';

export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

const BOOK = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/**
 * Splits a migration into its statements. A statement ends with a semicolon at the end of a line, a
 * trigger with the line `END;`. A test compares the result with wrangler's.
 */
export function statementsOf(sql: string): string[] {
  const statements = sql.replaceAll(/^--.*$/gm, '').matchAll(/^(?:CREATE TRIGGER[^]*?^END|\S[^]*?);$/gm);
  return [...statements].map(([statement]) => statement);
}

/** Applies new migrations in order. Rejects with the database's error. */
export async function applyMigrations(db: D1Database, migrations: readonly Migration[]): Promise<void> {
  await db.prepare(BOOK).run();
  const { results } = await db.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  for (const { name, statements } of migrations) {
    if (applied.has(name)) continue;
    const entry = db.prepare('INSERT INTO d1_migrations(name) VALUES (?)').bind(name);
    await db.batch([...statements.map((statement) => db.prepare(statement)), entry]);
  }
}
