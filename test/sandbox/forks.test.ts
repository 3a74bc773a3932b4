/**
 * Forks: they come late, under a name that may differ, with objects of their own; and syncing them.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop, commitFile, git, tryGit } from './support/git.ts';
import { call, createFilled, fork } from './support/host.ts';
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
