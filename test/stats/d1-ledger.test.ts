/** The ledger in D1: what it answers, and that no question scans a table, however many pull requests there are. */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import { D1Ledger } from '../../src/stats/d1-ledger.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
/** The plans and the rows read are the same for a million, which only takes ten times as long to write. */
const MANY = 100_000;

let statements: string[];
let ledger: D1Ledger;

/** The database, noting every statement that is prepared. */
function noting(db: D1Database): D1Database {
  return new Proxy(db, {
    get: (_, property) => (sql: string) => {
      expect(property).toBe('prepare');
      statements.push(sql);
      return db.prepare(sql);
    },
  });
}

async function planOf(sql: string): Promise<string[]> {
  const filled = sql.replaceAll('?', '1');
  const { results } = await bindings.DB.prepare(`EXPLAIN QUERY PLAN ${filled}`).all<{ detail: string }>();
  return results.map(({ detail }) => detail);
}

function entry(number: number, createdAt: string, repo = 'hello') {
  return { owner: 'octo', repo, prUrl: `https://host.test/octo/${repo}/pull/${number}`, createdAt };
}

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  await bindings.DB.batch(
    ['pull_requests', 'repository_totals', 'karma'].map((table) =>
      bindings.DB.prepare(`DELETE FROM ${table}`),
    ),
  );
  await bindings.DB.prepare('UPDATE totals SET pull_requests = 0, last_created_at = NULL').run();
  statements = [];
  ledger = new D1Ledger(noting(bindings.DB));
});

describe('the ledger in D1', () => {
  it('is empty at first', async () => {
    expect(await ledger.totals()).toEqual({ pullRequests: 0, lastCreatedAt: null });
    expect(await ledger.recentPullRequests(10)).toEqual([]);
    expect(await ledger.pullRequestCount('octo', 'hello')).toBe(0);
    expect(await ledger.karma('0123abcd')).toBeNull();
  });

  it('counts an entry that is delivered twice once', async () => {
    await ledger.recordPullRequest(entry(1, '2026-11-01T10:00:00.000Z'));
    await ledger.recordPullRequest(entry(1, '2026-11-01T10:00:00.000Z'));
    expect(await ledger.totals()).toEqual({ pullRequests: 1, lastCreatedAt: '2026-11-01T10:00:00.000Z' });
    expect(await ledger.pullRequestCount('octo', 'hello')).toBe(1);
  });

  it('orders by the time of opening, also what is delivered late', async () => {
    await ledger.recordPullRequest(entry(2, '2026-11-02T10:00:00.000Z'));
    await ledger.recordPullRequest(entry(3, '2026-11-03T10:00:00.000Z'));
    await ledger.recordPullRequest(entry(1, '2026-11-01T10:00:00.000Z'));
    const recent = await ledger.recentPullRequests(2);
    expect(recent.map(({ createdAt }) => createdAt)).toEqual([
      '2026-11-03T10:00:00.000Z',
      '2026-11-02T10:00:00.000Z',
    ]);
    expect(recent[0]).toEqual({ id: expect.any(Number) as number, ...entry(3, '2026-11-03T10:00:00.000Z') });
    expect((await ledger.totals()).lastCreatedAt).toBe('2026-11-03T10:00:00.000Z');
  });

  it('counts a repository by its name in any case', async () => {
    await ledger.recordPullRequest(entry(1, '2026-11-01T10:00:00.000Z', 'Hello'));
    await ledger.recordPullRequest(entry(2, '2026-11-01T10:00:00.000Z', 'hello'));
    await ledger.recordPullRequest(entry(3, '2026-11-01T10:00:00.000Z', 'other'));
    expect(await ledger.pullRequestCount('OCTO', 'HELLO')).toBe(2);
  });

  it('sets karma, and does not add to it', async () => {
    await ledger.setKarma('0123abcd', 3);
    await ledger.setKarma('0123abcd', 0);
    expect(await ledger.karma('0123abcd')).toBe(0);
  });

  it('rejects with the database error', async () => {
    await bindings.DB.prepare('DROP TABLE karma').run();
    await expect(ledger.karma('0123abcd')).rejects.toThrow(/no such table/);
    await bindings.DB.prepare(
      'CREATE TABLE karma (hash TEXT PRIMARY KEY, karma INTEGER) WITHOUT ROWID',
    ).run();
  });
});

describe(`with ${MANY} pull requests`, () => {
  it('answers every question through an index, and reads no more rows than it answers', async () => {
    await bindings.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
       INSERT INTO pull_requests (owner, repo, pr_url, created_at)
       SELECT 'octo', 'repo' || (i % 1000), 'https://host.test/' || i,
         strftime('%Y-%m-%dT%H:%M:%fZ', 1700000000 + i * 7, 'unixepoch') FROM n`,
    ).run();
    expect(await ledger.totals()).toMatchObject({ pullRequests: MANY });
    expect(await ledger.recentPullRequests(10)).toHaveLength(10);
    expect(await ledger.pullRequestCount('octo', 'repo7')).toBe(MANY / 1000);
    await ledger.karma('0123abcd');
    await ledger.recordPullRequest(entry(1, '2026-11-01T10:00:00.000Z'));
    await ledger.setKarma('0123abcd', 1);

    const plans = await Promise.all(statements.map(planOf));
    expect(plans).toEqual([
      // One row, by definition.
      ['SCAN totals'],
      // In the order of the index, and only as far as the limit: no "USE TEMP B-TREE FOR ORDER BY".
      ['SCAN pull_requests USING INDEX newest_pull_requests'],
      ['SEARCH repository_totals USING PRIMARY KEY (owner=? AND repo=?)'],
      ['SEARCH karma USING PRIMARY KEY (hash=?)'],
      [],
      [],
    ]);
    const { meta } = await bindings.DB.prepare(statements[1] ?? '')
      .bind(10)
      .all();
    expect(meta.rows_read).toBe(10);
  });
});
