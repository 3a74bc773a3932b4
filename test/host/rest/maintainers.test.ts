/** Who may speak for a repository, as hosts say it, and the answers to their comments. */
import { describe, expect, it } from 'vitest';
import type { HostKind } from '../../../src/host/kinds.ts';
import { openMaintainers } from '../../../src/host/open.ts';
import { ACCOUNT } from '../support/back-off.ts';
import { API, json, PatientClock, type Script, ScriptedHost } from '../support/scripted-host.ts';

const NAME = { owner: 'octo', name: 'hello' };

function opened(kind: HostKind, script: Script) {
  const http = new ScriptedHost(script);
  const access = { kind, apiUrl: API, token: 'secret', http, ...ACCOUNT, clock: new PatientClock() };
  return { host: openMaintainers(access, () => {}), http };
}

const EMPTY = new Response(null, { status: 204 });
const NO = json(403, { message: 'Only admins can query all permissions' });
const MISSING = json(404, { message: 'Not Found' });

describe('the standing of an author', () => {
  it.each([
    ['OWNER', 'owner'],
    ['MEMBER', 'maintainer'],
    ['COLLABORATOR', 'maintainer'],
    ['CONTRIBUTOR', 'none'],
    ['NONE', 'none'],
    ['toString', 'none'],
  ])('is what GitHub says with the comment: %s', async (association, standing) => {
    const { host, http } = opened('github', () => MISSING);
    expect(await host.standing(NAME, { login: 'octo', association })).toBe(standing);
    expect(http.asked).toEqual([]);
  });

  it('is that of the owner at a host that says nothing', async () => {
    const { host, http } = opened('gitea', () => MISSING);
    expect(await host.standing(NAME, { login: 'Octo', association: null })).toBe('owner');
    expect(http.asked).toEqual([]);
  });

  it.each<[string, Response, Response, string]>([
    ['may write', json(200, { permission: 'write' }), MISSING, 'owner'],
    ['may read', json(200, { permission: 'read' }), MISSING, 'none'],
    ['is a collaborator, though permissions are secret', NO, EMPTY, 'maintainer'],
    ['is none, and permissions are secret', NO, MISSING, 'none'],
    ['may not be asked for at all', NO, NO, 'none'],
  ])(
    'is looked up where the host says nothing: one who %s',
    async (_, permission, collaborator, standing) => {
      const { host } = opened('gitea', ({ path }) =>
        (path.endsWith('/permission') ? permission : collaborator).clone(),
      );
      expect(await host.standing(NAME, { login: 'mona', association: null })).toBe(standing);
    },
  );

  it.each([
    [json(200, [{ login: 'lisa' }, { login: 'Mona' }]), 'maintainer'],
    [json(200, [{ login: 'lisa' }]), 'none'],
    [NO, 'none'],
  ])('is that of a team that may write, which only the list of assignees shows', async (list, standing) => {
    const { host } = opened('gitea', ({ path }) =>
      (path.endsWith('/assignees') ? list : path.endsWith('/permission') ? NO : MISSING).clone(),
    );
    expect(await host.standing(NAME, { login: 'mona', association: null })).toBe(standing);
  });

  it('is not known while the host fails', async () => {
    const { host } = opened('gitea', () => json(500, {}));
    await expect(host.standing(NAME, { login: 'mona', association: null })).rejects.toThrow();
  });
});

describe('an answer with a thumb', () => {
  const COMMENT = { id: 12, in: 'comment' } as const;

  it.each([201, 200, 403, 404])('is given, or not allowed: %d', async (status) => {
    const { host, http } = opened('github', () => json(status, { id: 1, message: '' }));
    await host.acknowledge(NAME, 3, COMMENT);
    expect(http.asked.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/repos/octo/hello/issues/comments/12/reactions', '{"content":"+1"}'],
    ]);
  });

  it('is tried again later if the host fails', async () => {
    const { host } = opened('github', () => json(502, {}));
    await expect(host.acknowledge(NAME, 3, COMMENT)).rejects.toThrow();
  });

  it.each<[HostKind, 'line' | 'review', string]>([
    ['github', 'line', 'pulls/comments/12'],
    ['gitea', 'line', 'issues/comments/12'],
    ['github', 'review', 'issues/3'],
    ['gitea', 'review', 'issues/3'],
  ])('goes to what the host can answer: %s, %s', async (kind, where, path) => {
    const { host, http } = opened(kind, () => json(201, { id: 1 }));
    await host.acknowledge(NAME, 3, { id: 12, in: where });
    expect(http.asked.map((asked) => asked.path)).toEqual([`/repos/octo/hello/${path}/reactions`]);
  });
});

const entry = (number: number, login: string, more = {}) => ({
  number,
  html_url: `https://host.test/octo/hello/issues/${number}`,
  user: { login },
  ...more,
});

describe('what an account has opened', () => {
  it.each<[HostKind, string]>([
    ['github', 'creator=veil-bot'],
    ['gitea', 'created_by=veil-bot'],
  ])('is listed, without what others have: %s', async (kind, query) => {
    const list = [entry(1, 'veil-bot'), entry(2, 'mona'), entry(3, 'Veil-Bot', { pull_request: {} })];
    const { host, http } = opened(kind, () => json(200, list));
    const open = await host.openedBy(NAME, { id: 1, login: 'veil-bot' });
    expect(open.map(({ number, isPullRequest }) => [number, isPullRequest])).toEqual([
      [1, false],
      [3, true],
    ]);
    expect(http.asked[0]?.path).toContain(query);
    expect(http.asked[0]?.path).toContain('state=open');
  });
});
