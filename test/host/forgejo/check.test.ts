/** What an operator hears of a token that is limited to public repositories, by versions that no test runs. */
import { describe, expect, it } from 'vitest';
import { checkForgejo } from '../../../src/host/forgejo/check.ts';
import { ACCOUNT } from '../support/back-off.ts';
import { json, type Script, ScriptedHost } from '../support/scripted-host.ts';

const missing = () => json(404, { message: 'Not Found' });

/** A server that has all that the service needs, but for what `more` answers. */
function checked(more: (path: string, isBot: boolean) => Response | undefined) {
  const script: Script = ({ path, headers }) => {
    const answer = more(path, headers.has('Authorization'));
    if (answer !== undefined) return answer;
    if (path === '/api/v1/version') return json(200, { version: '1.27.3' });
    if (path === '/api/v1/settings/repository') return json(200, {});
    if (path === '/api/v1/user') return json(200, { id: 1, login: 'bot' });
    return path.startsWith('/api/v1/notifications') ? json(200, []) : missing();
  };
  const http = new ScriptedHost(script);
  const apiUrl = 'http://127.0.0.1:3000/api/v1';
  return { http, check: checkForgejo({ apiUrl, token: 'secret', http, ...ACCOUNT }, 'gitea') };
}

describe('a token', () => {
  const sentence =
    '127.0.0.1:3000 limits the token to public repositories (public-only), which breaks notifications or Git there. ' +
    'Make one without that limit, with write:repository, write:issue, read:user and read:notification.';

  it('without a limit is ready, and Git was asked for a repository that does not exist', async () => {
    const { check, http } = checked(() => undefined);
    expect(await check).toMatchObject({ kind: 'ready' });
    const git = http.asked.find(({ path }) => path.includes('.git/'));
    expect(git).toMatchObject({
      method: 'POST',
      path: '/bot/gitveil-asks-for-its-scopes.git/git-upload-pack',
    });
    expect(git?.headers.get('Authorization')).toBe(`Basic ${btoa('x-access-token:secret')}`);
  });

  it('for public repositories only is named where Gitea 1.27.3 refuses it notifications', async () => {
    const { check } = checked((path) =>
      path.startsWith('/api/v1/notifications')
        ? json(403, { message: 'this endpoint is not available for public-only tokens' })
        : undefined,
    );
    expect(await check).toEqual({ kind: 'public-only', sentence });
  });

  it('for public repositories only is named where Git fails, as in Gitea 1.26 and Forgejo', async () => {
    const { check } = checked((path, isBot) =>
      path.includes('.git/') ? new Response('', { status: isBot ? 500 : 401 }) : undefined,
    );
    expect(await check).toEqual({ kind: 'public-only', sentence });
  });

  it.each([
    ['once', [500, 401, 404]],
    ['for everybody', [500, 500, 500]],
  ])('is not blamed where Git fails %s', async (_, statuses) => {
    const { check } = checked((path) =>
      path.includes('.git/') ? new Response('', { status: statuses.shift() ?? 404 }) : undefined,
    );
    expect(await check).toMatchObject({ kind: 'ready' });
  });

  it('is not blamed for a proxy that does not answer for Git', async () => {
    const { check } = checked((path) =>
      path.includes('.git/') ? new Response('', { status: 502 }) : undefined,
    );
    expect(await check).toMatchObject({ kind: 'ready' });
  });
});
