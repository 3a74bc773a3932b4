/** Forks: they come late, under a name that may differ, with objects of their own; and syncing them. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop, commitFile, git, tryGit } from './support/git.ts';
import { call, createFilled, fork, openPull, pushUrl } from './support/host.ts';
import { exhaustive } from '../support/exhaustive.ts';

const workshop = new Workshop();
let host: Sandbox;

beforeAll(async () => {
  host = await startSandbox({ forkDelayMs: 10 });
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

/** A repository of octocat's with one commit; answers a work tree of it. */
async function upstream(name: string): Promise<string> {
  const workTree = await workshop.workTree();
  await createFilled(host, workTree, { owner: 'octocat', name });
  await git(workTree, 'remote', 'add', 'origin', host.repositoryPath('octocat', name));
  return workTree;
}

function mergeUpstream(name: string, branch: unknown) {
  return call(host, 'POST', `/repos/${host.botLogin}/${name}/merge-upstream`, { branch });
}

describe('forking', () => {
  test('answers at once with an empty shell, whose objects arrive later', exhaustive, async () => {
    const dir = workshop.path();
    const slow = await startSandbox({ dir, forkDelayMs: 60_000 });
    const workTree = await workshop.workTree();
    await createFilled(slow, workTree, { owner: 'octocat', name: 'late' });
    const { status, body } = await call(slow, 'POST', '/repos/octocat/late/forks', {});
    expect(status).toBe(202);
    expect(body).toMatchObject({
      full_name: `${slow.botLogin}/late`,
      fork: true,
      parent: { full_name: 'octocat/late' },
      source: { full_name: 'octocat/late' },
    });
    const early = await call(slow, 'GET', `/repos/${slow.botLogin}/late/git/ref/heads/main`);
    expect([early.status, early.body['message']]).toEqual([409, 'Git Repository is empty.']);
    const listed = (at: Sandbox) => git(workshop.dir, 'ls-remote', `${at.url}/${at.botLogin}/late`);
    expect(await listed(slow)).toBe('');
    await slow.close();

    // A host that starts waits no longer.
    const again = await startSandbox({ dir });
    expect(await listed(again)).toMatch(/HEAD\n.*refs\/heads\/main$/);
    await again.close();
  });

  test('brings branches and tags', exhaustive, async () => {
    const workTree = await upstream('full');
    await git(workTree, 'tag', 'v1');
    await git(workTree, 'push', '--quiet', 'origin', 'HEAD:other', 'v1');
    const name = await fork(host, 'octocat/full');
    const refs = await git(workshop.dir, 'ls-remote', '--refs', `${host.url}/${host.botLogin}/${name}`);
    expect(refs.split('\n').map((line) => line.split('\t')[1])).toEqual([
      'refs/heads/main',
      'refs/heads/other',
      'refs/tags/v1',
    ]);
  });

  test('answers with the fork that exists, also for a fork of it', async () => {
    await upstream('twice');
    const first = await call(host, 'POST', '/repos/octocat/twice/forks', {});
    const second = await call(host, 'POST', '/repos/octocat/twice/forks', {});
    expect([second.status, second.body['id']]).toEqual([202, first.body['id']]);
    await fork(host, 'octocat/twice');
    const ofFork = await call(host, 'POST', `/repos/${host.botLogin}/twice/forks`, {});
    expect([ofFork.status, ofFork.body['id']]).toEqual([202, first.body['id']]);
  });

  test('counts the name up when another repository of the bot has it', async () => {
    const workTree = await upstream('taken');
    await createFilled(host, workTree, { owner: host.botLogin, name: 'taken' });
    await createFilled(host, workTree, { owner: host.botLogin, name: 'taken-1' });
    expect(await fork(host, 'octocat/taken')).toBe('taken-2');
  });

  test('takes a name of one’s choice, with what no name may hold replaced', async () => {
    await upstream('renamed');
    const { body } = await call(host, 'POST', '/repos/octocat/renamed/forks', { name: '../my fork' });
    expect(body['name']).toBe('..-my-fork');
  });

  test('takes only the default branch when asked', async () => {
    const workTree = await upstream('narrow');
    await git(workTree, 'push', '--quiet', 'origin', 'HEAD:other');
    await call(host, 'POST', '/repos/octocat/narrow/forks', { default_branch_only: true });
    await fork(host, 'octocat/narrow');
    const { list } = await call(host, 'GET', `/repos/${host.botLogin}/narrow/branches`);
    expect(list.map((branch) => branch['name'])).toEqual(['main']);
  });

  test('refuses an empty repository, an anonymous caller and a missing repository', async () => {
    host.createRepository({ owner: 'octocat', name: 'nothing' });
    const empty = await call(host, 'POST', '/repos/octocat/nothing/forks', {});
    expect(empty.status).toBe(403);
    expect(empty.body['message']).toMatch(/contains no Git content/);
    const anonymous = await call(host, 'POST', '/repos/octocat/nothing/forks', {}, { token: null });
    expect(anonymous.status).toBe(401);
    expect((await call(host, 'POST', '/repos/octocat/nowhere/forks', {})).status).toBe(404);
  });

  test('gives the fork objects of its own: what upstream gains later is missing', exhaustive, async () => {
    const workTree = await upstream('apart');
    const name = await fork(host, 'octocat/apart');
    const forkPath = host.repositoryPath(host.botLogin, name);
    expect(() => statSync(join(forkPath, 'objects/info/alternates'))).toThrow();

    const newer = await commitFile(workTree, 'new.txt', 'new\n', 'Upstream moves on');
    await git(workTree, 'push', '--quiet', 'origin', 'main');
    expect((await tryGit(forkPath, 'cat-file', '-e', newer)).code).not.toBe(0);
    const ref = await call(host, 'POST', `/repos/${host.botLogin}/${name}/git/refs`, {
      ref: 'refs/heads/unknown',
      sha: newer,
    });
    expect([ref.status, ref.body['message']]).toEqual([422, 'Object does not exist']);
  });
});

describe('syncing', exhaustive, () => {
  test('brings the objects and moves the branch forward', async () => {
    const workTree = await upstream('behind');
    const name = await fork(host, 'octocat/behind');
    const newer = await commitFile(workTree, 'new.txt', 'new\n', 'Upstream moves on');
    await git(workTree, 'push', '--quiet', 'origin', 'main');
    const { status, body } = await mergeUpstream(name, 'main');
    expect([status, body]).toEqual([
      200,
      {
        message: 'Successfully fetched and fast-forwarded from upstream octocat:main.',
        merge_type: 'fast-forward',
        base_branch: 'octocat:main',
      },
    ]);
    const forkPath = host.repositoryPath(host.botLogin, name);
    expect(await git(forkPath, 'rev-parse', 'refs/heads/main')).toBe(newer);
    expect(await git(forkPath, 'fsck', '--strict', '--connectivity-only')).not.toMatch(/missing|broken/);
    expect(readdirSync(forkPath)).not.toContain('FETCH_HEAD');

    expect((await mergeUpstream(name, 'main')).body['merge_type']).toBe('none');
    await commitFile(workTree, 'fork.txt', 'fork\n', 'Only in the fork');
    await git(workTree, 'push', '--quiet', pushUrl(host, `${host.botLogin}/${name}`), 'main');
    expect((await mergeUpstream(name, 'main')).body['merge_type']).toBe('none');
  });

  test('is done once when it is asked for several times at once', async () => {
    const workTree = await upstream('hurried');
    const name = await fork(host, 'octocat/hurried');
    await commitFile(workTree, 'new.txt', 'new\n', 'Upstream moves on');
    await git(workTree, 'push', '--quiet', 'origin', 'main');
    const answers = await Promise.all([1, 2, 3].map(() => mergeUpstream(name, 'main')));
    const types = answers.map(({ body }) => String(body['merge_type']));
    expect(types.toSorted()).toEqual(['fast-forward', 'none', 'none']);
  });

  test('refuses branches that have parted', async () => {
    const workTree = await upstream('parted');
    const name = await fork(host, 'octocat/parted');
    await commitFile(workTree, 'a.txt', 'a\n', 'Upstream');
    await git(workTree, 'push', '--quiet', 'origin', 'main');
    await git(workTree, 'reset', '--quiet', '--hard', 'HEAD~1');
    await commitFile(workTree, 'b.txt', 'b\n', 'Fork');
    await git(workTree, 'push', '--quiet', pushUrl(host, `${host.botLogin}/${name}`), 'main');
    const { status, body } = await mergeUpstream(name, 'main');
    expect([status, body['message']]).toEqual([409, 'There are merge conflicts']);
  });

  test('refuses what is no fork, no branch, or not the bot’s', async () => {
    const workTree = await upstream('plain');
    await createFilled(host, workTree, { owner: host.botLogin, name: 'own' });
    expect((await mergeUpstream('own', 'main')).status).toBe(422);
    const name = await fork(host, 'octocat/plain');
    expect((await mergeUpstream(name, 'nope')).status).toBe(404);
    expect((await mergeUpstream(name, undefined)).status).toBe(422);
    const foreign = await call(host, 'POST', '/repos/octocat/plain/merge-upstream', { branch: 'main' });
    expect(foreign.status).toBe(404);
  });
});

const ofBot = (name: string) => `/repos/${host.botLogin}/${name}`;

describe('deleting', exhaustive, () => {
  test('takes a fork away; its closed pull request stays, with its commits', async () => {
    const workTree = await upstream('over');
    await commitFile(workTree, 'work.txt', 'work\n', 'Work');
    const number = await openPull(host, workTree, 'octocat/over', 'work');
    await call(host, 'PATCH', `/repos/octocat/over/pulls/${number}`, { state: 'closed' });
    expect((await call(host, 'DELETE', ofBot('over'))).status).toBe(204);
    expect((await call(host, 'GET', ofBot('over'))).status).toBe(404);
    expect((await call(host, 'DELETE', ofBot('over'))).status).toBe(404);
    // GitHub's description says nothing of that null, which every client has to expect.
    const pull = await fetch(`${host.apiUrl}/repos/octocat/over/pulls/${number}`);
    expect(await pull.json()).toMatchObject({ state: 'closed', head: { repo: null } });
    const tip = (await git(workTree, 'rev-parse', 'HEAD')).trim();
    const kept = `refs/pull/${number}/head`;
    expect(await git(host.repositoryPath('octocat', 'over'), 'rev-parse', kept)).toBe(tip);
    expect(await fork(host, 'octocat/over')).toBe('over');
  });

  test('is refused to a stranger, and to a token without the scope', async () => {
    await upstream('foreign');
    expect((await call(host, 'DELETE', '/repos/octocat/foreign', undefined, { token: null })).status).toBe(
      401,
    );
    const foreign = await call(host, 'DELETE', '/repos/octocat/foreign');
    expect([foreign.status, foreign.body['message']]).toEqual([403, 'Must have admin rights to Repository.']);
    const weak = await startSandbox({ forkDelayMs: 10, botScopes: ['public_repo'] });
    await createFilled(weak, await workshop.workTree(), { owner: weak.botLogin, name: 'own' });
    expect((await call(weak, 'DELETE', `/repos/${weak.botLogin}/own`)).status).toBe(403);
    await weak.close();
  });
});
