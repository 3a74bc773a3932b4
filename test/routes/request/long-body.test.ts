/**
 * Long bodies of answers: what their readers get, and when a reader who has stopped is given up.
 */
import type { Context } from 'hono';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AppEnv } from '../../../src/env.ts';
import { longBody, relayedBody } from '../../../src/routes/request/long-body.ts';

const KiB = 1024;

const asked = (method = 'GET') =>
  ({
    req: { raw: new Request('https://gitveil.test/', { method }) },
    var: { config: { writeTimeoutMs: 30_000 } },
  }) as unknown as Context<AppEnv>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A server that always has more to send. */
function endless() {
  const cancelled = Promise.withResolvers<void>();
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  writer.closed.catch(() => cancelled.resolve());
  void (async () => {
    for (;;) await writer.write(new Uint8Array(100 * KiB));
  })().catch(() => {});
  return { readable, cancelled: cancelled.promise };
}

describe('a long body', () => {
  it('comes whole, with its length', async () => {
    const text = 'é'.repeat(100 * KiB);
    const response = new Response(longBody(asked(), text));
    expect(await response.text()).toBe(text);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('of a client that stops reading is not sent to its end', async () => {
    const body = longBody(asked(), new Uint8Array(300 * KiB)) as ReadableStream<Uint8Array>;
    const reader = body.getReader();
    await reader.read();
    await vi.advanceTimersByTimeAsync(60_000);
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow();
  });

  it('that is short, or that nobody reads, costs nothing', () => {
    expect(longBody(asked(), 'short')).toBe('short');
    const long = new Uint8Array(100 * KiB);
    expect(longBody(asked('HEAD'), long)).toBe(long);
  });
});

describe('a body that another server sends', () => {
  it('comes whole', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(60 * KiB));
    const sent = new Response(new Blob([bytes, bytes, bytes])).body as ReadableStream<Uint8Array>;
    const got = await new Response(relayedBody(asked(), sent)).bytes();
    expect(got).toEqual(new Uint8Array(await new Blob([bytes, bytes, bytes]).arrayBuffer()));
  });

  it('is cancelled when its client stops reading', async () => {
    const { readable, cancelled } = endless();
    await relayedBody(asked(), readable).getReader().read();
    await vi.advanceTimersByTimeAsync(60_000);
    await cancelled;
  });

  it('is cancelled when its client leaves', async () => {
    const { readable, cancelled } = endless();
    const reader = relayedBody(asked(), readable).getReader();
    await reader.read();
    await reader.cancel();
    await cancelled;
  });

  it('breaks off with its server', async () => {
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const reader = relayedBody(asked(), readable).getReader();
    void writer.write(new Uint8Array(10));
    await reader.read();
    await writer.abort();
    await expect(reader.read()).rejects.toThrow();
  });
});
