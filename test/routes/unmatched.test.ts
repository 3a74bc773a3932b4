/** Requests that no route answers: an unknown path, and a known one with another method. */
import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import worker from '../../src/worker.ts';

async function ask(method: string, path: string, accept = '*/*'): Promise<Response> {
  const request = new Request(`https://gitveil.test${path}`, { method, headers: { Accept: accept } });
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
    expect(await response.json()).toMatchObject({
      error: `method not allowed; this path accepts ${allowed}`,
    });
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
    expect(await response.json()).toMatchObject({ error: 'not found' });
  });
});

describe('a browser', () => {
  const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  it('gets a page that leads on', async () => {
    const response = await ask('GET', '/nothing/here', HTML);
    expect([response.status, response.headers.get('Content-Type')]).toEqual([
      404,
      'text/html; charset=UTF-8',
    ]);
    expect(await response.text()).toMatch(
      /<h1>There is no such page<\/h1>[^]*<a href="\/">Start from the front page/,
    );
    expect((await ask('GET', '/admin/panic', HTML)).headers.get('Content-Type')).toMatch(/^text\/html/);
  });

  it('is led to the repository that its address may mean', async () => {
    const response = await ask('GET', '/octo/hello/issues/7', HTML);
    const link = '<a href="/v1/gh/octo/hello/issues/7">/v1/gh/octo/hello/issues/7</a>';
    expect(await response.text()).toContain(`Did you mean ${link}?`);
    for (const path of ['/nothing', '/octo/he%20llo', '/<script>/x']) {
      const other = await ask('GET', path, HTML);
      expect([other.status, (await other.text()).includes('Did you mean')]).toEqual([404, false]);
    }
  });

  it.each(['/docs/', '/privacy//', `${REMOTE}/change/`])('is led on from %s', async (path) => {
    const response = await ask('GET', path, HTML);
    expect([response.status, response.headers.get('Location')]).toEqual([302, path.replace(/\/+$/, '')]);
  });

  it.each(['issues', 'pulls'])('is led to the page of a repository from its list of %s', async (list) => {
    const response = await ask('GET', `${REMOTE}/${list}`, HTML);
    expect([response.status, response.headers.get('Location')]).toEqual([302, REMOTE]);
  });

  it('is led to no other host', async () => {
    for (const path of ['//evil.test/docs/', '/\\evil.test/docs/']) {
      const response = await ask('GET', path, HTML);
      expect(response.headers.get('Location') ?? '/').toMatch(/^\/(?!\/)/);
    }
  });
});
