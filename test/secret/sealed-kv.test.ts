/**
 * Values in KV say nothing without the secret: not by their names, not by their content, not by
 * their length or expiry.
 */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { endOfDay, SealedKv } from '../../src/secret/sealed-kv.ts';
import { utf8 } from '../../src/git/bytes.ts';

const { LAST_KNOWN } = env as unknown as Env;
const DAY_MS = 24 * 60 * 60 * 1000;
const NAME = 'policy/octo/hello';
const VALUE = utf8('{"url":"https://host.test/octo/hello","at":1795003200123}');

const sealedWith = (secret: string) => new SealedKv(LAST_KNOWN, async () => secret);

async function entries() {
  const { keys } = await LAST_KNOWN.list();
  return Promise.all(
    keys.map(async ({ name, expiration, metadata }) => {
      const bytes = new Uint8Array((await LAST_KNOWN.get(name, 'arrayBuffer')) as ArrayBuffer);
      return { name, expiration, metadata, bytes };
    }),
  );
}

beforeEach(async () => {
  vi.setSystemTime('2030-11-21T12:34:56.789Z');
  for (const { name } of (await LAST_KNOWN.list()).keys) await LAST_KNOWN.delete(name);
});
afterEach(() => void vi.useRealTimers());

describe('an entry of KV', () => {
  it('is read back with the secret that it was written with, and with no other', async () => {
    await sealedWith('one').put(NAME, VALUE, DAY_MS);
    expect(await sealedWith('one').get(NAME)).toEqual(VALUE);
    expect(await sealedWith('other').get(NAME)).toBeNull();
    expect(await sealedWith('one').get('policy/octo/other')).toBeNull();
  });

  it('names nothing in its name and its value, and ends with its day', async () => {
    await sealedWith('one').put(NAME, VALUE, 30 * DAY_MS);
    const [entry] = await entries();
    expect(entry?.name).toMatch(/^[0-9a-f]{64}$/);
    expect(Buffer.from(entry?.bytes ?? []).toString('latin1')).not.toMatch(/octo|hello|host|1795/);
    expect(entry?.expiration).toBe(Date.parse('2030-12-22T00:00:00Z') / 1000);
    expect(entry?.metadata).toBeUndefined();
  });

  it('has a length that many others have, and looks new each time', async () => {
    const store = sealedWith('one');
    await store.put('a', utf8('x'), DAY_MS);
    await store.put('b', utf8('x'.repeat(1000)), DAY_MS);
    await store.put('c', utf8('x'.repeat(1100)), DAY_MS);
    const lengths = (await entries()).map(({ bytes }) => bytes.byteLength).toSorted((a, b) => a - b);
    expect(lengths).toEqual([1024 + 28, 1024 + 28, 2048 + 28]);
    const before = await entries();
    await store.put('a', utf8('x'), DAY_MS);
    expect(await entries()).not.toEqual(before);
    expect(await store.get('c')).toEqual(utf8('x'.repeat(1100)));
  });

  it('that somebody has changed, or put under another name, is none', async () => {
    const store = sealedWith('one');
    await store.put('a', VALUE, DAY_MS);
    const [entry] = await entries();
    await store.put('b', VALUE, DAY_MS);
    const other = (await entries()).find(({ name }) => name !== entry?.name);
    await LAST_KNOWN.put(other?.name ?? '', entry?.bytes ?? '');
    expect(await store.get('b')).toBeNull();
    await LAST_KNOWN.put(entry?.name ?? '', 'short');
    expect(await store.get('a')).toBeNull();
  });
});

it.each([
  ['2026-11-21T00:00:00.000Z', '2026-11-21T00:00:00Z'],
  ['2026-11-21T00:00:00.001Z', '2026-11-22T00:00:00Z'],
  ['2026-11-21T23:59:59.999Z', '2026-11-22T00:00:00Z'],
])('the day of %s ends at %s', (at, end) => {
  expect(endOfDay(Date.parse(at))).toBe(Date.parse(end) / 1000);
});
