/** How the bot account's budget is shared: who counts as one client, and what goes on while nobody can tell. */
import { env } from 'cloudflare:workers';
import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseConfig } from '../../../src/config.ts';
import type { AppEnv } from '../../../src/env.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import { createLogger } from '../../../src/log.ts';
import { askForShare } from '../../../src/routes/request/account-share.ts';

async function waitOf(address: string, creations = '10/1h', bindings: object = env): Promise<number> {
  const result = parseConfig({ IDENTITY_SECRET: 'x'.repeat(32), LIMIT_CREATIONS: creations });
  if (result.kind === 'invalid') throw new Error('bad configuration');
  const app = new Hono<AppEnv>().get('/', async (c) => {
    c.set('config', result.config);
    c.set('host', result.config.hosts[0]);
    c.set(
      'logger',
      createLogger('text', () => {}),
    );
    return c.json((await askForShare(c, { creates: true })).waitMs);
  });
  const request = new Request('http://service.test/', { headers: { 'CF-Connecting-IP': address } });
  return (await app.fetch(request, bindings)).json();
}

it('the networks that anybody may get for nothing share one share', async () => {
  const waits: number[] = [];
  for (let network = 1; network <= 9; network++) waits.push(await waitOf(`2001:db8:7:${network}::1`));
  expect(waits.map((waitMs) => waitMs > 0)).toEqual([...Array<boolean>(8).fill(false), true]);
  expect(await waitOf('2001:db8:8:1::1')).toBe(0);
});

describe('while the account’s object cannot be asked', () => {
  const unreachable = { ...env, HOST_ACCOUNTS: { idFromName: () => expect.unreachable() } };
  const START = Date.UTC(2030, 0, 1);
  /** How long each of so many has to wait, whoever it is. */
  const waitsOf = async (count: number, creations?: string) => {
    const waits: number[] = [];
    while (waits.length < count) waits.push(await waitOf(`192.0.2.${waits.length}`, creations, unreachable));
    return waits;
  };

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: START });
    forgetEverything();
  });
  afterEach(() => vi.useRealTimers());

  it('an isolate creates ten things a minute, and tells whoever comes later how long to wait', async () => {
    expect(await waitsOf(12, '500/1h')).toEqual([...Array<number>(10).fill(0), 60_000, 60_000]);
    vi.setSystemTime(START + 60_000);
    expect(await waitsOf(1, '500/1h')).toEqual([0]);
  });

  it('never more than the account may create', async () => {
    expect(await waitsOf(4, '3/1h')).toEqual([0, 0, 0, 3_600_000]);
  });

  it('anew when the clock was set back', async () => {
    await waitsOf(10, '500/1h');
    vi.setSystemTime(START - 7_200_000);
    expect(await waitsOf(1, '500/1h')).toEqual([0]);
  });
});
