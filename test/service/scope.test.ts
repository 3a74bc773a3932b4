/** A client as it is kept: one name for each use, and none that leads from one use to another. */
import { env } from 'cloudflare:workers';
import { Hono } from 'hono';
import { expect, it, vi } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { AppEnv } from '../../src/env.ts';
import { createLogger } from '../../src/log.ts';
import { type Client, windowKey } from '../../src/limits/client.ts';
import { clientOf } from '../../src/service/scope.ts';
import { scopeOf } from '../../src/routes/request/scope.ts';

const USES = ['window', 'burst', 'alert', 'reporter'] as const;

const logged: string[] = [];

async function clientAt(address: string): Promise<Client> {
  const result = parseConfig({ IDENTITY_SECRET: 'x'.repeat(32) });
  if (result.kind === 'invalid') throw new Error('bad configuration');
  let client: Client | undefined;
  const app = new Hono<AppEnv>().get('/', async (c) => {
    c.set('config', result.config);
    c.set(
      'logger',
      createLogger('text', (line) => logged.push(line)),
    );
    client = await clientOf(scopeOf(c));
    return c.text('');
  });
  await app.fetch(new Request('http://service.test/', { headers: { 'CF-Connecting-IP': address } }), env);
  return client as Client;
}

it('a client has another hash for each use and each pseudonym that it reports', async () => {
  const client = await clientAt('192.0.2.1');
  const hashes = [
    ...USES.map((use) => client.hash(use)),
    client.hash('reporter', 'aaaaaaaa'),
    client.hash('reporter', 'bbbbbbbb'),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});

it('a client is known again by each of them, and is no other', async () => {
  const [first, again, other] = await Promise.all(['192.0.2.1', '192.0.2.1', '192.0.2.2'].map(clientAt));
  for (const use of USES) {
    expect(again?.hash(use)).toBe(first?.hash(use));
    expect(other?.hash(use)).not.toBe(first?.hash(use));
  }
});

it('a client’s windows have another name every day', async () => {
  const client = await clientAt('2001:db8::1');
  vi.setSystemTime(Date.UTC(2026, 0, 1, 0, 0));
  const morning = [windowKey(client, false), windowKey(client, true)];
  vi.setSystemTime(Date.UTC(2026, 0, 1, 23, 59));
  expect([windowKey(client, false), windowKey(client, true)]).toEqual(morning);
  vi.setSystemTime(Date.UTC(2026, 0, 2));
  expect(new Set([windowKey(client, false), windowKey(client, true), ...morning]).size).toBe(4);
  vi.useRealTimers();
});

it('a header that holds no address is logged once, without what it holds', async () => {
  expect(logged).toEqual([]);
  for (const text of ['proxy:8080', 'another']) expect((await clientAt(text)).network).toBe('unknown');
  expect(logged).toEqual([
    expect.stringMatching(
      / warn the header of the client address contains no address, .* variable=CLIENT_IP_HEADER$/,
    ),
  ]);
  expect(logged.join()).not.toContain('proxy');
});
