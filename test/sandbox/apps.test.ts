/**
 * The App: how it proves who it is, its installations, what their tokens may do, and how its texts
 * are shown.
 */
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../sandbox/records.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { appToken, callAsApp, installationToken, PERMISSIONS } from './support/app.ts';
import { Workshop, commitFile, git } from './support/git.ts';
import { type ApiAnswer, call, createFilled, fork, pushUrl } from './support/host.ts';

const HELLO = '/repos/octocat/hello';
const workshop = new Workshop();
let host: Sandbox;
let app: App;
let clock = Date.UTC(2026, 0, 1);
const now = (): number => clock / 1000;

beforeAll(async () => {
  host = await startSandbox({ now: () => new Date(clock), forkDelayMs: 0 });
  app = host.apps.register({ slug: 'gitveil', permissions: PERMISSIONS, events: ['issues'] });
  const workTree = await workshop.workTree();
  await createFilled(host, workTree, { owner: 'octocat', name: 'hello' });
  await createFilled(host, workTree, { owner: 'octocat', name: 'other' });
  await createFilled(host, workTree, { owner: 'mona', name: 'hers' });
  const name = await fork(host, 'octocat/hello');
  await commitFile(workTree, 'news.txt', 'News\n', 'Add news');
  await git(workTree, 'push', '--quiet', pushUrl(host, `${host.botLogin}/${name}`), 'HEAD:topic');
});

beforeEach(() => {
  if (host.apps.ofAccount('octocat')) host.apps.uninstall('octocat');
  host.apps.install('octocat', ['hello']);
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

const asApp = (path: string, token = appToken(app, { now: now() })) => callAsApp(host, 'GET', path, token);
const tokenFor = (narrowed = {}) => installationToken(host, 'octocat/hello', { now: now() }, narrowed);
const said = ({ status, body }: ApiAnswer) => [status, body['message']];

const NOT_ACCESSIBLE = [403, 'Resource not accessible by integration'];
const UNREADABLE = [401, 'A JSON web token could not be decoded'];

describe("the App's own token", () => {
  test('shows it the App, its installations and its webhook', async () => {
    expect((await asApp('/app')).body).toMatchObject({ slug: 'gitveil', installations_count: 1 });
    expect((await asApp('/app/installations')).list).toMatchObject([{ account: { login: 'octocat' } }]);
    expect((await asApp('/app/hook/config')).status).toBe(404);
  });

  test('is refused with another key, of another App, or unsigned', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    expect(said(await asApp('/app', appToken(app, { now: now(), key })))).toEqual(UNREADABLE);
    const other = appToken(app, { now: now(), issuer: '7' });
    expect(said(await asApp('/app', other))).toEqual([404, 'Integration not found']);
    expect(said(await asApp('/app', 'a.b.c'))).toEqual(UNREADABLE);
    expect(said(await asApp('/app', await tokenFor()))).toEqual(UNREADABLE);
  });

  test('is refused where its clock is five minutes off, or it lives for too long', async () => {
    const late = await asApp('/app', appToken(app, { now: now() + 300 }));
    expect(said(late)).toEqual([401, expect.stringMatching(/^'Issued at' claim/)]);
    const early = await asApp('/app', appToken(app, { now: now() - 600 }));
    expect(said(early)).toEqual([401, expect.stringMatching(/^'Expiration time'.*must be a numeric/)]);
    const long = await asApp('/app', appToken(app, { now: now(), lifeS: 601 }));
    expect(said(long)).toEqual([401, "'Expiration time' claim ('exp') is too far in the future"]);
  });

  test('finds the installation of a repository, and none elsewhere', async () => {
    const found = await asApp(`${HELLO}/installation`);
    expect(found.body).toMatchObject({ app_slug: 'gitveil', repository_selection: 'selected' });
    for (const path of ['/repos/octocat/other/installation', '/repos/mona/hers/installation'])
      expect((await asApp(path)).status).toBe(404);
  });
});

describe("an installation's token", () => {
  test('lives for an hour', async () => {
    const token = await tokenFor();
    const read = async () => (await call(host, 'GET', HELLO, undefined, { token })).status;
    expect(await read()).toBe(200);
    clock += 3_599_000;
    expect(await read()).toBe(200);
    clock += 1_000;
    expect(await read()).toBe(401);
  });

  test('is narrowed to repositories and permissions that the installation has', async () => {
    const path = `/app/installations/${host.apps.ofAccount('octocat')?.id}/access_tokens`;
    const make = (wanted: object) => callAsApp(host, 'POST', path, appToken(app, { now: now() }), wanted);
    expect(said(await make({ permissions: { contents: 'write' } }))[0]).toBe(422);
    expect(said(await make({ permissions: { administration: 'read' } }))[0]).toBe(422);
    expect(said(await make({ repositories: ['other'] }))[0]).toBe(422);
    const { body } = await make({ repositories: ['hello'], permissions: { issues: 'write' } });
    expect(body).toMatchObject({ permissions: { issues: 'write', metadata: 'read' } });
    expect(Object.keys(body['permissions'] as object)).toHaveLength(2);
    expect(body['repositories']).toMatchObject([{ name: 'hello' }]);
  });

  test('writes where it is installed, with the permission, and nothing of an account', async () => {
    const token = await tokenFor({ permissions: { issues: 'write' } });
    const issue = { title: 'Hm', body: 'Words' };
    const post = (repository: string, path: string, payload: object) =>
      call(host, 'POST', `/repos/${repository}${path}`, payload, { token });
    expect((await post('octocat/hello', '/issues', issue)).status).toBe(201);
    for (const repository of ['octocat/other', 'mona/hers'])
      expect(said(await post(repository, '/issues', issue))).toEqual(NOT_ACCESSIBLE);
    const pull = { title: 'Add news', head: `${host.botLogin}:topic`, base: 'main' };
    expect(said(await post('octocat/hello', '/pulls', pull))).toEqual(NOT_ACCESSIBLE);
    expect(said(await post('octocat/hello', '/forks', {}))).toEqual(NOT_ACCESSIBLE);
    for (const path of ['/user', '/notifications'])
      expect(said(await call(host, 'GET', path, undefined, { token }))).toEqual(NOT_ACCESSIBLE);
    expect((await call(host, 'GET', '/repos/mona/hers', undefined, { token })).status).toBe(200);
  });

  test('ends with the installation, and rests while that is suspended', async () => {
    const token = await tokenFor();
    const read = () => call(host, 'GET', HELLO, undefined, { token });
    host.apps.setSuspended('octocat', true);
    expect(said(await read())).toEqual([403, 'This installation has been suspended']);
    expect((await asApp(`${HELLO}/installation`)).body['suspended_at']).toEqual(expect.any(String));
    await expect(tokenFor()).rejects.toThrow('403');
    host.apps.setSuspended('octocat', false);
    expect((await read()).status).toBe(200);
    host.apps.uninstall('octocat');
    expect((await read()).status).toBe(401);
    expect((await asApp(`${HELLO}/installation`)).status).toBe(404);
    host.apps.install('octocat', null);
    expect((await asApp('/repos/octocat/other/installation')).status).toBe(200);
  });

  test('has a budget of its own', async () => {
    const token = await tokenFor();
    const left = async (of: string) =>
      Number((await call(host, 'GET', HELLO, undefined, { token: of })).headers.get('x-ratelimit-remaining'));
    const before = await left(host.botToken);
    expect(await left(token)).toBe(4999);
    expect(await left(token)).toBe(4998);
    expect(await left(host.botToken)).toBe(before - 1);
  });
});

describe('texts of the App', () => {
  test('a pull request from a fork in which it is not installed, which maintainers may not push to', async () => {
    const token = await tokenFor();
    const pull = { title: 'Add news', body: 'Why', head: `${host.botLogin}:topic`, base: 'main' };
    const open = (more: object) => call(host, 'POST', `${HELLO}/pulls`, { ...pull, ...more }, { token });
    const lent = await open({});
    expect(lent.body['errors']).toMatchObject([{ field: 'fork_collab' }]);
    const { status, body } = await open({ maintainer_can_modify: false });
    expect(status).toBe(201);
    expect(body['user']).toMatchObject({ login: 'gitveil[bot]', type: 'Bot' });
    const path = `${HELLO}/pulls/${String(body['number'])}`;
    // The account has not written it.
    expect((await call(host, 'PATCH', path, { title: 'Other' })).status).toBe(404);
    const closed = await call(host, 'PATCH', path, { state: 'closed' }, { token });
    expect(closed.body['state']).toBe('closed');
  });

  test('an issue and a comment say who has written them', async () => {
    const token = await tokenFor();
    const made = await call(host, 'POST', `${HELLO}/issues`, { title: 'Hm', body: 'Words' }, { token });
    const comments = `${HELLO}/issues/${String(made.body['number'])}/comments`;
    const comment = await call(host, 'POST', comments, { body: 'Hm' }, { token });
    for (const { body } of [made, comment]) {
      expect(body).toMatchObject({ performed_via_github_app: { id: app.id }, user: { type: 'Bot' } });
    }
    const bots = await call(host, 'POST', comments, { body: 'Mine' });
    expect(bots.body['performed_via_github_app']).toBeNull();
    const user = await call(host, 'GET', '/users/gitveil%5Bbot%5D');
    expect(user.body).toMatchObject({ login: 'gitveil[bot]', type: 'Bot' });
  });
});
