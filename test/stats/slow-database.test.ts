/**
 * A database that answers each question after half a minute: nobody waits so long for what does not
 * need it. Here it never does, and a second of every limit is a hundredth.
 */
import { applyD1Migrations, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { systemClock } from '../../src/isolate/clock.ts';
import { isolateMemory } from '../../src/isolate/memory-budget.ts';
import { forgetEverything } from '../../src/isolate/recent.ts';
import { loggerOf } from '../../src/log.ts';
import { ServicePushStore } from '../../src/service/push-store.ts';
import { mayBeListed, mayBeRecorded, prHashNear, prHashesWith } from '../../src/stats/recorded-hashes.ts';
import { openStatistics } from '../../src/stats/statistics.ts';
import { configOf } from '../../src/config/configured.ts';
import { HttpClient } from '../../src/outgoing/http-client.ts';
import { inScope } from '../support/admission.ts';
import { FakeThreads } from '../durable/support/fake-threads.ts';
import { Pseudonym } from '../durable/support/pseudonym.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const logger = loggerOf({ logFormat: 'text' });
const HASTE = 100;

const answer = () => new Promise(() => {});
const statement = { bind: () => statement, run: answer, first: answer, all: answer, raw: answer };
const DB = { prepare: () => statement, batch: answer } as unknown as D1Database;

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  vi.spyOn(console, 'log').mockImplementation(() => {});
  const { setTimeout: set } = globalThis;
  const early = ((run: () => void, ms = 0) => set(run, ms / HASTE)) as typeof setTimeout;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(early);
});

afterEach(() => {
  vi.restoreAllMocks();
  forgetEverything();
});

it('a comment is posted, and a report of it counts', async () => {
  const host = new FakeThreads();
  const someone = new Pseudonym();
  await runInDurableObject(someone.stub, (instance) => {
    Object.assign(instance, { env: { ...bindings, DB } });
  });
  expect(await someone.say('Hi')).toMatchObject({ kind: 'posted', karma: 1 });
  expect(await someone.report('somebody')).toEqual({ reports: 1, state: 'registered' });
  expect(host.comments).toHaveLength(1);
});

it('a push for review is one of a repository that nobody knows', async () => {
  let isKnown: boolean | null = null;
  const pushing = inScope('192.0.2.1', { DB }, async (scope) => {
    const store = new ServicePushStore(scope, isolateMemory.open(systemClock));
    isKnown = await store.isKnownRepository({ owner: 'octo', name: 'hello' });
  });
  await pushing;
  expect(isKnown).toBe(false);
});

it('hashes may be recorded, or listed; and of the same work nothing is known', async () => {
  expect(await mayBeRecorded(DB, '0123456789ab', logger)).toBe(true);
  expect(await mayBeListed(DB, '01234567', logger)).toBe(true);
  const late = { name: 'TimeoutError' };
  await expect(prHashNear(DB, 'octo/hello', '0123456789ab')).rejects.toMatchObject(late);
  await expect(prHashesWith(DB, 'octo/hello', [])).rejects.toMatchObject(late);
});

it('statistics are unavailable, or those of before', async () => {
  const result = configOf(bindings);
  if (result.kind === 'invalid') throw new Error('not configured');
  const statistics = openStatistics({ ...bindings, DB }, result.config, logger, new HttpClient([]));
  expect(await statistics.recentPullRequests()).toBeUndefined();
});
