/** GET /metrics: the contract's JSON, what monitoring systems read, and how little of it is for everybody. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import worker from '../../../src/worker.ts';
import type { IsolateFigures } from '../../../src/metrics/isolate.ts';
import { metricsAnswer } from '../../../src/routes/service/metrics.ts';

const bindings = env as unknown as Env;
const KEY = 'a-key-of-the-operator';

/** As the operator, who has a key, and wants figures as they are now. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  const withKey = { 'Cache-Control': 'no-cache', ...headers, 'X-Service-Key': KEY };
  const request = new Request(`https://gitveil.test${path}`, { method, headers: withKey });
  return worker.fetch(request, { ...bindings, SERVICE_API_KEY: KEY });
}

const metricsText = async (accept = 'text/plain') => (await ask('/metrics', { Accept: accept })).text();

/** The value of one series. */
async function valueOf(series: string): Promise<number> {
  const line = (await metricsText()).split('\n').find((text) => text.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}

describe('as JSON', () => {
  it('has the fields of the contract and no others', async () => {
    const response = await ask('/metrics');
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    const answer = await response.json<{ memory: { sys: number }; goroutines: number; uptime: string }>();
    expect(metricsAnswer.strict().parse(answer)).toEqual(answer);
    expect(answer.memory.sys).toBe(128 * 1024 * 1024);
    expect(answer.goroutines).toBe(1);
    expect(answer.uptime).toMatch(/^(\d+h)?(\d+m)?[\d.]+m?s$/);
  });

  it('counts the buffers that bodies are read into', async () => {
    const before = await (await ask('/metrics')).json<{ memory: { total_alloc: number } }>();
    const request = new Request('https://gitveil.test/v1/gh/octo/hello/git-receive-pack', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-git-receive-pack-request' },
      body: '0000',
    });
    const context = createExecutionContext();
    await worker.fetch(request, { ...bindings }, context);
    await waitOnExecutionContext(context);
    const after = await (await ask('/metrics')).json<{ memory: { alloc: number; total_alloc: number } }>();
    expect(after.memory.total_alloc - before.memory.total_alloc).toBe(16 * 1024);
    expect(after.memory.alloc).toBeLessThanOrEqual(after.memory.total_alloc);
  });

  it('is what programs get that ask for JSON and text alike, and browsers', async () => {
    for (const accept of ['application/json, text/plain, */*', 'text/html,*/*;q=0.8', '*/*']) {
      const response = await ask('/metrics', { Accept: accept });
      expect(response.headers.get('Content-Type')).toBe('application/json');
    }
  });
});

describe('as text', () => {
  it('is in the format that was asked for', async () => {
    const prometheus = await ask('/metrics', { Accept: 'text/plain;version=0.0.4' });
    expect(prometheus.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const openMetrics = await ask('/metrics', {
      Accept: 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    });
    expect(openMetrics.headers.get('Content-Type')).toMatch(/^application\/openmetrics-text; version=1.0.0/);
    const text = await openMetrics.text();
    expect(text).toMatch(/# EOF\n$/);
    expect(text).toContain('# TYPE gitveil_http_requests counter');
  });

  it('counts requests by pattern, method and status, and never a path', async () => {
    const series = 'gitveil_http_requests_total{method="GET",route="/health",status="200"}';
    const before = await valueOf(series);
    await ask('/health');
    expect(await valueOf(series)).toBe(before + 1);
    await ask('/somebody/was-here');
    await ask('/v1/gh/secret-owner/secret-repo');
    const text = await metricsText();
    expect(text).toContain('{method="GET",route="none",status="404"}');
    expect(text).toContain('route="/v1/:host/:owner/:repo"');
    expect(text).not.toMatch(/somebody|secret-/);
  });

  it('counts what persons do by its outcome', async () => {
    const series = 'gitveil_comments_total{outcome="refused"}';
    const before = await valueOf(series);
    await ask('/v1/gh/octo/hello/issues/none/comments/anonymous', {}, 'POST');
    expect(await valueOf(series)).toBe(before + 1);
  });

  it('times requests in a histogram', async () => {
    await ask('/health');
    const name = 'gitveil_http_request_duration_seconds';
    expect(await valueOf(`${name}_bucket{route="/health",le="+Inf"}`)).toBe(
      await valueOf(`${name}_count{route="/health"}`),
    );
    const buckets = (await metricsText()).match(/duration_seconds_bucket\{route="\/health",le="[^"]+"/g);
    expect(buckets?.map((text) => text.match(/le="(.*)"/)?.[1])).toEqual(
      '0.005 0.025 0.1 0.25 0.5 1 2.5 5 10 30 +Inf'.split(' '),
    );
  });
});

it('answers with an internal error when a figure cannot be had', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(bindings.TALLY, 'get').mockImplementation(() => {
    throw new Error('unreachable');
  });
  const response = await ask('/metrics', { Accept: 'text/plain' });
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: 'internal server error' });
  vi.restoreAllMocks();
});

describe('figures of the whole service', () => {
  const SCRAPE = { Accept: 'text/plain', 'Cache-Control': '' };
  let now = Date.UTC(2029, 0, 1);

  beforeEach(() => vi.setSystemTime((now += 3_600_000)));

  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  it('are asked of each object once for a hundred scrapes within ten seconds', async () => {
    // With it, the isolate tells what it has counted, which it does every ten seconds.
    await ask('/health');
    const asked = [vi.spyOn(bindings.TALLY, 'get'), vi.spyOn(bindings.HOST_ACCOUNTS, 'get')];
    const calls = () => asked.map(({ mock }) => mock.calls.length);
    for (let count = 0; count < 100; count++) {
      vi.setSystemTime(now + 99 * count);
      expect(await (await ask('/metrics', SCRAPE)).text()).toContain('gitveil_host_creations_left{');
    }
    expect(calls()).toEqual([1, 1]);
    vi.setSystemTime((now += 10_000));
    await ask('/metrics', SCRAPE);
    expect(calls()[1]).toBe(2);
    await metricsText();
    expect(calls()[1]).toBe(3);
  });

  it('are asked of none for a hundred readers of the snapshot', async () => {
    await askPublic('text/plain');
    const asked = [vi.spyOn(bindings.TALLY, 'get'), vi.spyOn(bindings.HOST_ACCOUNTS, 'get')];
    for (let count = 0; count < 100; count++) {
      for (const accept of ['text/plain', 'application/json']) await askPublic(accept, 'no-cache');
    }
    for (const { mock } of asked) expect(mock.calls).toEqual([]);
  });
});

/** As somebody of a service without a key. */
async function askPublic(accept: string, cacheControl = ''): Promise<string> {
  const headers = { Accept: accept, 'Cache-Control': cacheControl };
  const request = new Request('https://gitveil.test/metrics', { headers });
  return (await worker.fetch(request, { ...bindings })).text();
}

/** Both forms of the answer, at a time. */
async function publicAnswers(at: number): Promise<{ json: string; text: string }> {
  vi.setSystemTime(at);
  return { json: await askPublic('application/json'), text: await askPublic('text/plain') };
}

/** A refused comment, as anybody can make one. */
const happen = () => ask('/v1/gh/octo/hello/issues/none/comments/anonymous', {}, 'POST');
const refusedIn = (text: string) =>
  Number(/^gitveil_comments_total\{outcome="refused"\} (\d+)$/m.exec(text)?.[1]);

describe('where there is no service key', () => {
  const START = Date.UTC(2030, 0, 1);
  const MINUTE = 60_000;

  afterEach(() => vi.useRealTimers());

  it('everybody sees the same for 15 minutes, whatever happens', async () => {
    await happen();
    const first = await publicAnswers(START);
    expect(metricsAnswer.strict().parse(JSON.parse(first.json))).toEqual(JSON.parse(first.json));
    for (const at of [START, START + 7 * MINUTE, START + 15 * MINUTE - 1]) {
      vi.setSystemTime(at);
      await happen();
      expect(await publicAnswers(at)).toEqual(first);
    }
    const next = await publicAnswers(START + 15 * MINUTE);
    expect(refusedIn(next.text)).toBe(refusedIn(first.text) + 3);
    expect(next.json).not.toBe(first.json);
    await happen();
    expect(await publicAnswers(START + 16 * MINUTE)).toEqual(next);
  });

  it('asking as the operator does not take a new snapshot', async () => {
    const first = await publicAnswers(START + 60 * MINUTE);
    await happen();
    expect(refusedIn(await metricsText())).toBeGreaterThan(refusedIn(first.text));
    expect(await publicAnswers(START + 61 * MINUTE)).toEqual(first);
  });

  it('no series tells durations or routes', async () => {
    await happen();
    const { text } = await publicAnswers(START + 120 * MINUTE);
    const series = text.split('\n').filter((line) => !line.startsWith('#'));
    expect(series.filter((line) => /duration|route=/.test(line))).toEqual([]);
    expect(series.filter((line) => line.startsWith('gitveil_comments_total'))).not.toEqual([]);
  });

  it('of two that are taken at once, the first is shown', async () => {
    const tally = bindings.TALLY.get(bindings.TALLY.idFromName('tally'));
    const taken = async (left: number) => {
      const gauges = [{ name: 'gitveil_host_calls_left', labels: { host: 'h' }, value: left }] as const;
      const isolate = { requestsInFlight: left } as IsolateFigures;
      return tally.keep({ takenAt: START + 240 * MINUTE, figures: { counts: {}, gauges, isolate } });
    };
    expect((await taken(1)).figures.isolate.requestsInFlight).toBe(1);
    expect((await taken(2)).figures.isolate.requestsInFlight).toBe(1);
  });
});
