/**
 * GET /metrics: the contract's JSON, what monitoring systems read, and how little of it is for
 * everybody.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { isolate } from '../../../src/metrics/isolate.ts';
import worker from '../../../src/worker.ts';
import { metricsAnswer } from '../../../src/routes/service/metrics.ts';

const bindings = env as unknown as Env;
const KEY = 'a-key-of-the-operator';

/** As the operator, who has a key. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  const withKey = { ...headers, 'X-Service-Key': KEY };
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
  it.each([
    'text/plain;version=0.0.4',
    // As Prometheus asks.
    'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
  ])('is in the format of Prometheus for %s', async (accept) => {
    const response = await ask('/metrics', { Accept: accept });
    expect(response.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toContain('# TYPE gitveil_http_requests_total counter');
  });

  it('counts requests by pattern, method and status, and never a path', async () => {
    const series = 'gitveil_http_requests_total{method="GET",route="/health",status="200"}';
    const before = await valueOf(series);
    await ask('/health');
    expect(await valueOf(series)).toBe(before + 1);
    await ask('/somebody/was-here');
    await ask('/v1/gh/secret-owner/secret-repo');
    await ask('/v1/gh/octo/hello/security/anonymous', {}, 'POST');
    await ask('/v1/gh/octo/hello/security/policy');
    const text = await metricsText();
    expect(text).toContain('{method="GET",route="none",status="404"}');
    expect(text).toContain('route="/v1/:host/:owner/:repo"');
    expect(text).not.toMatch(/somebody|secret-/);
    // Not even that there was a private report.
    expect(text).not.toContain('security');
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

/** As somebody who may have heard of a key. */
async function askPublic(accept: string): Promise<Response> {
  const headers = { Accept: accept, 'X-Service-Key': KEY };
  return worker.fetch(new Request('https://gitveil.test/metrics', { headers }), { ...bindings });
}

/** All but the uptime. */
async function publicFigures(): Promise<object> {
  const { uptime: _, ...figures } = await (await askPublic('*/*')).json<Record<string, unknown>>();
  return figures;
}

async function uptimeAt(at: number): Promise<string> {
  vi.setSystemTime(at);
  return (await (await askPublic('application/json')).json<{ uptime: string }>()).uptime;
}

describe('where there is no service key', () => {
  afterEach(() => vi.useRealTimers());

  it.each([
    'application/json',
    'text/plain',
    'text/plain;version=0.0.4,*/*;q=0.1',
    'application/openmetrics-text',
    'text/html',
    '*/*',
  ])('everybody gets the JSON of the contract, whatever is asked for: %s', async (accept) => {
    const asked = [vi.spyOn(bindings.TALLY, 'get'), vi.spyOn(bindings.HOST_ACCOUNTS, 'get')];
    const response = await askPublic(accept);
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'application/json']);
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    const answer = await response.json();
    expect(metricsAnswer.strict().parse(answer)).toEqual(answer);
    for (const { mock } of asked) expect(mock.calls).toEqual([]);
    vi.restoreAllMocks();
  });

  it('and an upload does not show', async () => {
    vi.setSystemTime(Date.now());
    const before = await publicFigures();
    isolate.buffered(new ArrayBuffer(20 * 1024 * 1024));
    expect(await publicFigures()).toEqual(before);
    expect(before).toMatchObject({ goroutines: 1 });
  });

  it('it is live', async () => {
    const now = Date.now();
    expect(await uptimeAt(now)).not.toBe(await uptimeAt(now + 1000));
  });
});
