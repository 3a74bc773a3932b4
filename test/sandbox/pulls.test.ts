/** Pull requests: opening them, everything GitHub refuses, following their branch, closing, merging. */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { encodePktLine } from '../../src/git/wire/pkt-line.ts';
import { Workshop, commitFile, git } from './support/git.ts';
import { call, createFilled, fork, openPull, pushUrl } from './support/host.ts';
import { exhaustive } from '../support/exhaustive.ts';

const workshop = new Workshop();
let host: Sandbox;
let workTree: string;
let forkUrl: string;
let main: string;
let count = 0;

beforeAll(async () => {
  host = await startSandbox({ forkDelayMs: 0 });
  workTree = await workshop.workTree();
  main = await git(workTree, 'rev-parse', 'HEAD');
  await createFilled(host, workTree, { owner: 'octocat', name: 'hello' });
  await fork(host, 'octocat/hello');
  forkUrl = pushUrl(host, `${host.botLogin}/hello`);
});

beforeEach(async () => {
  await git(workTree, 'reset', '--quiet', '--hard', main);
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

/** A commit nobody has seen, on the fork's branch of the answered name. */
async function pushedBranch(): Promise<string> {
  count += 1;
  await commitFile(workTree, `file${count}.txt`, 'one\ntwo\n', `Add file ${count}`);
  await git(workTree, 'push', '--quiet', forkUrl, `HEAD:topic${count}`);
  return `topic${count}`;
}

function open(wanted: object, upstream = 'octocat/hello') {
  return call(host, 'POST', `/repos/${upstream}/pulls`, { title: 'A title', base: 'main', ...wanted });
}

/** Sends one command for the fork with an empty pack: the host has the objects. Answers the body's reader. */
async function sendPush(command: string): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const url = new URL(`${forkUrl}/git-receive-pack`);
  const authorization = `Basic ${btoa(`${url.username}:${url.password}`)}`;
  Object.assign(url, { username: '', password: '' });
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  const pack = Buffer.concat([header, createHash('sha1').update(header).digest()]);
  const { body } = await fetch(url, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-git-receive-pack-request' },
    body: Buffer.concat([encodePktLine(command), Buffer.from('0000'), pack]),
  });
  if (body === null) throw new Error('the host did not answer');
  return body.getReader();
}

function pullPath(number: number): string {
  return `/repos/octocat/hello/pulls/${number}`;
}

describe('opening', () => {
  test('answers with the pull request, how many commits it has, and its addresses', exhaustive, async () => {
    const branch = await pushedBranch();
    const { status, body } = await open({ head: `${host.botLogin}:${branch}`, body: 'Why\n' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      state: 'open',
      title: 'A title',
      body: 'Why\n',
      user: { login: host.botLogin },
      head: { label: `${host.botLogin}:${branch}`, ref: branch, repo: { fork: true } },
      base: { label: 'octocat:main', sha: main },
      html_url: `${host.url}/octocat/hello/pull/${String(body['number'])}`,
      commits: 1,
      merged: false,
    });
  });

  test('lists its commits, oldest first', exhaustive, async () => {
    await commitFile(workTree, 'first.txt', '1\n', 'First');
    const branch = await pushedBranch();
    const { body } = await open({ head: `${host.botLogin}:${branch}` });
    const { list } = await call(host, 'GET', `${pullPath(Number(body['number']))}/commits`);
    expect(list.map((commit) => (commit['commit'] as { message: string }).message)).toEqual([
      'First',
      `Add file ${count}`,
    ]);
  });

  test('refuses a second one for the same branches', async () => {
    const branch = await pushedBranch();
    await open({ head: `${host.botLogin}:${branch}` });
    const { status, body } = await open({ head: `${host.botLogin}:${branch}` });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      message: 'Validation Failed',
      errors: [
        {
          resource: 'PullRequest',
          code: 'custom',
          message: `A pull request already exists for ${host.botLogin}:${branch}.`,
        },
      ],
    });
  });

  test('opens one when asked twice at once', exhaustive, async () => {
    // Of a merge, the host must ask Git what is new: the second call comes before it has opened the first.
    const branch = await pushedBranch();
    const merge = await git(workTree, 'commit-tree', '-m', 'M', '-p', 'HEAD', '-p', main, 'HEAD^{tree}');
    await git(workTree, 'push', '--quiet', forkUrl, `${merge}:refs/heads/${branch}`);
    const head = `${host.botLogin}:${branch}`;
    const answers = await Promise.all([open({ head }), open({ head })]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 422]));
  });

  test.each<[string, object, object]>([
    ['a missing head', { head: 'gitveil-bot:nope' }, { field: 'head', code: 'invalid' }],
    ['a missing base', { head: 'gitveil-bot:main', base: 'nope' }, { field: 'base', code: 'invalid' }],
    ['a head outside the network', { head: 'hubot:main' }, { field: 'head', code: 'invalid' }],
    [
      'nothing to merge',
      { head: 'gitveil-bot:main' },
      { message: 'No commits between octocat:main and gitveil-bot:main' },
    ],
    ['a blank title', { head: 'gitveil-bot:main', title: '  ' }, { field: 'title', code: 'missing_field' }],
    [
      'a long title',
      { head: 'gitveil-bot:main', title: 'x'.repeat(257) },
      { message: 'title is too long (maximum is 256 characters)' },
    ],
    [
      'a long body',
      { head: 'gitveil-bot:main', body: 'é'.repeat(65_537) },
      { message: 'body is too long (maximum is 65536 characters)' },
    ],
  ])('refuses %s', exhaustive, async (_what, wanted, error) => {
    const { status, body } = await open(wanted);
    expect(status).toBe(422);
    expect(body).toMatchObject({ message: 'Validation Failed', errors: [error] });
  });

  test('takes the longest body, counted in characters', async () => {
    const branch = await pushedBranch();
    const { status } = await open({ head: `${host.botLogin}:${branch}`, body: '😀'.repeat(65_536) });
    expect(status).toBe(201);
  });

  test('refuses a branch without a common history', async () => {
    const other = await workshop.workTree();
    await commitFile(other, 'other.txt', 'other\n', 'Another history');
    await git(other, 'commit', '--quiet', '--amend', '--message', 'Rootless');
    await git(other, 'checkout', '--quiet', '--orphan', 'alone');
    await git(other, 'commit', '--quiet', '--message', 'Alone');
    await git(other, 'push', '--quiet', forkUrl, 'HEAD:unrelated');
    const { status, body } = await open({ head: `${host.botLogin}:unrelated` });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain('no history in common with octocat:main');
  });

  test('refuses what was left out, anonymous callers and archived repositories', async () => {
    const nothing = await call(host, 'POST', '/repos/octocat/hello/pulls', { title: 'x' });
    expect([nothing.status, nothing.body['message']]).toEqual([
      422,
      'Invalid request.\n\n"base", "head" wasn\'t supplied.',
    ]);
    const anonymous = await call(host, 'POST', '/repos/octocat/hello/pulls', {}, { token: null });
    expect(anonymous.status).toBe(401);
    await createFilled(host, workTree, { owner: 'octocat', name: 'old', archived: true });
    expect((await open({ head: 'main' }, 'octocat/old')).status).toBe(403);
  });
});

describe('a repository that takes few', exhaustive, () => {
  test.each([
    ['none', 'off', { has_pull_requests: false, pull_request_creation_policy: 'all' }],
    [
      'collaborators',
      'closed',
      { has_pull_requests: true, pull_request_creation_policy: 'collaborators_only' },
    ],
  ] as const)('takes those of %s, and says so', async (pullRequests, name, said) => {
    const upstream = `octocat/${name}`;
    await createFilled(host, workTree, { owner: 'octocat', name, pullRequests });
    await fork(host, upstream);
    await commitFile(workTree, 'file.txt', 'one\n', 'Add a file');
    await git(workTree, 'push', '--quiet', pushUrl(host, `${host.botLogin}/${name}`), 'HEAD:topic');
    expect((await call(host, 'GET', `/repos/${upstream}`)).body).toMatchObject(said);
    const { status, body } = await open({ head: `${host.botLogin}:topic` }, upstream);
    expect([status, body['message']]).toEqual([404, 'Not Found']);
  });

  test('takes as many of an account as it allows, and any number of drafts', async () => {
    const upstream = 'octocat/capped';
    await createFilled(host, workTree, { owner: 'octocat', name: 'capped', pullRequestCap: 1 });
    await fork(host, upstream);
    await commitFile(workTree, 'file.txt', 'one\n', 'Add a file');
    const refs = ['a', 'b', 'c', 'd'].map((branch) => `HEAD:${branch}`);
    await git(workTree, 'push', '--quiet', pushUrl(host, `${host.botLogin}/capped`), ...refs);
    const opened = async (branch: string, draft = false) =>
      (await open({ head: `${host.botLogin}:${branch}`, draft }, upstream)).status;
    expect([await opened('a', true), await opened('b'), await opened('c')]).toEqual([201, 201, 404]);
    expect(await opened('d', true)).toBe(201);
    host.maintainer.close({ owner: 'octocat', repo: 'capped', number: 2 });
    expect(await opened('c')).toBe(201);
  });
});

describe('an open one', exhaustive, () => {
  test('is found by its head, its base and its state', async () => {
    const branch = await pushedBranch();
    const head = `${host.botLogin}:${branch}`;
    const { body } = await open({ head });
    const find = (query: string) => call(host, 'GET', `/repos/octocat/hello/pulls?${query}`);
    expect((await find(`head=${head}&base=main`)).list.map((pull) => pull['number'])).toEqual([
      body['number'],
    ]);
    expect((await find(`head=${head}&base=other`)).list).toEqual([]);
    expect((await find(`head=${head}&state=closed`)).list).toEqual([]);
    expect((await find(`state=all&per_page=100`)).list.length).toBeGreaterThan(1);
    expect((await find('state=nonsense')).status).toBe(422);
  });

  test('follows a forced push to its branch at once', async () => {
    const branch = await pushedBranch();
    const { body } = await open({ head: `${host.botLogin}:${branch}` });
    await git(workTree, 'commit', '--quiet', '--amend', '--message', 'Better');
    await git(workTree, 'push', '--quiet', '--force', forkUrl, `HEAD:${branch}`);
    const after = await call(host, 'GET', pullPath(Number(body['number'])));
    expect(after.body).toMatchObject({ head: { sha: await git(workTree, 'rev-parse', 'HEAD') }, commits: 1 });
  });

  test('follows a push before the answer to it has ended', async () => {
    const branch = await pushedBranch();
    const { body } = await open({ head: `${host.botLogin}:${branch}` });
    const before = await git(workTree, 'rev-parse', 'HEAD');
    const gate = workshop.path();
    const hook = `#!/bin/sh\nuntil [ -e '${gate}' ]; do sleep 0.02; done\n`;
    const hooks = join(host.repositoryPath(host.botLogin, 'hello'), 'hooks');
    mkdirSync(hooks);
    writeFileSync(join(hooks, 'post-receive'), hook, { mode: 0o755 });
    const push = await sendPush(`${before} ${main} refs/heads/${branch}\0report-status\n`);
    const report = await push.read();
    const after = await call(host, 'GET', pullPath(Number(body['number'])));
    writeFileSync(gate, '');
    while (!(await push.read()).done);
    rmSync(hooks, { recursive: true });
    expect(Buffer.from(report.value ?? '').toString()).toContain(`ok refs/heads/${branch}\n`);
    expect(after.body).toMatchObject({ head: { sha: main } });
  });

  test('is closed when its branch is deleted', async () => {
    const branch = await pushedBranch();
    const { body } = await open({ head: `${host.botLogin}:${branch}` });
    await git(workTree, 'push', '--quiet', forkUrl, `:${branch}`);
    const after = await call(host, 'GET', pullPath(Number(body['number'])));
    expect(after.body).toMatchObject({ state: 'closed', merged: false });
  });

  test('is retitled, closed, and reopened only with the same head', async () => {
    const branch = await pushedBranch();
    const path = pullPath(await openPull(host, workTree, 'octocat/hello', branch));
    expect((await call(host, 'PATCH', path, { title: 'Better' })).body['title']).toBe('Better');
    expect((await call(host, 'PATCH', path, { state: 'nonsense' })).status).toBe(422);
    const closed = await call(host, 'PATCH', path, { state: 'closed' });
    expect(closed.body).toMatchObject({ state: 'closed', merged: false });
    expect(closed.body['closed_at']).not.toBeNull();
    expect((await call(host, 'PATCH', path, { state: 'open' })).body['state']).toBe('open');

    await call(host, 'PATCH', path, { state: 'closed' });
    await git(workTree, 'commit', '--quiet', '--amend', '--message', 'Other');
    await git(workTree, 'push', '--quiet', '--force', forkUrl, `HEAD:${branch}`);
    const reopened = await call(host, 'PATCH', path, { state: 'open' });
    expect(reopened.status).toBe(422);
    expect(JSON.stringify(reopened.body)).toContain('was force-pushed or recreated');
    expect((await call(host, 'PATCH', path, { title: 'x' }, { token: null })).status).toBe(401);
  });

  test('is really merged by a maintainer', async () => {
    const branch = await pushedBranch();
    const number = await openPull(host, workTree, 'octocat/hello', branch);
    const head = await git(workTree, 'rev-parse', 'HEAD');
    const merge = await host.maintainer.merge({ owner: 'octocat', repo: 'hello', number });
    const after = await call(host, 'GET', pullPath(number));
    expect(after.body).toMatchObject({
      state: 'closed',
      merged: true,
      merged_by: { login: 'octocat' },
      merge_commit_sha: merge,
      commits: 1,
    });
    const path = host.repositoryPath('octocat', 'hello');
    expect(await git(path, 'rev-parse', 'main^1', 'main^2')).toBe(`${main}\n${head}`);
    expect(await git(path, 'show', `main:file${count}.txt`)).toBe('one\ntwo');
    expect((await call(host, 'PATCH', pullPath(number), { state: 'open' })).status).toBe(422);
    await git(path, 'update-ref', 'refs/heads/main', main);
  });

  test('is reviewed by a maintainer, and the bot hears of it', async () => {
    const number = await openPull(host, workTree, 'octocat/hello', await pushedBranch());
    const reviews = () => call(host, 'GET', `${pullPath(number)}/reviews`);
    expect((await reviews()).list).toEqual([]);
    const on = { owner: 'octocat', repo: 'hello', number };
    const id = host.maintainer.review(on, 'CHANGES_REQUESTED', 'Please add a test.', 'mona');
    expect((await reviews()).list).toMatchObject([
      { id, state: 'CHANGES_REQUESTED', user: { login: 'mona' }, body: 'Please add a test.' },
    ]);
    const { list } = await call(host, 'GET', '/notifications');
    const subject = expect.objectContaining({ url: `${host.apiUrl}${pullPath(number)}` });
    expect(list).toContainEqual(expect.objectContaining({ subject }));
    expect((await call(host, 'GET', '/repos/octocat/hello/pulls/9999/reviews')).status).toBe(404);
  });

  test('is not an issue’s number, and an issue is not its', async () => {
    const { body } = await call(host, 'POST', '/repos/octocat/hello/issues', { title: 'An issue' });
    expect((await call(host, 'GET', pullPath(Number(body['number'])))).status).toBe(404);
    expect((await call(host, 'GET', '/repos/octocat/hello/pulls/0')).status).toBe(404);
    expect((await call(host, 'GET', '/repos/octocat/hello/pulls/9999')).status).toBe(404);
  });
});
