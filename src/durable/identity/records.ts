/** Everything an identity keeps, in the database of its Durable Object. */
import type { Ledger } from '../../stats/ledger.ts';
import { History } from './history.ts';
import { Karma } from './karma.ts';
import { SqlComments } from './sql-comments.ts';
import { SqlModeration } from './sql-moderation.ts';

export interface Records {
  readonly hash: string;
  readonly moderation: SqlModeration;
  readonly comments: SqlComments;
  readonly karma: Karma;
  readonly history: History;
}

/** False until something has been written: a question about an unused hash must not leave a database behind. */
export function hasRecords(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'pseudonym'").toArray().length > 0;
}

/**
 * Whether the records have no more effect than none at all. Anyone can report any hash, and this must not leave a
 * database behind forever either.
 */
export function isNobody({ moderation, comments, karma, history }: Records): boolean {
  const { reports, isBlocked } = moderation.read();
  return reports.length === 0 && !isBlocked && comments.isEmpty() && karma.isNothing() && history.isEmpty();
}

/**
 * Makes the tables if there are none.
 * @param name the object's, if the platform knows it. Not every platform does when an alarm goes off.
 */
export function openRecords(sql: SqlStorage, name: string | undefined, ledger: () => Ledger): Records {
  sql.exec(
    'CREATE TABLE IF NOT EXISTS pseudonym (only INTEGER PRIMARY KEY CHECK (only = 1), hash TEXT NOT NULL)',
  );
  if (name !== undefined) sql.exec('INSERT OR IGNORE INTO pseudonym VALUES (1, ?)', name);
  const { hash } = sql.exec<{ hash: string }>('SELECT hash FROM pseudonym').one();
  return {
    hash,
    moderation: new SqlModeration(sql),
    comments: new SqlComments(sql),
    karma: new Karma(sql, hash, ledger),
    history: new History(sql),
  };
}
