/** How counts come from isolates to the Tally object. */
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/isolate/clock.ts';
import type { Env } from '../../src/env.ts';
import type { Http } from '../../src/outgoing/http-client.ts';
import { allCounts, count, countedFetch } from '../../src/metrics/tally.ts';
import { restartObjects } from '../support/all-objects.ts';

const { TALLY } = env as unknown as Env;
const PUSHES = 'gitveil_pushes_total{outcome="accepted"}';

const delivered = async (series: string) => (await TALLY.get(TALLY.idFromName('tally')).add({}))[series] ?? 0;
const request = () =>
  count('gitveil_http_requests_total', { method: 'GET', route: '/health', status: '200' });
const outgoing = (status: string) => `gitveil_outgoing_requests_total{service="rest",status="${status}"}`;
const push = () => count('gitveil_pushes_total', { outcome: 'accepted' });

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('counts', () => {
  it('of rare events are delivered at once, and outlive the object', async () => {
    const before = await delivered(PUSHES);
    push();
    push();
    await expect.poll(() => delivered(PUSHES)).toBe(before + 2);
    await restartObjects();
    expect(await delivered(PUSHES)).toBe(before + 2);
  });

  it('of rare events that come in crowds go together, a second after the last ones', async () => {
    const add = vi.spyOn(TALLY, 'get');
    const pauses = vi.spyOn(systemClock, 'sleep');
    const pause = Promise.withResolvers<void>();
    pauses.mockReturnValue(pause.promise);
    vi.setSystemTime(Date.now() + 60_000);
    push();
    await Promise.resolve();
    await Promise.resolve();
    expect(add).toHaveBeenCalledTimes(1);
    vi.setSystemTime(Date.now() + 400);
    for (let i = 0; i < 5; i++) push();
    expect(pauses.mock.calls).toEqual([[600]]);
    expect(add).toHaveBeenCalledTimes(1);
    pause.resolve();
    await expect.poll(() => add.mock.calls).toHaveLength(2);
  });

  it('of frequent events go together, every ten seconds', async () => {
    const add = vi.spyOn(TALLY, 'get');
    vi.setSystemTime(Date.now() + 120_000);
    request();
    for (let i = 0; i < 5; i++) request();
    await Promise.resolve();
    await Promise.resolve();
    expect(add).toHaveBeenCalledTimes(1);
    vi.setSystemTime(Date.now() + 9_999);
    request();
    await Promise.resolve();
    await Promise.resolve();
    expect(add).toHaveBeenCalledTimes(1);
    vi.setSystemTime(Date.now() + 1);
    request();
    await Promise.resolve();
    await Promise.resolve();
    expect(add).toHaveBeenCalledTimes(2);
  });

  it('that could not be delivered go with the next ones', async () => {
    const before = (await allCounts())[PUSHES] ?? 0;
    const broken = vi.spyOn(TALLY, 'get').mockImplementation(() => {
      throw new Error('unreachable');
    });
    push();
    await expect(allCounts()).rejects.toThrow('unreachable');
    broken.mockRestore();
    expect((await allCounts())[PUSHES]).toBe(before + 1);
  });
});

describe('requests to others', () => {
  it('are counted by status, also when no answer comes', async () => {
    const before = await allCounts();
    const http = { fetch: vi.fn<Http['fetch']>() };
    http.fetch.mockResolvedValueOnce(new Response(null, { status: 404 }));
    http.fetch.mockRejectedValueOnce(new TypeError('connection lost'));
    expect((await countedFetch('rest', http)('https://host.test/')).status).toBe(404);
    await expect(countedFetch('rest', http)('https://host.test/')).rejects.toThrow('connection lost');
    const after = await allCounts();
    expect((after[outgoing('404')] ?? 0) - (before[outgoing('404')] ?? 0)).toBe(1);
    expect((after[outgoing('none')] ?? 0) - (before[outgoing('none')] ?? 0)).toBe(1);
  });
});
