/**
 * Pseudonyms while the host wants to be left alone by the account: comments and chores alike. Time
 * only goes forward.
 */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseConfig } from '../../../src/config/config.ts';
import { hostAccountOf } from '../../../src/host-access.ts';
import type { Env } from '../../../src/env.ts';
import { FakeThreads } from '../support/fake-threads.ts';
import { holdClock, pass } from '../../support/clock.ts';
import { Pseudonym } from '../support/pseudonym.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };

let host: FakeThreads;
let someone: Pseudonym;

const refuse = (headers: Record<string, string>) => () =>
  Response.json({ message: 'no' }, { status: 403, headers });

/** Nobody waits until all others can know of a pause. */
async function passWhenTold(ms: number): Promise<void> {
  const result = parseConfig({ ...bindings });
  if (result.kind === 'invalid') throw new Error('the configuration is invalid');
  const account = hostAccountOf(bindings, result.config.hosts[0]);
  await expect.poll(() => account.hostPause()).toBeGreaterThan(0);
  pass(ms);
}

beforeAll(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  holdClock();
});

beforeEach(() => {
  host = new FakeThreads();
  someone = new Pseudonym();
});

afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a host that asks to slow down', () => {
  it('refuses a comment for so long, is asked for nothing by anyone meanwhile, and takes it then', async () => {
    host.disturb = refuse({ 'retry-after': '90' });
    const failure = { effect: 'none', lasts: 'until', retryAfterMs: 90_000 };
    expect(await someone.say()).toMatchObject({ kind: 'failed', failure });
    host.disturb = () => undefined;
    await passWhenTold(30_000);
    const later = { ...failure, retryAfterMs: 60_000 };
    expect(await new Pseudonym().say()).toMatchObject({ kind: 'failed', failure: later });
    expect(host.requests).toHaveLength(1);
    pass(60_000);
    expect(await someone.say()).toMatchObject({ karma: 1 });
  });

  it('is sent no edit and no deletion before its time', async () => {
    for (let index = 0; index < 2; index++) await someone.say(`${index}`);
    host.requests.length = 0;
    host.disturb = refuse({ 'retry-after': '600' });
    await someone.reportedBy(6);
    await someone.runDueAlarms();
    expect(host.requests).toHaveLength(1);
    host.disturb = () => undefined;
    await passWhenTold(599_000);
    await someone.runDueAlarms();
    expect(host.requests).toHaveLength(1);
    pass(1_000);
    await someone.runDueAlarms();
    expect(host.comments).toEqual([]);
  });
});
