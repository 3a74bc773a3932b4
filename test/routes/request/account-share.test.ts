/** Who counts as one client, where the bot account's budget is shared. */
import { env } from 'cloudflare:workers';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { parseConfig } from '../../../src/config.ts';
import type { AppEnv } from '../../../src/env.ts';
import { createLogger } from '../../../src/log.ts';
import { askForShare } from '../../../src/routes/request/account-share.ts';

async function waitOf(address: string): Promise<number> {
  const result = parseConfig({ IDENTITY_SECRET: 'x'.repeat(32), LIMIT_CREATIONS: '10/1h' });
  if (result.kind === 'invalid') throw new Error('bad configuration');
  const app = new Hono<AppEnv>().get('/', async (c) => {
    c.set('config', result.config);
    c.set('host', result.config.hosts[0]);
    c.set(
      'logger',
      createLogger('text', () => {}),
    );
    return c.json((await askForShare(c, true)).waitMs);
  });
  const request = new Request('http://service.test/', { headers: { 'CF-Connecting-IP': address } });
  return (await app.fetch(request, env)).json();
}

it('the networks that anybody may get for nothing share one share', async () => {
  const waits: number[] = [];
  for (let network = 1; network <= 9; network++) waits.push(await waitOf(`2001:db8:7:${network}::1`));
  expect(waits.map((waitMs) => waitMs > 0)).toEqual([...Array<boolean>(8).fill(false), true]);
  expect(await waitOf('2001:db8:8:1::1')).toBe(0);
});
