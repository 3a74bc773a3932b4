/**
 * Writes to a host that redirects them, answers something else than was asked for, or loses its
 * answer.
 */
import { describe, expect, it } from 'vitest';
import type { NewPullRequest } from '../../src/host/code-host.ts';
import { type ForkHost, openRepositories, openThreads } from '../../src/host/open.ts';
import { ACCOUNT } from './support/back-off.ts';
import { REPOSITORY } from './support/repository.ts';
import { API, json, PatientClock, type Script, ScriptedHost } from './support/scripted-host.ts';

const OLD = { owner: 'octo', name: 'hello' };
const FORKED = { ...REPOSITORY, networkId: 5 };
const FORK = { owner: 'bot', name: 'hello' };
const TIP = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);

function opened(script: Script) {
  const http = new ScriptedHost(script);
  const clock = new PatientClock();
  const access = { apiUrl: API, token: 'secret', http, ...ACCOUNT, clock };
  return {
    http,
    clock,
    github: openRepositories({ kind: 'github', ...access }) as ForkHost,
    threads: openThreads({ kind: 'github', ...access }),
  };
}

const repositoryAnswer = (name: string, isPrivate = false) => ({
  id: 7,
  name,
  owner: { login: 'octo' },
  private: isPrivate,
  archived: false,
  size: 1,
});

const comment = { id: 3, html_url: 'https://host.test/octo/renamed/issues/1#3', body: 'x', user: { id: 1 } };

const redirecting =
  (status: number, shown: unknown): Script =>
  ({ method, path }) => {
    if (method === 'GET') return json(200, shown);
    if (path.startsWith('/repos/octo/renamed/')) return json(201, comment);
    return json(status, { message: 'Moved' }, { Location: `${API}/repositories/7/issues/1/comments` });
  };

const refAnswer = (sha: string) => ({ ref: 'refs/heads/main', object: { sha } });

const BOT = { id: 1, login: 'bot' };

const pull = (number: number, ref = 'anon-1', login = 'bot', user: object | null = BOT) => ({
  number,
  html_url: `https://host.test/octo/hello/pull/${number}`,
  state: 'open',
  user,
  base: { ref: 'main', repo: { id: 7 } },
  head: { label: `${login}:${ref}`, ref, user: { login }, repo: null },
});

const NOT_FOUND = () => json(404, { message: 'Not Found' });

/**
 * A host that answers 404 to a deletion.
 * @param looked what it answers to whoever looks then.
 * @param repository what it answers to whoever looks for the repository.
 */
const deleting = (looked: Response, repository = json(200, repositoryAnswer('hello'))) =>
  opened(({ method, path }) => {
    if (method === 'DELETE') return NOT_FOUND();
    return path === '/repos/octo/hello' ? repository : looked;
  });

describe('a comment that the host does not find when it is to be deleted', () => {
  it('is asked for, and if it is still there, the host refuses to delete it', async () => {
    const { threads } = deleting(json(200, comment));
    await expect(threads.deleteComment(OLD, 3, null)).rejects.toMatchObject({
      code: 'refused',
      failure: { lasts: 'final', status: 404 },
      publicMessage: 'The code host shows it, but does not let this service change it.',
    });
  });

  it('is gone if it is not found then, either', async () => {
    const { http, threads } = deleting(NOT_FOUND());
    await threads.deleteComment(OLD, 3, null);
    expect(http.asked.map(({ method }) => method)).toEqual(['DELETE', 'GET', 'GET']);
  });

  it('may come back if its repository is not found, either', async () => {
    const { threads } = deleting(NOT_FOUND(), NOT_FOUND());
    await expect(threads.deleteComment(OLD, 3, null)).rejects.toMatchObject({ code: 'missing' });
  });
});

describe('a write to a repository that was renamed', () => {
  it.each([301, 302, 303])('and is redirected with %i is made once under the new name', async (status) => {
    const { http, threads } = opened(redirecting(status, repositoryAnswer('renamed')));
    expect(await threads.createComment(OLD, 1, 'text')).toEqual({ id: 3, url: comment.html_url });
    expect(http.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /repos/octo/hello/issues/1/comments',
      'GET /repos/octo/hello',
      'POST /repos/octo/renamed/issues/1/comments',
    ]);
    expect(http.asked[2]?.body).toBe(http.asked[0]?.body);
  });

  it.each([
    ['is private', repositoryAnswer('renamed', true)],
    ['has the same name', repositoryAnswer('Hello')],
  ])('is an error if the repository that is shown %s', async (_, shown) => {
    const { http, threads } = opened(redirecting(301, shown));
    await expect(threads.createComment(OLD, 1, 'text')).rejects.toMatchObject({ code: 'moved' });
    expect(http.writes).toHaveLength(1);
  });
});

/** An issue that is in another repository now. */
const elsewhere = (isPrivate = false) =>
  opened(({ method, path }) => {
    if (path === '/repos/octo/other') return json(200, { ...repositoryAnswer('other', isPrivate), id: 9 });
    if (path === '/repos/octo/hello') return json(200, repositoryAnswer('hello'));
    if (method === 'GET') return json(200, { number: 7, html_url: 'https://host.test/octo/other/issues/7' });
    if (path.startsWith('/repos/octo/other/')) return json(200, { number: 7, state: 'closed' });
    return json(301, { message: 'Moved Permanently' }, { Location: `${API}/repositories/9/issues/7` });
  });

describe('an issue that was transferred', () => {
  it('is closed where it is now', async () => {
    const { http, threads } = elsewhere();
    await threads.closeIssue(OLD, 1, null);
    expect(http.writes.map(({ path }) => path)).toEqual([
      '/repos/octo/hello/issues/1',
      '/repos/octo/other/issues/7',
    ]);
  });

  it('is not touched where only the bot may see it', async () => {
    const { http, threads } = elsewhere(true);
    await expect(threads.closeIssue(OLD, 1, null)).rejects.toMatchObject({ code: 'moved' });
    expect(http.writes).toHaveLength(1);
  });

  it('takes no comment by its old number, and is named', async () => {
    const { http, threads } = elsewhere();
    await expect(threads.createComment(OLD, 1, 'text')).rejects.toMatchObject({
      failure: { status: 301, says: 'it is octo/other#7 now' },
    });
    expect(http.writes).toHaveLength(1);
  });
});

describe('a comment', () => {
  it.each([
    ['with another status', 200, comment],
    ['without a number', 201, { ...comment, id: undefined }],
    ['without an address', 201, { ...comment, html_url: 'javascript:alert(1)' }],
    ['that is a list', 201, []],
  ])('that is answered %s may or may not exist', async (_, status, body) => {
    const { http, threads } = opened(() => json(status, body));
    await expect(threads.createComment(OLD, 1, 'text')).rejects.toMatchObject({ code: 'unreachable' });
    expect(http.writes).toHaveLength(1);
  });

  it('is not looked for in an answer that is no list', async () => {
    const { threads } = opened(({ path }) => json(200, path === '/user' ? { id: 1 } : { message: 'odd' }));
    await expect(threads.ownComments(OLD, 1, 0)).rejects.toMatchObject({ code: 'unreachable' });
  });
});

describe('an issue with labels', () => {
  const issue = { title: 't', body: 'b', labels: ['bug'] };
  const created = { number: 5, html_url: 'https://host.test/octo/hello/issues/5' };

  it('that the host refuses for them is opened without, once', async () => {
    const { http, threads } = opened(({ body }) =>
      body.includes('"bug"')
        ? json(403, { message: 'Must have push access to set labels.' })
        : json(201, created),
    );
    expect(await threads.createIssue(OLD, issue)).toMatchObject({ number: 5 });
    expect(http.asked).toHaveLength(2);
  });

  it.each([
    ['for any reason', 403, 1],
    ['as unknown', 404, 1],
  ])('that the host refuses %s is refused', async (_, status, calls) => {
    const { http, threads } = opened(() => json(status, { message: 'No.' }));
    await expect(threads.createIssue(OLD, issue)).rejects.toMatchObject({ failure: { status } });
    expect(http.asked).toHaveLength(calls);
  });
});

describe('a fork', () => {
  const forkAnswer = (parentId: number, sourceId: number) => ({
    ...repositoryAnswer('hello-1'),
    owner: { login: 'bot' },
    parent: { id: parentId },
    source: { id: sourceId },
  });

  it.each([
    ['of the repository', 7, 7],
    ['of another one in its network', 6, 5],
  ])('%s is taken, under the name that it has', async (_, parentId, sourceId) => {
    const { github } = opened(() => json(202, forkAnswer(parentId, sourceId)));
    expect(await github.fork(FORKED)).toEqual({ owner: 'bot', name: 'hello-1' });
  });

  it.each([
    ['of another repository', forkAnswer(8, 8)],
    ['of none', repositoryAnswer('hello')],
  ])('%s is not taken', async (_, answer) => {
    const { github } = opened(() => json(202, answer));
    await expect(github.fork(FORKED)).rejects.toMatchObject({ code: 'refused' });
  });

  const root = (login: string) => ({ ...repositoryAnswer('hello'), id: FORKED.networkId, owner: { login } });
  const rootOf = (login: string) =>
    opened(({ path }) => (path === '/user' ? json(200, BOT) : json(202, root(login)))).github;

  it('that became the root, because the repository above was deleted, is taken if it is the bot’s', async () => {
    expect(await rootOf('bot').fork(FORKED)).toEqual(FORK);
    await expect(rootOf('mona').fork(FORKED)).rejects.toMatchObject({ code: 'refused' });
  });

  it('that is the repository itself is not taken', async () => {
    const { github } = opened(({ path }) =>
      path === '/user' ? json(200, BOT) : json(202, { ...root('bot'), id: FORKED.id }),
    );
    const alone = { ...FORKED, networkId: FORKED.id };
    await expect(github.fork(alone)).rejects.toMatchObject({ code: 'refused' });
  });
});

describe('a branch of the fork', () => {
  it('that the host says it has brought forward is not looked at', async () => {
    const { http, github } = opened(() => json(200, { merge_type: 'fast-forward' }));
    await github.syncBranch(FORK, { repository: FORKED, name: 'main', tip: TIP });
    expect(http.asked.map(({ method }) => method)).toEqual(['POST']);
  });

  it('that the host says it has synced, and has not, is set', async () => {
    const { http, github } = opened(({ method, path }) => {
      if (path.endsWith('/merge-upstream')) return json(200, { merge_type: 'none' });
      return json(200, refAnswer(method === 'GET' ? OTHER : TIP));
    });
    await github.syncBranch(FORK, { repository: FORKED, name: 'main', tip: TIP });
    expect(http.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  });

  it('that is not where it was to be set is an error', async () => {
    const { github } = opened(() => json(200, refAnswer(OTHER)));
    await expect(
      github.syncBranch(FORK, { repository: FORKED, name: 'main', tip: TIP }),
    ).rejects.toMatchObject({ code: 'unreachable' });
  });

  it.each([
    ['at the same commit', TIP, ['POST']],
    ['elsewhere', OTHER, ['POST', 'POST', 'PATCH']],
  ])('that another push has added meanwhile %s is no error', async (_, there, writes) => {
    const { http, github } = opened(({ method, path }) => {
      if (method === 'GET') return json(200, refAnswer(there));
      if (method === 'PATCH') return json(200, refAnswer(TIP));
      if (path.endsWith('/merge-upstream')) return json(200, {});
      return json(422, { message: 'Reference already exists' });
    });
    await github.addBranch(FORK, { repository: FORKED, name: 'main', tip: TIP }, OTHER);
    expect(http.writes.map(({ method }) => method)).toEqual(writes);
  });
});

describe('a pull request', () => {
  const LABEL = 'bot:anon-1';
  const HEAD = { owner: 'bot', branch: 'anon-1' };
  const request: NewPullRequest = { head: HEAD, isDraft: false, base: 'main', title: 't', body: 'b' };
  const exists = () =>
    json(422, {
      message: 'Validation Failed',
      errors: [{ message: `A pull request already exists for ${LABEL}.` }],
    });

  it.each([true, false])('is opened as a draft: %s', async (isDraft) => {
    const { http, github } = opened(() => json(201, pull(3)));
    await github.openPullRequest(OLD, { ...request, isDraft });
    const sent = { head: LABEL, base: 'main', title: 't', body: 'b', draft: isDraft };
    expect(JSON.parse(http.writes[0]?.body ?? '')).toEqual(sent);
  });

  it.each([
    ['a fork', 'fork'],
    ['a pull request', 'open'],
  ])('is looked for where the host does not find it for %s', async (_, what) => {
    const { http, github } = opened(() => json(404, { message: 'Not Found' }));
    const made = what === 'fork' ? github.fork(FORKED) : github.openPullRequest(OLD, request);
    await expect(made).rejects.toMatchObject({ code: 'missing' });
    expect(http.asked.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('that the bot may not open is no missing repository', async () => {
    const { github } = opened(({ method }) =>
      method === 'GET' ? json(200, repositoryAnswer('hello')) : json(404, { message: 'Not Found' }),
    );
    await expect(github.openPullRequest(OLD, request)).rejects.toMatchObject({
      code: 'refused',
      publicMessage: expect.stringContaining('open a pull request there, and does not say why'),
    });
  });

  it('is found among others that a host shows though they were not asked for', async () => {
    const others = [pull(1, 'anon-2'), pull(2, 'anon-1', 'someone'), pull(3, 'anon-1', 'Bot'), pull(4, 'x')];
    const { github } = opened(() => json(200, others));
    expect(await github.findPullRequest(OLD, HEAD)).toMatchObject({ number: 3 });
  });

  it.each([
    ['somebody else', { id: 2, login: 'mallory' }],
    ['somebody else’s App', { id: 3, login: 'mallory[bot]', type: 'Bot' }],
    ['nobody who is still there', null],
  ])('that %s has opened from the bot’s branch is none', async (_, user) => {
    const others = pull(3, 'anon-1', 'bot', user);
    const { github } = opened(({ path }) => json(200, path.includes('/pulls?') ? [others] : others));
    expect(await github.findPullRequest(OLD, HEAD)).toBeNull();
    const place = { owner: 'octo', repo: 'hello', number: 3 };
    expect(await github.findPullRequest(OLD, HEAD, place)).toBeNull();
    // Of a repository that is known by its number, the number of the pull request is enough.
    expect(await github.findPullRequest(OLD, HEAD, { ...place, repositoryId: 7 })).toMatchObject({
      number: 3,
    });
  });

  it('of the bot’s is found behind those that others have opened from its branch', async () => {
    const mallory = { id: 2, login: 'mallory' };
    const all = [pull(5, 'anon-1', 'bot', mallory), { ...pull(4), state: 'closed' }, pull(3)];
    const { github } = opened(() => json(200, all));
    expect(await github.findPullRequest(OLD, HEAD)).toMatchObject({ number: 3 });
  });

  it('that is recorded in another repository is none here, whoever has opened what is found', async () => {
    const { github } = opened(({ path }) => json(200, path.includes('/pulls?') ? [pull(3)] : pull(3)));
    const place = { owner: 'octo', repo: 'hello', number: 3, repositoryId: 8 };
    expect(await github.findPullRequest(OLD, HEAD, place)).toBeNull();
  });

  it('may be on a further page of a host that shows a hundred others', async () => {
    const { github } = opened(() =>
      json(
        200,
        Array.from({ length: 100 }, (_, at) => pull(at + 1, 'x')),
      ),
    );
    await expect(github.findPullRequest(OLD, HEAD)).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('is looked for three times where the host fails, after a pause and a longer one', async () => {
    const { http, clock, github } = opened(() => json(502, {}));
    await expect(github.findPullRequest(OLD, HEAD)).rejects.toMatchObject({ code: 'unreachable' });
    expect(http.asked).toHaveLength(3);
    expect(clock.slept).toEqual([200, 800]);
  });

  it('whose branch the host does not know yet is tried again for some seconds', async () => {
    const answers = [1, 2, 3].map(() =>
      json(422, { message: 'Validation Failed', errors: [{ field: 'head', code: 'invalid' }] }),
    );
    const { http, clock, github } = opened(() => answers.shift() ?? json(201, pull(1)));
    expect(await github.openPullRequest(OLD, request)).toMatchObject({ number: 1 });
    expect(http.asked).toHaveLength(4);
    expect(clock.slept).toEqual([500, 1_000, 2_000]);
  });

  it('whose branch stays unknown was refused, and says the field', async () => {
    const { http, github } = opened(() =>
      json(422, { message: 'Validation Failed', errors: [{ field: 'head', code: 'invalid' }] }),
    );
    await expect(github.openPullRequest(OLD, request)).rejects.toMatchObject({
      code: 'refused',
      publicMessage: 'api.host.test says: Validation Failed: head invalid',
    });
    expect(http.asked).toHaveLength(5);
  });

  it.each([
    ['that exists already', [], exists],
    ['whose answers are lost, and which exists then', [502], exists],
    ['whose answer is lost, and which is then refused', [502], () => json(403, { message: 'Blocked' })],
  ])('%s, but is not shown yet, may be open', async (_, failures, last) => {
    const { github } = opened(({ method }) => {
      if (method === 'GET') return json(200, []);
      const status = failures.shift();
      return status === undefined ? last() : json(status, {});
    });
    await expect(github.openPullRequest(OLD, request)).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('that exists already is found', async () => {
    const { http, github } = opened(({ method }) => (method === 'GET' ? json(200, [pull(9)]) : exists()));
    expect(await github.openPullRequest(OLD, request)).toMatchObject({ number: 9 });
    expect(http.writes).toHaveLength(1);
  });

  it('that the host refuses is refused', async () => {
    const { github } = opened(() => json(422, { message: 'No.', errors: ['Not here.'] }));
    await expect(github.openPullRequest(OLD, request)).rejects.toMatchObject({
      code: 'refused',
      publicMessage: 'api.host.test says: No.: Not here.',
    });
  });

  it('is closed only if the answer says so', async () => {
    const { github } = opened(() => json(200, { ...pull(4), closed_at: null, merged: false }));
    await expect(github.closePullRequest(OLD, 4, null)).rejects.toMatchObject({ code: 'unreachable' });
  });
});

describe('a repository takes pull requests', () => {
  const collaboratorsOnly = { has_pull_requests: true, pull_request_creation_policy: 'collaborators_only' };

  it.each([
    ['all', 'of an older GitHub Enterprise Server', {}],
    ['all', 'that says so', { has_pull_requests: true, pull_request_creation_policy: 'all' }],
    ['none', 'with pull requests switched off', { has_pull_requests: false }],
    ['none', 'with both settings', { ...collaboratorsOnly, has_pull_requests: false }],
    ['collaborators', 'of collaborators only', collaboratorsOnly],
    ['collaborators', 'that the bot may read', { ...collaboratorsOnly, permissions: { push: false } }],
    ['all', 'whose collaborator the bot is', { ...collaboratorsOnly, permissions: { push: true } }],
  ])('of %s: one %s', async (pullRequests, _, facts) => {
    const { github } = opened(() => json(200, { ...repositoryAnswer('hello'), ...facts }));
    expect(await github.repository(OLD)).toMatchObject({ pullRequests });
  });
});
