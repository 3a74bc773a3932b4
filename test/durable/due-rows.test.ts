/** What waits in an object's tables: when it is due, and in what order. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { DueRows } from '../../src/durable/due-rows.ts';
import { History } from '../../src/durable/identity/history.ts';
import { SqlComments } from '../../src/durable/identity/sql-comments.ts';
import type { Env } from '../../src/env.ts';

const NOW = Date.UTC(2030, 0);
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** The database of an object that nobody else uses. Nothing is left in it: it has no such tables in the service. */
function withSql(use: (sql: SqlStorage) => void): Promise<void> {
  const { PULL_REQUESTS } = env as unknown as Env;
  const object = PULL_REQUESTS.get(PULL_REQUESTS.idFromName(crypto.randomUUID()));
  return runInDurableObject(object, async (_, { storage }) => {
    use(storage.sql);
    await storage.deleteAll();
  });
}

interface Row extends Record<string, SqlStorageValue> {
  id: number;
  attempts: number;
}

function newRows(sql: SqlStorage, longestMs: number): DueRows<Row> {
  sql.exec(
    'CREATE TABLE alerts (id INTEGER PRIMARY KEY, attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER)',
  );
  sql.exec('INSERT INTO alerts (id, due_at) VALUES (1, ?1), (2, ?1), (3, NULL)', NOW);
  return new DueRows<Row>(sql, { table: 'alerts', counter: 'attempts', longestMs });
}

describe('rows that wait', () => {
  it('wait twice as long after each failure, but not longer than the longest pause', () =>
    withSql((sql) => {
      const rows = newRows(sql, 8_000);
      expect([0, 1, 2].map((failures) => rows.later(1, failures, NOW) - NOW)).toEqual([5_000, 8_000, 8_000]);
      expect(rows.due(NOW).map(({ id }) => id)).toEqual([2]);
      expect(rows.due(NOW + 8_000, 1, 'attempts, id').map(({ id }) => id)).toEqual([2]);
      rows.delete(2);
      expect(rows.nextDueAt()).toBe(NOW + 8_000);
    }));

  it('wait as long as they are asked to, an hour at most', () =>
    withSql((sql) => {
      const rows = newRows(sql, 8_000);
      expect(rows.later(1, 0, NOW, 60_000)).toBe(NOW + 60_000);
      expect(rows.later(1, 1, NOW, DAY_MS)).toBe(NOW + HOUR_MS);
    }));
});

describe('after a clock was set back', () => {
  it('the chores of a pseudonym are due', () =>
    withSql((sql) => {
      const comments = new SqlComments(sql);
      const attempt = comments.begin({ repository: { owner: 'o', name: 'r' }, number: 1 }, NOW);
      comments.settle(attempt, 7, NOW);
      comments.order('reset', NOW);
      expect(comments.dueChores(NOW - DAY_MS, 10)).toHaveLength(1);
      expect(comments.dueAttempts(NOW - DAY_MS)).toHaveLength(1);
    }));

  it('the operator is told', () =>
    withSql((sql) => {
      const history = new History(sql);
      const details = { state: 'flagged', reports: 1, comments: 1, repository: null } as const;
      history.addNews(details, 1, NOW);
      expect(history.dueNews(NOW - DAY_MS)).toHaveLength(1);
    }));
});
