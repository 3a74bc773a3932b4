/**
 * Pull requests: opening them, everything GitHub refuses, following their branch, closing, merging.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop, commitFile, git } from './support/git.ts';
import { call, createFilled, fork, pushUrl } from './support/host.ts';
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
  test('is not an issue’s number, and an issue is not its', async () => {
    const { body } = await call(host, 'POST', '/repos/octocat/hello/issues', { title: 'An issue' });
    expect((await call(host, 'GET', pullPath(Number(body['number'])))).status).toBe(404);
    expect((await call(host, 'GET', '/repos/octocat/hello/pulls/0')).status).toBe(404);
    expect((await call(host, 'GET', '/repos/octocat/hello/pulls/9999')).status).toBe(404);
  });
});
