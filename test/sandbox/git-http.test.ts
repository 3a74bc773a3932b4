/**
 * Git over HTTP, with the real client: cloning, fetching and pushing in all forms, and who may do
 * what.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop, commitFile, git, tryGit } from './support/git.ts';
import { createFilled, pushUrl } from './support/host.ts';
import { exhaustive } from '../support/exhaustive.ts';

const workshop = new Workshop();
let host: Sandbox;
let workTree: string;
let url: string;

beforeAll(async () => {
  host = await startSandbox({ capture: 'requests' });
  url = `${host.url}/octocat/hello`;
  workTree = await workshop.workTree();
  for (const number of [1, 2, 3]) {
    await commitFile(workTree, 'big.bin', randomBytes(50_000), `Commit ${number}`);
  }
  await createFilled(host, workTree, { owner: 'octocat', name: 'hello' });
  await createFilled(host, workTree, { owner: 'octocat', name: 'secret', private: true });
  await createFilled(host, workTree, { owner: host.botLogin, name: 'own' });
  await createFilled(host, workTree, { owner: host.botLogin, name: 'hidden', private: true });
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

function clone(from: string, ...options: string[]): Promise<string> {
  const path = workshop.path();
  return git(workshop.dir, 'clone', '--quiet', ...options, from, path).then(() => path);
}

function push(to: string, ...refspecs: string[]) {
  return tryGit(workTree, 'push', to, ...refspecs);
}

describe('fetching', () => {
  test('clones with .git at the end, and without regard to case', async () => {
    expect(existsSync(join(await clone(`${url}.git`), 'README.md'))).toBe(true);
    expect(existsSync(join(await clone(`${host.url}/OctoCat/Hello.git`), 'README.md'))).toBe(true);
  });

  test('takes a gzipped request', async () => {
    const lines = ['0014command=ls-refs\n', '0001', '0009peel\n', '0000'].join('');
    const response = await fetch(`${url}.git/git-upload-pack`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-git-upload-pack-request',
        'content-encoding': 'gzip',
        'git-protocol': 'version=2',
      },
      body: gzipSync(lines),
    });
    expect(response.headers.get('content-type')).toBe('application/x-git-upload-pack-result');
    expect(await response.text()).toContain(`${await git(workTree, 'rev-parse', 'HEAD')} refs/heads/main`);
  });

  test('tells no one about private and missing repositories', async () => {
    for (const name of ['secret', 'missing']) {
      const response = await fetch(`${host.url}/octocat/${name}/info/refs?service=git-upload-pack`);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Basic realm="GitHub"');
      const known = await tryGit(workshop.dir, 'ls-remote', pushUrl(host, `octocat/${name}`));
      expect(known.output).toContain('Repository not found.');
    }
    expect(await git(workshop.dir, 'ls-remote', pushUrl(host, `${host.botLogin}/hidden`))).toContain('HEAD');
    const dumb = await fetch(`${url}/info/refs`);
    expect(dumb.status).toBe(403);
  });
});

describe('pushing', () => {
  test('packs refs that have become many, and loses none of them', async () => {
    const path = host.createRepository({ owner: host.botLogin, name: 'busy' });
    const to = pushUrl(host, `${host.botLogin}/busy`);
    const branches = Array.from({ length: 300 }, (_, number) => `refs/heads/topic-${number}`);
    await push(to, 'HEAD:main', ...branches.map((branch) => `HEAD:${branch}`));
    expect(readdirSync(join(path, 'refs/heads'))).toEqual([]);
    await push(to, 'HEAD:refs/heads/one-more');
    expect(readdirSync(join(path, 'refs/heads'))).toEqual(['one-more']);
    const listed = await git(workshop.dir, 'ls-remote', '--heads', to);
    for (const name of [...branches, 'refs/heads/one-more', 'refs/heads/main'])
      expect(listed).toContain(`\t${name}`);
  });

  test('is asked for a token, and refused with a wrong one or to someone else’s', exhaustive, async () => {
    const anonymous = await fetch(`${url}/info/refs?service=git-receive-pack`);
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('www-authenticate')).toBe('Basic realm="GitHub"');
    expect((await push(url, 'HEAD:x')).output).toContain('could not read Username');
    const wrong = pushUrl(host, `${host.botLogin}/own`).replace(host.botToken, 'wrong');
    expect((await push(wrong, 'HEAD:x')).output).toContain('Authentication failed');
    const foreign = await push(pushUrl(host, 'octocat/hello'), 'HEAD:x');
    expect(foreign.output).toContain(`Permission to octocat/hello.git denied to ${host.botLogin}.`);
    expect(foreign.output).toContain('403');
    await createFilled(host, workTree, { owner: host.botLogin, name: 'old', archived: true });
    const archived = await push(pushUrl(host, `${host.botLogin}/old`), 'HEAD:x');
    expect(archived.output).toContain('archived so it is read-only');
  });

  test('is checked object by object', exhaustive, async () => {
    const bad = workshop.path();
    await git(workshop.dir, 'clone', '--quiet', workTree, bad);
    const tree = await git(bad, 'rev-parse', 'HEAD^{tree}');
    const file = workshop.path();
    writeFileSync(file, `tree ${tree}\nauthor nobody 1 +0000\ncommitter nobody 1 +0000\n\nNo address\n`);
    const oid = await git(bad, 'hash-object', '-t', 'commit', '-w', '--literally', file);
    const { code, output } = await tryGit(
      bad,
      'push',
      pushUrl(host, `${host.botLogin}/own`),
      `${oid}:refs/heads/bad`,
    );
    expect(code).not.toBe(0);
    expect(output).toMatch(/missingEmail|fsck error/);
  });

  test('advertises no push options', async () => {
    const { output } = await tryGit(
      workTree,
      'push',
      '-o',
      'a=b',
      pushUrl(host, `${host.botLogin}/own`),
      'HEAD:y',
    );
    expect(output).toContain('does not support push options');
  });
});
