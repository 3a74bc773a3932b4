/** Rows that wait in an object's tables: when they are due, and in what order. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { dueAgainAt, DueRows, isDue } from '../../src/durable/due-rows.ts';
import { Comments } from '../../src/durable/identity/comments.ts';
import { ModerationLog } from '../../src/durable/identity/moderation-log.ts';
import type { Env } from '../../src/env.ts';

const NOW = Date.UTC(2030, 0);
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The database of an object that nobody else uses. Nothing is left in it: it has no such tables in
 * the service.
 */
function withSql(use: (sql: SqlStorage) => void): Promise<void> {
  const { PULL_REQUESTS } = env as unknown as Env;
  const object = PULL_REQUESTS.get(PULL_REQUESTS.idFromName(crypto.randomUUID()));
  return runInDurableObject(object, async (_, { storage }) => {
    use(storage.sql);
    await storage.deleteAll();
  });
}

it('what waits does so twice as long after each failure, or as long as it is asked to, an hour at most', () => {
  const waits = [0, 1, 2, 20].map((failures) => dueAgainAt(failures, 0, 0));
  expect(waits).toEqual([5_000, 10_000, 20_000, HOUR_MS]);
  expect(dueAgainAt(2, 0, 0, 8_000)).toBe(8_000);
  expect([60_000, DAY_MS].map((askedMs) => dueAgainAt(0, 0, askedMs, 8_000))).toEqual([60_000, HOUR_MS]);
});

it('what waits for an hour is not due by a clock that is a second behind', () => {
  expect(isDue(dueAgainAt(20, NOW, 0), NOW - 1_000)).toBe(false);
});

it('rows that wait are due in their order, and later when they have failed', () =>
  withSql((sql) => {
    sql.exec('CREATE TABLE history (id INTEGER PRIMARY KEY, failures INTEGER DEFAULT 0, due_at INTEGER)');
    sql.exec('INSERT INTO history (id, due_at) VALUES (1, ?1), (2, ?1), (3, NULL)', NOW);
    const rows = new DueRows(sql, { table: 'history', columns: '*' });
    expect(rows.due(NOW, 1).map(({ id }) => id)).toEqual([1]);
    expect(rows.later(1, 0, NOW)).toBe(NOW + 5_000);
    expect(rows.due(NOW)).toEqual([{ id: 2, failures: 0, due_at: NOW }]);
    expect(rows.nextDueAt()).toBe(NOW);
    expect(rows.due(NOW + 5_000).map(({ id, failures }) => [id, failures])).toEqual([
      [1, 1],
      [2, 0],
    ]);
  }));

describe('after a clock was set back', () => {
  it('the chores of a pseudonym are due', () =>
    withSql((sql) => {
      const comments = new Comments(sql, 'abad1dea');
      const begin = () => comments.begin({ repository: { owner: 'o', name: 'r' }, number: 1 }, NOW);
      comments.settle(begin(), { id: 7 }, NOW);
      begin();
      comments.order('reset', NOW);
      expect(comments.dueChores(NOW - DAY_MS)).toHaveLength(1);
      expect(comments.dueAttempts(NOW - DAY_MS)).toHaveLength(1);
    }));

  it('the operator is told', () =>
    withSql((sql) => {
      const history = new ModerationLog(sql);
      const details = { state: 'flagged', reports: 1, comments: 1, repository: null } as const;
      history.add('flagged', NOW, 1, details);
      expect(history.dueNews(NOW - DAY_MS)).toHaveLength(1);
    }));
});
