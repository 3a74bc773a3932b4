/** Tables of an earlier version, which get the column that says who has written something. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { addColumn } from '../../src/durable/add-column.ts';
import { Comments } from '../../src/durable/identity/comments.ts';
import type { Env } from '../../src/env.ts';

const APP = 17;
const THREAD = { repository: { owner: 'octo', name: 'hello' }, number: 1 };

function withSql(use: (sql: SqlStorage) => void): Promise<void> {
  const { PULL_REQUESTS } = env as unknown as Env;
  const object = PULL_REQUESTS.get(PULL_REQUESTS.idFromName(crypto.randomUUID()));
  return runInDurableObject(object, async (_, { storage }) => {
    use(storage.sql);
    await storage.deleteAll();
  });
}

it('a column is added once, and is null in earlier rows', () =>
  withSql((sql) => {
    sql.exec('CREATE TABLE comments (id INTEGER PRIMARY KEY)');
    sql.exec('INSERT INTO comments VALUES (1)');
    for (let time = 0; time < 2; time++) addColumn(sql, 'comments', 'app INTEGER');
    expect(sql.exec('SELECT id, app FROM comments').toArray()).toEqual([{ id: 1, app: null }]);
  }));

it('comments of 1.0.0 are changed by the account, and the App’s by the App', () =>
  withSql((sql) => {
    sql.exec(`CREATE TABLE comments (
      id INTEGER PRIMARY KEY, owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER,
      chore TEXT, ordered_at INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0,
      failures INTEGER NOT NULL DEFAULT 0, karma INTEGER
    )`);
    sql.exec("INSERT INTO comments (id, owner, repo) VALUES (1, 'octo', 'hello')");
    const comments = new Comments(sql, 'abad1dea');
    comments.settle(comments.begin(THREAD, 0), { id: 2, app: APP }, 0);
    comments.order('delete', 0);
    expect(comments.dueChores(0).map(({ commentId, app }) => [commentId, app])).toEqual([
      [1, null],
      [2, APP],
    ]);
  }));
