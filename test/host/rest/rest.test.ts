/**
 * Calls of a host's REST interface: what they send, to whom, and which answers they do not take.
 */
import { describe, expect, it, vi } from 'vitest';
import { Rest, type RestHabits } from '../../../src/host/rest/rest.ts';
import { systemClock } from '../../../src/isolate/clock.ts';
import type { Http } from '../../../src/outgoing/http-client.ts';
import { timingOutOnly } from '../../support/timeouts.ts';
import { ACCOUNT } from '../support/back-off.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const API = 'https://api.host.test';
const COMMENTS = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
const THREAD = { owner: 'o', repo: 'r', issue_number: 1 };

function opened(answers: readonly Response[], habits: Partial<RestHabits> = {}) {
  const left = [...answers];
  const fetch = vi.fn<Http['fetch']>(async () => left.shift() ?? Response.error());
  const access = { apiUrl: API, token: 'secret', http: { fetch }, clock: systemClock, ...ACCOUNT };
  const asked = () =>
    fetch.mock.calls.map(([url, init]) => [init?.method, (url as string).replace(API, ''), init?.body]);
  return { fetch, asked, rest: new Rest({ kind: 'github', ...access }, habits) };
}

const redirected = (status: number, Location: string): Response =>
  Response.json({ message: 'Moved' }, { status, headers: { Location } });

/** Never answers. */
function silent(_url: unknown, { signal }: RequestInit = {}): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal?.addEventListener('abort', () => reject(signal.reason as Error));
  return promise;
}

describe('a call', () => {
  it('does not tell its version, nor the runtime', async () => {
    const { fetch, rest } = opened([Response.json({ login: 'bot' })]);
    await rest.call('GET /user', {});
    expect(fetch.mock.calls[0]?.[1]?.headers).toEqual({
      accept: 'application/vnd.github.v3+json',
      authorization: 'token secret',
      'user-agent': 'gitveil',
      'x-github-api-version': '2022-11-28',
    });
  });

  it('has its parameters in the path, the query and the body, and nothing breaks out of any of them', async () => {
    const { asked, rest } = opened([Response.json({}), Response.json({}, { status: 201 })]);
    const path = '../a b?c#d';
    await rest.call('GET /repos/{owner}/{repo}/contents/{path}', {
      owner: 'o',
      repo: 'r',
      path,
      ref: 'x&y=z',
    });
    await rest.call('POST /repos/{owner}/{repo}/issues', {
      owner: 'o',
      repo: 'r',
      title: '"',
      labels: ['a'],
    });
    expect(asked()).toEqual([
      ['GET', '/repos/o/r/contents/..%2Fa%20b%3Fc%23d?ref=x%26y%3Dz', null],
      ['POST', '/repos/o/r/issues', '{"title":"\\"","labels":["a"]}'],
    ]);
  });

  it('goes to the host for a further page, whatever address that names', async () => {
    const Link = '<https://elsewhere.test/notifications?page=2>; rel="next"';
    const { asked, rest } = opened([
      Response.json([{ id: 1 }], { headers: { Link } }),
      Response.json([{ id: 2 }]),
    ]);
    expect(await rest.all(COMMENTS, THREAD)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(asked().map(([, path]) => path)).toEqual([
      '/repos/o/r/issues/1/comments?per_page=100',
      '/repos/o/r/issues/1/comments?per_page=100&page=2',
    ]);
  });

  it.each([301, 302, 303])('does not take the redirect %i of a write for its success', async (status) => {
    const { rest } = opened([Response.json({ message: 'Moved' }, { status, headers: { Location: '/x' } })]);
    const write = rest.call('POST /repos/{owner}/{repo}/issues', { owner: 'o', repo: 'r', title: 't' });
    await expect(write).rejects.toMatchObject({ failure: { status, effect: 'none' } });
  });

  it('of a repository that was renamed is repeated where the host says: a read always, a write only as a write', async () => {
    const to = '/repositories/7/issues/1/comments?page=2';
    for (const status of [301, 302, 303, 307, 308]) {
      const { asked, rest } = opened([redirected(status, to), Response.json([])]);
      await rest.call(COMMENTS, THREAD);
      expect(asked()[1]).toEqual(['GET', '/repositories/7/issues/1/comments?page=2', null]);
    }
    for (const status of [307, 308]) {
      const { asked, rest } = opened([redirected(status, to), Response.json({}, { status: 201 })]);
      await rest.call(`POST /repos/{owner}/{repo}/issues/{issue_number}/comments`, { ...THREAD, body: 'b' });
      expect(asked()[1]).toEqual(['POST', '/repositories/7/issues/1/comments?page=2', '{"body":"b"}']);
    }
  });

  it.each([
    ['the server of its pages and of Git', 'https://host.test/repos/o/r/issues/1/comments'],
    ['another port', `${API}:8443/repos/o/r/issues/1/comments`],
    ['without TLS', 'http://api.host.test/repos/o/r/issues/1/comments'],
    ['this machine', 'http://localhost:8080/repos/o/r/issues/1/comments'],
    ['a user', 'https://x@api.host.test/repos/o/r/issues/1/comments'],
    ['a page to sign in', '/login'],
    ['nowhere', ''],
  ])('is made once if the host sends it elsewhere: %s', async (_, location) => {
    const calls = [
      [COMMENTS, THREAD],
      ['POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...THREAD, body: 'b' }],
      ['GET /notifications', {}],
    ] as const;
    for (const status of [301, 302, 303, 307, 308])
      for (const [route, parameters] of calls) {
        const { asked, rest } = opened([redirected(status, location)]);
        await expect(rest.call(route, parameters as never)).rejects.toMatchObject({
          code: 'refused',
          failure: { status, effect: 'none', whose: 'theirs' },
        });
        expect(asked()).toHaveLength(1);
      }
  });

  it('names the repository that has moved to another server; without one, the host', async () => {
    const answer = [301, 'https://elsewhere.test/x'] as const;
    const says = 'it has moved to another server: elsewhere.test';
    await expect(opened([redirected(...answer)]).rest.call(COMMENTS, THREAD)).rejects.toMatchObject({
      publicMessage: expect.stringMatching(/^o\/r has moved to another server: elsewhere\.test\./),
      failure: { says },
    });
    await expect(opened([redirected(...answer)]).rest.call('GET /user', {})).rejects.toMatchObject({
      publicMessage: expect.stringMatching(/^api\.host\.test has moved to another server/),
    });
  });

  it('that is sent from address to address is given up after a few', async () => {
    const { asked, rest } = opened(Array.from({ length: 30 }, (_, at) => redirected(301, `/${at}`)));
    await expect(rest.call(COMMENTS, THREAD)).rejects.toMatchObject({ failure: { lasts: 'moment' } });
    expect(asked()).toHaveLength(6);
  });

  it.each([
    ['is no JSON', () => new Response('<html></html>', { headers: { 'Content-Type': 'text/html' } })],
    ['breaks off', () => new Response('{"login": "b', { headers: { 'Content-Type': 'application/json' } })],
    ['is null', () => Response.json(null)],
    ['is a text', () => Response.json('bot')],
    ['is a number', () => Response.json(1)],
    ['is empty', () => new Response('')],
    ['is longer than any answer', () => new Response(new Uint8Array(33 * 1024 * 1024))],
  ])('takes an answer that %s for no answer', exhaustive, async (_, answer) => {
    const { rest } = opened([answer()]);
    await expect(rest.call('GET /user', {})).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('is given up after 30 seconds, or when its caller says', async () => {
    for (const [habits, ms] of [
      [{}, 30_000],
      [{ timeoutMs: 7 }, 7],
    ] as const) {
      const { fetch, rest } = opened([], { isPatient: false, ...habits });
      fetch.mockImplementation(silent);
      timingOutOnly(ms);
      await expect(rest.call('GET /user', {})).rejects.toMatchObject({ code: 'unreachable' });
      vi.restoreAllMocks();
    }
  });
});
