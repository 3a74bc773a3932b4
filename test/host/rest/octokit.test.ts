/** Octokit as it is used here: what it sends, to whom, and which answers it does not take. */
import { describe, expect, it, vi } from 'vitest';
import { openOctokit } from '../../../src/host/rest/octokit.ts';
import { ACCOUNT } from '../support/back-off.ts';
import type { Http } from '../../../src/outgoing/http-client.ts';

const API = 'https://api.host.test';

function opened(...answers: Response[]) {
  const fetch = vi.fn<Http['fetch']>(async () => answers.shift() ?? Response.error());
  return {
    fetch,
    octokit: openOctokit({ apiUrl: API, token: 'secret', http: { fetch }, ...ACCOUNT }),
  };
}

describe('Octokit', () => {
  it('does not tell its version, nor the runtime', async () => {
    const { fetch, octokit } = opened(Response.json({ login: 'bot' }));
    await octokit.rest.users.getAuthenticated();
    expect(fetch.mock.calls[0]?.[1]?.headers).toEqual({
      accept: 'application/vnd.github.v3+json',
      authorization: 'token secret',
      'user-agent': 'gitveil',
      'x-github-api-version': '2022-11-28',
    });
  });

  it('does not take the token to another server, though the host names it', async () => {
    const Link = '<https://elsewhere.test/notifications?page=2>; rel="next"';
    const { fetch, octokit } = opened(Response.json([{ id: 1 }], { headers: { Link } }));
    const list = octokit.paginate(octokit.rest.issues.listComments, {
      owner: 'o',
      repo: 'r',
      issue_number: 1,
    });
    await expect(list).rejects.toMatchObject({ code: 'unreachable' });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it.each([301, 302, 303])('does not take the redirect %i of a write for its success', async (status) => {
    const { octokit } = opened(Response.json({ message: 'Moved' }, { status, headers: { Location: '/x' } }));
    const write = octokit.rest.issues.create({ owner: 'o', repo: 'r', title: 't' });
    await expect(write).rejects.toMatchObject({ failure: { status, effect: 'none' } });
  });

  it.each([
    ['is no JSON', () => new Response('<html></html>', { headers: { 'Content-Type': 'text/html' } })],
    ['breaks off', () => new Response('{"login": "b', { headers: { 'Content-Type': 'application/json' } })],
    [
      'is longer than any answer',
      () =>
        new Response(new Uint8Array(33 * 1024 * 1024), { headers: { 'Content-Type': 'application/json' } }),
    ],
  ])('takes an answer that %s for no answer', async (_, answer) => {
    const { octokit } = opened(answer());
    await expect(octokit.rest.users.getAuthenticated()).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('gives every call up after 30 seconds, unless the call says when', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const { fetch, octokit } = opened(Response.json({}), Response.json({}));
    const { signal } = new AbortController();
    await octokit.rest.users.getAuthenticated();
    await octokit.rest.users.getAuthenticated({ request: { signal } });
    expect(timeout.mock.calls).toEqual([[30_000]]);
    expect(fetch.mock.calls[1]?.[1]?.signal).toBe(signal);
    timeout.mockRestore();
  });
});
