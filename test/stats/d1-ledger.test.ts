/** The ledger in D1: what it answers, and that no question scans a table, however many pull requests there are. */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import { D1Ledger } from '../../src/stats/d1-ledger.ts';
import { describeLedger, pullRequestEntry } from './support/ledger-behaviour.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
/** The plans and the rows read are the same for a million, which only takes ten times as long to write. */
const MANY = 100_000;

/** The database, noting every statement that is prepared. */
function noting(db: D1Database, statements: string[]): D1Database {
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

async function openEmpty(): Promise<D1Ledger> {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  await bindings.DB.batch([
    ...['pull_requests', 'repository_totals', 'karma'].map((table) =>
      bindings.DB.prepare(`DELETE FROM ${table}`),
    ),
    bindings.DB.prepare('UPDATE totals SET pull_requests = 0, last_created_at = NULL'),
  ]);
  return new D1Ledger(bindings.DB);
}

describeLedger('D1', openEmpty);

it('rejects with the error of the database', async () => {
  const statement = bindings.DB.prepare('SELECT 1 FROM nowhere');
  const ledger = new D1Ledger({ prepare: () => statement } as unknown as D1Database);
  await expect(ledger.totals()).rejects.toThrow(/no such table/);
});

describe(`with ${MANY} pull requests`, () => {
  it('answers every question through an index, and reads no more rows than it answers', async () => {
    await openEmpty();
    await bindings.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
       INSERT INTO pull_requests (owner, repo, pr_url, created_at)
       SELECT 'octo', 'repo' || (i % 1000), 'https://host.test/' || i,
         strftime('%Y-%m-%dT%H:%M:%fZ', 1700000000 + i * 7, 'unixepoch') FROM n`,
    ).run();
    const statements: string[] = [];
    const ledger = new D1Ledger(noting(bindings.DB, statements));
    expect(await ledger.totals()).toMatchObject({ pullRequests: MANY });
    expect(await ledger.recentPullRequests(10)).toHaveLength(10);
    expect(await ledger.pullRequestCount({ host: 'gh', owner: 'octo', repo: 'repo7' })).toBe(MANY / 1000);
    await ledger.karma('0123abcd');
    await ledger.recordPullRequest(pullRequestEntry(1, '2026-11-01T10:00:00.000Z'));
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
