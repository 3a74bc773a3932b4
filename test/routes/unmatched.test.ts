/** What no route answers: an unknown path, and a known one with another method. */
import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import worker from '../../src/worker.ts';

async function ask(method: string, path: string): Promise<Response> {
  const request = new Request(`https://gitveil.test${path}`, { method });
  return worker.fetch(request, env, createExecutionContext());
}

const REMOTE = '/v1/gh/octo/hello';

describe('a method that the path does not take', () => {
  it.each([
    ['POST', '/', 'GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
    ['PUT', '/api/stats', 'GET, HEAD'],
    ['DELETE', '/badge/octo/hello', 'GET, HEAD'],
    ['OPTIONS', '/docs', 'GET, HEAD'],
    ['PUT', '/v1/moderation/report', 'GET, HEAD, POST'],
    ['GET', '/admin/panic', 'POST'],
    ['HEAD', '/admin/rollback', 'POST'],
    ['GET', `${REMOTE}/issues/1/comments/anonymous`, 'POST'],
    ['PATCH', `${REMOTE}/issues/anonymous`, 'POST'],
    ['GET', `${REMOTE}/git-receive-pack`, 'POST'],
    ['POST', `${REMOTE}/info/refs`, 'GET, HEAD'],
  ])('%s %s: 405, and Allow says %s', async (method, path, allowed) => {
    const response = await ask(method, path);
    expect(response.status).toBe(405);
    expect(response.headers.get('Allow')).toBe(allowed);
    if (method === 'HEAD') return;
    expect(await response.json()).toEqual({ error: `method not allowed; this path accepts ${allowed}` });
  });
});

describe('a path that is none', () => {
  it.each([
    ['GET', '/nothing/here'],
    ['POST', '/api/nothing'],
    ['GET', '/health/'],
    ['PUT', `${REMOTE}/pulls/anonymous`],
  ])('%s %s: 404, without Allow', async (method, path) => {
    const response = await ask(method, path);
    expect(response.status).toBe(404);
    expect(response.headers.get('Allow')).toBeNull();
    expect(await response.json()).toEqual({ error: 'not found' });
  });
});
