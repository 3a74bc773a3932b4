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
});

describe('an open one', exhaustive, () => {
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
