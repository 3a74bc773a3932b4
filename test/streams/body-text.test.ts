/**
 * The body of a request as text: within its limit, as UTF-8 or not at all, and read to its end when
 * it is refused.
 */
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/isolate/clock.ts';
import { bodiesMemory, MemoryBudget } from '../../src/isolate/memory-budget.ts';
import type { BodyError } from '../../src/streams/body-error.ts';
import { bodyText, UNCOUNTED_BYTES } from '../../src/streams/body-text.ts';

const MiB = 1024 * 1024;
const LIMITS = { maxBytes: 1024, timeoutMs: 10_000 };
const strict = { ...LIMITS, isStrict: true } as const;

afterEach(() => {
  vi.useRealTimers();
});

const post = (body: BodyInit) => new Request('https://gitveil.test', { method: 'POST', body });

it('reads all of it, also a character that comes in two pieces', async () => {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const bytes = Buffer.from('naïve');
  const written = (async () => {
    for (const piece of [bytes.subarray(0, 3), bytes.subarray(3)]) await writer.write(piece);
    await writer.close();
  })();
  expect(await bodyText(post(readable), strict)).toBe('naïve');
  await written;
});

it('refuses what is not UTF-8 where it must be, also a character that has no end', async () => {
  for (const bytes of [Uint8Array.of(0x61, 0xff), Uint8Array.of(0x61, 0xc3)]) {
    await expect(bodyText(post(bytes), strict)).rejects.toThrow(TypeError);
    expect(await bodyText(post(bytes), LIMITS)).toBe('a\ufffd');
  }
});

it.each(['gzip', 'deflate', 'br'])(
  'is never inflated: what arrives is what is read, said to be %s',
  async (coding) => {
    const headers = { 'Content-Encoding': coding };
    const body = gzipSync(Buffer.alloc(500_000));
    const request = () => new Request('https://gitveil.test', { method: 'POST', headers, body });
    expect((await bodyText(request(), LIMITS)).length).toBeLessThanOrEqual(body.length);
    await expect(bodyText(request(), strict)).rejects.toThrow(TypeError);
  },
);

it('reads one that is too long to its end, so that the client reads the answer', async () => {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const written = (async () => {
    for (let count = 0; count < 10; count++) await writer.write(new Uint8Array(1024));
    await writer.close();
  })();
  await expect(bodyText(post(readable), LIMITS)).rejects.toMatchObject({ code: 'too-large' });
  await written;
});

it('bounds the time of the whole body, however steadily it comes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  writer.closed.catch(() => {});
  const startedAt = Date.now();
  const outcome = bodyText(post(readable), LIMITS).catch((error: BodyError) => [
    error.code,
    Date.now() - startedAt,
  ]);
  for (let second = 0; second < 12; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    await writer.write(Uint8Array.of(0x61)).catch(() => {});
  }
  expect(await outcome).toEqual(['timeout', LIMITS.timeoutMs]);
});

describe('what a body holds', () => {
  const limits = { ...LIMITS, maxBytes: MiB };

  it('counts beyond what the buffer of a connection has room for', async () => {
    const full = new MemoryBudget(0);
    full.open(systemClock).claim().setNow(1);
    const memory = full.open(systemClock, null, false);
    const text = 'x'.repeat(UNCOUNTED_BYTES);
    expect(await bodyText(post(text), { ...limits, memory })).toBe(text);
    await expect(bodyText(post(`${text}x`), { ...limits, memory })).rejects.toThrow('busy');
  });

  it('counts among all bodies as it arrives, and then in its request', async () => {
    const budget = new MemoryBudget();
    const memory = budget.open(systemClock, 'a client');
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const reading = bodyText(post(readable), { ...limits, memory });
    await writer.write(new Uint8Array(100_000));
    await expect.poll(() => bodiesMemory.heldBytes).toBeGreaterThan(300_000);
    expect(bodiesMemory.heldBytes).toBeLessThanOrEqual(400_000);
    expect(budget.heldBytes).toBe(0);
    await writer.close();
    expect(await reading).toHaveLength(100_000);
    expect([bodiesMemory.heldBytes, budget.heldBytes]).toEqual([0, 400_000]);
    memory.end();
    expect(budget.heldBytes).toBe(0);
  });
});
