/**
 * A hosted database: the ledger in it, what its key may and may not do, and its failures; and the
 * service that has one. All in one file, because PostgreSQL takes seconds to start.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PostgrestClient } from '@supabase/postgrest-js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { pullRequestCountBadge } from '../../../src/badges/badge.ts';
import { hostedLedger } from '../../../src/stats/hosted-ledger.ts';
import type { Ledger } from '../../../src/stats/ledger.ts';
import { describeLedger, pullRequestEntry } from '../../stats/support/ledger-behaviour.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { HostedDatabase, PUBLIC_KEY, SECRET_KEY } from '../support/postgrest.ts';
import { comment, speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/hosted-database.md');

let database: HostedDatabase;
const env: Record<string, string> = { DB_KEY: PUBLIC_KEY };

beforeAll(async () => {
  database = await HostedDatabase.start();
  env['DB_URL'] = database.url;
});
const bed = useOwnTestBed({ env });
afterEach(() => {
  database.trouble = null;
  vi.restoreAllMocks();
});
afterAll(() => database.stop());

async function openEmpty(key: string): Promise<Ledger> {
  await database.empty();
  return hostedLedger({ url: database.url, key }, { fetch });
}

describeLedger('a hosted database, by its public key', () => openEmpty(PUBLIC_KEY));
describeLedger('a hosted database, by its secret key', () => openEmpty(SECRET_KEY));

describe('the public key of the hosted database', exhaustive, () => {
  it('cannot list karma', async () => {
    const headers = { apikey: PUBLIC_KEY, Authorization: `Bearer ${PUBLIC_KEY}` };
    const client = new PostgrestClient(`${database.url}/rest/v1`, { headers });
    const { error } = await client.from('karma').select('hash').limit(10);
    expect(error?.code).toBe('42501');
  });

  it.each([
    ["insert into pull_requests (owner, repo, pr_url, created_at) values ('a', 'b', 'https://c', now())"],
    ["update pull_requests set pr_url = 'https://evil.example'"],
    ['delete from pull_requests'],
    ['truncate pull_requests'],
    ['update totals set pull_requests = 0'],
    ['delete from repository_totals'],
    ["insert into karma values ('0123abcd', 1)"],
    ['select * from karma'],
    ['drop table totals'],
    ['select count_pull_request()'],
  ])('may not: %s', async (sql) => {
    for (const role of ['anon', 'authenticated']) {
      const attempt = database.pg.transaction(async (transaction) => {
        await transaction.query(`set local role ${role}`);
        await transaction.query(sql);
      });
      await expect(attempt).rejects.toThrow(/permission denied|must be owner|trigger functions/);
    }
  });

  it('finds rows closed also when someone grants it the tables by mistake', async () => {
    const ledger = await openEmpty(PUBLIC_KEY);
    await ledger.recordPullRequest(pullRequestEntry(1, '2026-11-01T10:00:00.000Z'));
    await ledger.setKarma('0123abcd', 3);
    await database.pg.transaction(async (transaction) => {
      await transaction.exec('grant all on all tables in schema public to anon; set local role anon');
      expect((await transaction.query('select * from pull_requests')).rows).toHaveLength(1);
      expect((await transaction.query('select * from karma')).rows).toEqual([]);
      expect((await transaction.query('update karma set karma = 9')).affectedRows).toBe(0);
      expect((await transaction.query('delete from pull_requests')).affectedRows).toBe(0);
      const insertion = transaction.query("insert into karma values ('89abcdef', 1)");
      await expect(insertion).rejects.toThrow(/row-level security/);
      await transaction.rollback();
    });
  });

  it.each([
    [{ owner: 'a b' }],
    [{ owner: '' }],
    [{ repo: '../..' }],
    [{ prUrl: 'javascript:alert(1)' }],
    [{ prUrl: `https://host.test/${'x'.repeat(600)}` }],
    [{ createdAt: 'yesterday, perhaps' }],
  ])('writes down no entry with %o', async (wrong) => {
    const ledger = await openEmpty(PUBLIC_KEY);
    const entry = { ...pullRequestEntry(1, '2026-11-01T10:00:00.000Z'), ...wrong };
    await expect(ledger.recordPullRequest(entry)).rejects.toThrow();
    expect(await ledger.totals()).toMatchObject({ pullRequests: 0 });
  });

  it('sets no karma of what is no hash, and none below zero', async () => {
    const ledger = await openEmpty(PUBLIC_KEY);
    await expect(ledger.setKarma('0123', 1)).rejects.toThrow();
    await expect(ledger.setKarma('0123abcd', -1)).rejects.toThrow();
  });

  it('cannot make an entry of the future, which would stay the newest', async () => {
    const ledger = await openEmpty(PUBLIC_KEY);
    await ledger.recordPullRequest(pullRequestEntry(1, '2999-01-01T00:00:00.000Z'));
    expect(Date.parse((await ledger.totals()).lastCreatedAt ?? '')).toBeLessThanOrEqual(Date.now());
  });
});

describe('every question to the hosted database', exhaustive, () => {
  it('is answered through an index', async () => {
    const ledger = await openEmpty(PUBLIC_KEY);
    await database.pg.exec(`
      insert into public.pull_requests (owner, repo, pr_url, created_at)
        select 'octo', 'repo' || i % 500, 'https://host.test/' || i, '2026-01-01'::timestamptz + i * interval '1 second'
        from generate_series(1, 2000) i;
      insert into public.karma select lpad(to_hex(i), 8, '0'), 1 from generate_series(1, 2000) i;
      analyze`);
    expect(await ledger.recentPullRequests(10)).toHaveLength(10);
    const plans = await Promise.all(
      [
        'select * from pull_requests order by created_at desc, id desc limit 10',
        "select * from repository_totals where owner = 'octo' and repo = 'repo7' limit 1",
        "select karma from karma where hash = '00000001'",
      ].map((sql) => database.pg.query<{ 'QUERY PLAN': string }>(`explain ${sql}`)),
    );
    for (const { rows } of plans) {
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(/Index Scan|Index Only Scan|Bitmap Index Scan/);
      expect(plan).not.toContain('Seq Scan');
    }
  });
});

describe('a hosted database in trouble', exhaustive, () => {
  it.each(['refuse', 'html', 'redirect'] as const)(
    'makes every call reject, after one attempt: %s',
    async (trouble) => {
      const ledger = hostedLedger({ url: database.url, key: PUBLIC_KEY }, { fetch });
      database.trouble = trouble;
      database.requests.length = 0;
      await expect(ledger.totals()).rejects.toThrow();
      await expect(ledger.karma('0123abcd')).rejects.toThrow();
      await expect(
        ledger.recordPullRequest(pullRequestEntry(1, '2026-11-01T10:00:00.000Z')),
      ).rejects.toThrow();
      expect(database.requests).toHaveLength(3);
    },
  );

  it('is waited for no longer than five seconds, also in the middle of an answer', async () => {
    database.trouble = 'stall';
    const really = globalThis.setTimeout;
    const waits: unknown[] = [];
    const sooner = (run: () => void, ms?: number): unknown => {
      waits.push(ms);
      return really(run, ms === 5_000 ? 50 : ms);
    };
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(sooner as typeof setTimeout);
    await expect(hostedLedger({ url: database.url, key: PUBLIC_KEY }, { fetch }).totals()).rejects.toThrow();
    expect(waits.filter((ms) => ms === 5_000)).toHaveLength(1);
  });

  it('with a wrong key, or without the schema, makes every call reject', async () => {
    await expect(hostedLedger({ url: database.url, key: 'wrong' }, { fetch }).totals()).rejects.toThrow(
      /API key/,
    );
    await expect(
      hostedLedger({ url: `${database.url}/rest/v1/elsewhere`, key: PUBLIC_KEY }, { fetch }).totals(),
    ).rejects.toThrow();
  });
});

async function select<T>(sql: string): Promise<T[]> {
  return (await database.pg.query<T>(sql)).rows;
}

const urls = async (): Promise<string[]> =>
  (await select<{ pr_url: string }>('select pr_url from pull_requests order by id')).map((row) => row.pr_url);

async function get(path: string): Promise<unknown> {
  return (await fetch(`${bed.service.url}${path}`)).json();
}

describe('the service with a hosted database', () => {
  it('keeps pull requests and karma there, and nothing about persons, and lives on without it', async () => {
    await database.empty();
    database.requests.length = 0;
    const contribution = await contribute(bed);
    const { upstream, person, clone } = contribution;
    await clone.commit();
    const { pull } = await expectAccepted(bed, contribution, await clone.push());
    await expect.poll(urls).toEqual([pull.url]);
    const [row] = await select<{ created_at: Date }>('select created_at from pull_requests');
    const createdAt = row?.created_at.toISOString();
    expect(await get('/api/stats')).toEqual({ total_prs: 1, last_updated: createdAt });
    expect(await get('/api/recent-prs')).toEqual({
      prs: [{ id: 1, owner: 'octo', repo: upstream.name, pr_url: pull.url, created_at: createdAt }],
      total: 1,
    });
    // As badge-maker draws it by its own measure, which is not in the bundle.
    const badge = await fetch(`${bed.service.url}/badge/OCTO/${upstream.name}`);
    expect(await badge.text()).toBe(pullRequestCountBadge(1));

    database.trouble = 'refuse';
    await clone.commit();
    const second = await expectAccepted(bed, contribution, await clone.push());
    const issue = await speak(bed, person, `/v1/gh/${upstream.fullName}/issues/anonymous`, {
      title: 'It breaks',
      body: 'Here is how.',
    });
    const thread = `${upstream.fullName}/issues/${String(issue.body['number'])}`;
    const said = await comment(bed, person, thread, 'More of it.');
    expect(said).toMatchObject({ status: 200, body: { karma: 1 } });
    expect(await get('/api/stats')).toMatchObject({ total_prs: 1 });

    database.trouble = null;
    await expect.poll(urls).toEqual([pull.url, second.pull.url]);
    await expect.poll(() => select('select * from karma')).toEqual([{ hash: said.body['hash'], karma: 1 }]);
    expect(bed.tripwire.secrets.search.search(Buffer.from(database.requests.join('\n')))).toEqual([]);
    // Method, address, names and values in turn, body.
    const fieldNames = database.requests.map((request) => {
      const [method, , ...lines] = request.split('\n');
      return [method, ...lines.slice(0, -1).filter((_, at) => at % 2 === 0)].join(' ');
    });
    expect(new Set(fieldNames)).toEqual(
      new Set([
        'GET Host Authorization apikey Accept-Encoding',
        'POST Host Authorization apikey Content-Type Accept-Encoding Content-Length',
      ]),
    );
  });
});

describe('the stricter set-up of docs/hosted-database.md', exhaustive, () => {
  it('takes the ledger from the public key, and leaves it to the secret one', async () => {
    const [revocation = ''] = /revoke execute[^`]+/.exec(await readFile(DOCUMENT, 'utf8')) ?? [];
    await database.pg.exec(revocation);
    const open = hostedLedger({ url: database.url, key: PUBLIC_KEY }, { fetch });
    await expect(open.recordPullRequest(pullRequestEntry(7, '2026-11-01T10:00:00.000Z'))).rejects.toThrow();
    await expect(open.setKarma('0123abcd', 7)).rejects.toThrow();
    await expect(open.karma('0123abcd')).rejects.toThrow();
    const closed = await openEmpty(SECRET_KEY);
    await closed.recordPullRequest(pullRequestEntry(7, '2026-11-01T10:00:00.000Z'));
    await closed.setKarma('0123abcd', 7);
    expect(await closed.karma('0123abcd')).toBe(7);
  });
});
