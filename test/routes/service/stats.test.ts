/**
 * GET /api/stats, /api/recent-prs and /api/pr-status/:hash, with a ledger that is empty, filled,
 * keyed or dead.
 */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import { d1Ledger } from '../../../src/stats/ledger.ts';
import worker from '../../../src/worker.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const DEAD_DB = {
  prepare: () => {
    throw new Error('D1_ERROR: no answer');
  },
} as unknown as D1Database;

const EMPTY_KV = { get: () => Promise.resolve(null) } as unknown as KVNamespace;

function get(path: string, variables: Partial<Env> = {}): Promise<Response> {
  const headers = { 'X-Service-Key': 'key' };
  return Promise.resolve(
    worker.fetch(new Request(`https://gitveil.test${path}`, { headers }), { ...bindings, ...variables }),
  );
}

async function record(number: number, createdAt: string): Promise<void> {
  await d1Ledger(bindings.DB).recordPullRequest({
    host: 'gh',
    owner: 'octo',
    repo: 'hello',
    prUrl: `https://host.test/octo/hello/pull/${number}`,
    createdAt,
  });
}

/** The isolate's memory outlives a test: each begins when nothing is fresh any more. */
let now = Date.now();
let logged: string[] = [];

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  now += 10_000;
  vi.useFakeTimers({ toFake: ['Date'], now });
  logged = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void logged.push(line));
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const loggedLines = (): string => logged.join('\n');

describe('statistics', () => {
  it('of an empty database, as wrangler dev begins with, are unavailable, and the log says what to run', async () => {
    forgetEverything();
    const DB = {
      prepare: () => {
        throw new Error('D1_ERROR: no such table: totals: SQLITE_ERROR');
      },
    } as unknown as D1Database;
    const empty = { DB, LAST_KNOWN: EMPTY_KV, SERVICE_URL: 'https://empty.test' };
    expect((await get('/api/stats', empty)).status).toBe(503);
    expect(loggedLines()).toContain('npx wrangler d1 migrations apply DB --local');
  });

  it('are unavailable when the ledger does not answer and never has', async () => {
    forgetEverything();
    // A place of its own: a file before may still be writing what it asked for into the one that
    // all share.
    const nowhere = { DB: DEAD_DB, LAST_KNOWN: EMPTY_KV, SERVICE_URL: 'https://never-asked.test' };
    const response = await get('/api/stats', nowhere);
    expect(response.status).toBe(503);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({ error: 'statistics are unavailable; try again later' });
    expect((await get('/api/recent-prs', nowhere)).status).toBe(503);
    expect(loggedLines()).not.toContain('the database is empty');
  });

  it('know what was recorded since they were asked for, and since the ledger was dead', async () => {
    for (const variables of [{}, { DB: DEAD_DB }]) {
      const { total_prs: before } = await (await get('/api/stats', variables)).json<{ total_prs: number }>();
      await get('/api/recent-prs', variables);
      const total = before + 1;
      await record(total, `2026-11-${total}T10:00:00.000Z`);
      expect(await (await get('/api/stats')).json()).toMatchObject({ total_prs: total });
      const { prs } = await (await get('/api/recent-prs')).json<{ prs: { id: number }[] }>();
      expect(prs[0]?.id).toBe(total);
    }
  });

  it('stay what they were while the ledger is dead', async () => {
    const stats = await get('/api/stats', { DB: DEAD_DB });
    expect(await stats.json()).toMatchObject({ total_prs: 2 });
    const recent = await get('/api/recent-prs', { DB: DEAD_DB });
    expect((await recent.json<{ prs: unknown[] }>()).prs).toHaveLength(2);
  });
});

describe('GET /api/pr-status/:hash', () => {
  it.each(['%3Cb%3E012345', '0123abcd%0A', '0123%2Fabcd', 'caf%C3%A9', '%20'])('refuses %s', async (hash) => {
    const response = await get(`/api/pr-status/${hash}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: 'the hash of a pull request has only letters, digits, "-", "_" and "."',
    });
  });
});
