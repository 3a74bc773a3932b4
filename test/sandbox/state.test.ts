/** State that outlives the host in its folder, and none without a folder. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { freePorts } from '../support/free-ports.ts';
import { Workshop, commitFile, git } from './support/git.ts';
import { call, createFilled, openPull, pushUrl } from './support/host.ts';
import { exhaustive } from '../support/exhaustive.ts';

const workshop = new Workshop();

afterAll(() => workshop.remove());

test('keeps everything in the folder that it was given', exhaustive, async () => {
  const dir = workshop.path();
  const workTree = await workshop.workTree();
  const first = await startSandbox({ dir, botToken: 'token', forkDelayMs: 0 });
  await createFilled(first, workTree, { owner: 'octocat', name: 'hello' });
  await commitFile(workTree, 'a.txt', 'a\n', 'Change');
  const number = await openPull(first, workTree, 'octocat/hello', 'topic');
  first.maintainer.comment({ owner: 'octocat', repo: 'hello', number }, 'Thanks');
  await fetch(`${first.notifyUrl}/topic`, { method: 'POST', body: 'kept' });
  await first.close();

  const second = await startSandbox({ dir, botToken: 'token' });
  const { body } = await call(second, 'GET', `/repos/octocat/hello/pulls/${number}`);
  expect(body).toMatchObject({ title: 'From topic', comments: 1, commits: 1 });
  expect((await call(second, 'GET', '/notifications')).list).toHaveLength(1);
  expect(await (await fetch(`${second.notifyUrl}/topic/json?poll=1`)).text()).toContain('kept');
  expect(await git(workTree, 'ls-remote', pushUrl(second, 'octocat/hello'))).toContain('refs/heads/main');
  expect(() => second.createRepository({ owner: 'octocat', name: 'hello' })).toThrow(/exists already/);
  await second.close();
  expect(existsSync(join(dir, 'records.json'))).toBe(true);
});

test('removes its temporary folder, and is gone after closing', async () => {
  const host = await startSandbox();
  const path = host.createRepository({ owner: 'octocat', name: 'hello' });
  expect(existsSync(path)).toBe(true);
  await host.close();
  expect(existsSync(dirname(dirname(dirname(path))))).toBe(false);
  await expect(fetch(host.url)).rejects.toThrow();
});

test('listens on the port that it was given, and says when that is taken', async () => {
  const port = await freePorts();
  const host = await startSandbox({ port });
  await expect(startSandbox({ port })).rejects.toThrow(/EADDRINUSE/);
  await host.close();
  const again = await startSandbox({ port, botLogin: 'other-bot' });
  expect([again.url, again.botLogin]).toEqual([`http://127.0.0.1:${port}`, 'other-bot']);
  await again.close();
});
