/** The body that a client sends beside 64 others that still arrive. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { forgetEverything } from '../../../src/isolate/recent.ts';
import worker from '../../../src/worker.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bindings = env as unknown as Env;
const COMMENT = '/v1/gh/octo/hello/issues/7/comments/anonymous';
const PUSH = '/v1/gh/octo/hello/git-receive-pack';

let ends: (() => Promise<unknown>)[] = [];

beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => {}));

afterEach(async () => {
  await Promise.all(ends.map((end) => end()));
  ends = [];
  forgetEverything();
});

async function post(path: string, address: string, body: BodyInit, more: Record<string, string> = {}) {
  const context = createExecutionContext();
  const headers = { 'CF-Connecting-IP': address, 'Content-Type': 'application/json', ...more };
  const request = new Request(`https://gitveil.test${path}`, { method: 'POST', headers, body });
  const response = await worker.fetch(request, { ...bindings }, context);
  const text = await response.text();
  await waitOnExecutionContext(context);
  return { status: response.status, headers: response.headers, text };
}

/** Sends the beginning of a body, and the end when the test is over. */
async function begin(address: string): Promise<() => Promise<unknown>> {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const answer = post(COMMENT, address, readable);
  await writer.write(new TextEncoder().encode('{"body":'));
  const end = async () => {
    await writer.close().catch(() => {});
    return (await answer).status;
  };
  ends.push(end);
  return end;
}

it('is refused, whatever it is, until another has ended; other clients go on', async () => {
  const all = [];
  for (let count = 0; count < 64; count++) all.push(await begin('192.0.2.7'));
  const refused = await post(COMMENT, '192.0.2.7', '{}');
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '10']);
  expect(JSON.parse(refused.text)).toEqual({
    error:
      'Too many requests of your network are still arriving. At most 64 may at once. Send this again when others have ended.',
  });
  const push = await post(PUSH, '192.0.2.7', '0000', {
    'Content-Type': 'application/x-git-receive-pack-request',
  });
  expect([push.status, push.text]).toEqual([503, expect.stringMatching(/^Too many requests .* ended\.\n$/)]);
  const page = await post('/v1/moderation/report', '192.0.2.7', 'hash=', { Accept: 'text/html' });
  expect([page.status, page.headers.get('Content-Type')]).toEqual([
    503,
    expect.stringMatching(/^text\/html/),
  ]);
  expect((await post(COMMENT, '192.0.2.8', '{}')).status).toBe(400);
  expect(await all[0]?.()).toBe(400);
  expect((await post(COMMENT, '192.0.2.7', '{}')).status).toBe(400);
});

it('is refused from the other networks of a /48 at four times as many', exhaustive, async () => {
  for (let count = 0; count < 256; count++) await begin(`2001:db8:7:${count % 5}::1`);
  expect((await post(COMMENT, '2001:db8:7:9::1', '{}')).status).toBe(503);
  expect((await post(COMMENT, '2001:db8:8:9::1', '{}')).status).toBe(400);
});
