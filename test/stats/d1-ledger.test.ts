/**
 * The ledger in D1: what it answers, and that no question scans a table, however many pull requests
 * there are.
 */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { d1Ledger, type Ledger } from '../../src/stats/ledger.ts';
import { runs } from '../support/runs.ts';
import { describeLedger, pullRequestEntry } from './support/ledger-behaviour.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
/** The plans and the rows read are the same for a million, which only takes longer to write. */
const MANY = 20_000;

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
  const filled = sql.replaceAll(/\?\d?/g, '1');
  const { results } = await bindings.DB.prepare(`EXPLAIN QUERY PLAN ${filled}`).all<{ detail: string }>();
  return results.map(({ detail }) => detail);
}

async function openEmpty(): Promise<Ledger> {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  for (const table of ['pull_requests', 'karma']) await bindings.DB.exec(`DELETE FROM ${table}`);
  return d1Ledger(bindings.DB);
}

describeLedger('D1', openEmpty);

it('rejects with the error of the database', async () => {
  const statement = bindings.DB.prepare('SELECT 1 FROM nowhere');
  const ledger = d1Ledger({ prepare: () => statement } as unknown as D1Database);
  await expect(ledger.totals()).rejects.toThrow(/no such table/);
});

describe(`with ${MANY} pull requests`, () => {
  it('answers every question through an index, and reads no more rows than it answers or counts', async () => {
    await openEmpty();
    await bindings.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})
       INSERT INTO pull_requests (owner, repo, pr_url, created_at)
       SELECT 'octo', 'repo' || (i % 1000), 'https://host.test/' || i,
         strftime('%Y-%m-%dT%H:%M:%fZ', 1700000000 + i * 7, 'unixepoch') FROM n`,
    ).run();
    const statements: string[] = [];
    const ledger = d1Ledger(noting(bindings.DB, statements));
    expect(await ledger.totals()).toMatchObject({ pullRequests: MANY });
    expect(await ledger.recentPullRequests(10)).toHaveLength(10);
    expect(await ledger.pullRequestCount({ host: 'gh', owner: 'octo', repo: 'repo7' })).toBe(MANY / 1000);
    await ledger.karma('0123abcd');
    await ledger.recordPullRequest(pullRequestEntry(1, '2026-11-01T10:00:00.000Z'));
    await ledger.setKarma('0123abcd', 1);

    const plans = await Promise.all(statements.map(planOf));
    expect(plans).toEqual([
      // Both in the order of the primary key, and only as far as the limit: no "USE TEMP B-TREE FOR
      // ORDER BY".
      ['SCAN pull_requests'],
      ['SCAN pull_requests'],
      [
        'SEARCH pull_requests USING COVERING INDEX pull_requests_of_a_repository (host=? AND owner=? AND repo=?)',
      ],
      ['SEARCH karma USING PRIMARY KEY (hash=?)'],
      ['SCALAR SUBQUERY 1', 'CO-ROUTINE totals', 'SCAN pull_requests', 'SCAN totals'],
      [],
    ]);
    const questions = [[], [10], ['gh', 'octo', 'repo7']];
    const read = questions.map(async (values, index) => {
      const { meta } = await bindings.DB.prepare(statements[index] ?? '')
        .bind(...values)
        .all();
      return meta.rows_read;
    });
    expect(await Promise.all(read)).toEqual([1, 10, MANY / 1000 + 1]);
  });

  it('writes two rows for the newest, and reads next to nothing', async () => {
    const ledger = d1Ledger(bindings.DB);
    await ledger.recordPullRequest(pullRequestEntry(2, '2026-11-02T10:00:00.000Z'));
    const run = vi.spyOn(
      Object.getPrototypeOf(bindings.DB.prepare('SELECT 1')) as D1PreparedStatement,
      'run',
    );
    await ledger.recordPullRequest(pullRequestEntry(3, '2026-11-03T10:00:00.000Z'));
    await ledger.recordPullRequest(pullRequestEntry(0, '2022-11-03T10:00:00.000Z'));
    const costs = await Promise.all(
      run.mock.results.map(async ({ value }) => ((await value) as D1Result).meta),
    );
    vi.restoreAllMocks();
    expect(costs.map((meta) => meta.rows_written)).toEqual([2, 4]);
    for (const meta of costs) expect(meta.rows_read).toBeLessThan(20);
  });
});

it('counts right in any order', exhaustive, async () => {
  // Often two in the same millisecond.
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 12 }), async (times) => {
      const ledger = await openEmpty();
      for (const [index, ms] of times.entries()) {
        const time = new Date(Date.UTC(2026, 0) + ms).toISOString();
        // Urls do not arrive in their order either.
        await ledger.recordPullRequest(pullRequestEntry((index * 5) % 12, time));
        const all = await ledger.recentPullRequests(99);
        expect(await ledger.totals()).toEqual({
          pullRequests: index + 1,
          lastCreatedAt: all[0]?.createdAt,
        });
        expect(new Set(all.map(({ id }) => id)).size).toBe(index + 1);
      }
    }),
    runs(30),
  );
});
