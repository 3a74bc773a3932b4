/**
 * Single objects and short histories come from the host as they come from git: the same lines, and
 * the same objects in a sound pack.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchedObjects } from '../../sandbox/fetched-objects.ts';
import { mustRunGit } from '../../sandbox/git-command.ts';
import { pktLine } from '../../sandbox/pkt-line.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { unpackPush } from '../e2e/support/captured-pack.ts';
import { Workshop, commitFile, git } from './support/git.ts';
import { createFilled } from './support/host.ts';

const workshop = new Workshop();
let host: Sandbox;
let path: string;

beforeAll(async () => {
  host = await startSandbox({ capture: 'requests' });
  const workTree = await workshop.workTree();
  await commitFile(workTree, 'large.bin', randomBytes(200_000), 'Large');
  await commitFile(workTree, 'more.txt', 'more\n', 'More');
  await createFilled(host, workTree, { owner: 'octocat', name: 'hello' });
  path = host.repositoryPath('octocat', 'hello');
  const identity = ['-c', 'user.name=x', '-c', 'user.email=x@y'];
  await git(path, ...identity, 'tag', '-m', 'v1', 'v1');
  const parents = ['-p', 'HEAD', '-p', 'HEAD~1'];
  const merge = await git(path, ...identity, 'commit-tree', '-m', 'Merge', ...parents, 'HEAD^{tree}');
  await git(path, 'update-ref', 'refs/heads/merge', merge);
  // Git reads no date of a committer that does not follow the author.
  const lines = (await git(path, 'cat-file', 'commit', 'HEAD')).replace(/^author .*\n/m, '');
  const write = ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'];
  const undated = (await mustRunGit(path, write, { input: `${lines}\n` })).toString().trim();
  await mustRunGit(path, ['update-ref', 'refs/heads/undated', undated]);
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

const ARGS = ['no-progress', 'ofs-delta', 'filter tree:0'];
async function request(revisions: readonly string[], args: readonly string[] = ARGS): Promise<Buffer> {
  const oids = await Promise.all(revisions.map((revision) => git(path, 'rev-parse', revision)));
  const lines = [...args, ...oids.map((oid) => `want ${oid}`), 'done'];
  return Buffer.from(
    `${pktLine('command=fetch')}${pktLine('object-format=sha1')}0001${lines.map(pktLine).join('')}0000`,
  );
}

/** The lines before the pack, and what is in it. */
async function read(answer: Buffer) {
  const lines: string[] = [];
  const pack: Buffer[] = [];
  for (let position = 0; position < answer.length;) {
    const length = Number.parseInt(answer.toString('latin1', position, position + 4), 16);
    const packet = answer.subarray(position + 4, position + Math.max(4, length));
    if (lines.includes('packfile\n') && length > 4) pack.push(packet.subarray(1));
    else lines.push(length > 4 ? packet.toString('latin1') : String(length));
    position += Math.max(4, length);
  }
  const { objects, isComplete } = await unpackPush(Buffer.concat(pack), async () => []);
  return { lines, isComplete, objects: objects.toSorted((a, b) => (a.oid < b.oid ? -1 : 1)) };
}

describe.each([
  ['the newest commit', ['HEAD'], [...ARGS, 'deepen 1']],
  ['two commits', ['HEAD'], [...ARGS, 'deepen 2']],
  ['as many commits as there are', ['HEAD'], [...ARGS, 'deepen 3']],
  ['fewer commits than may come', ['HEAD'], [...ARGS, 'deepen 4']],
  ['a merge alone', ['merge'], [...ARGS, 'deepen 1']],
  ['the commits of the last weeks', ['HEAD'], ['thin-pack', ...ARGS, 'deepen-since 1000000000']],
  ['the first commit', ['HEAD~2'], [...ARGS, 'deepen 1']],
  ['a folder', ['HEAD^{tree}'], ARGS],
  ['a file', ['HEAD:README.md'], ARGS],
  ['a large file', ['HEAD:large.bin'], ARGS],
  ['files', ['HEAD:README.md', 'HEAD:more.txt'], [...ARGS, 'thin-pack']],
  ['an object that is wanted twice', ['HEAD:README.md', 'HEAD:README.md'], ARGS],
])('%s', (_, revisions, args) => {
  test('comes as from git', async () => {
    const body = await request(revisions, args);
    const env = { GIT_PROTOCOL: 'version=2' };
    const input = body.toString();
    const real = await mustRunGit(path, ['upload-pack', '--stateless-rpc', path], { input, env });
    const answer = await read(fetchedObjects(path, body) ?? Buffer.alloc(0));
    expect(answer.isComplete).toBe(true);
    expect(answer).toEqual(await read(real));
  });
});

test.each([
  ['a history', ['HEAD'], ARGS],
  ['a history that is older', ['HEAD'], [...ARGS, 'deepen-since 9000000000']],
  ['a history without a date', ['undated'], [...ARGS, 'deepen-since 1000000000']],
  ['no depth at all', ['HEAD'], [...ARGS, 'deepen 0']],
  ['a depth in octal', ['HEAD'], [...ARGS, 'deepen 02']],
  ['a depth that is too large', ['HEAD'], [...ARGS, 'deepen 4294967297']],
  ['a time in octal', ['HEAD'], [...ARGS, 'deepen-since 01000000000']],
  ['any time', ['HEAD'], [...ARGS, 'deepen-since 0']],
  ['a history but for that of a branch', ['HEAD'], [...ARGS, 'deepen-not refs/heads/main']],
  ['a history with a merge', ['merge'], [...ARGS, 'deepen 4']],
  ['a folder with a depth', ['HEAD^{tree}'], [...ARGS, 'deepen 1']],
  ['another filter', ['HEAD:README.md'], ['filter blob:none']],
  ['no filter', ['HEAD:README.md'], []],
  ['a request of someone who has commits', ['HEAD'], [...ARGS, 'deepen 1', `have ${'1'.repeat(40)}`]],
  ['more than one commit', ['HEAD', 'HEAD~1'], [...ARGS, 'deepen 1']],
  ['a folder and what is in it', ['HEAD^{tree}', 'HEAD:README.md'], ARGS],
  ['an annotated tag', ['v1'], [...ARGS, 'deepen 1']],
  ['tags of what is sent', ['HEAD'], [...ARGS, 'include-tag', 'deepen 1']],
])('%s is left to git', async (_, revisions, args) => {
  expect(fetchedObjects(path, await request(revisions, args))).toBeNull();
});

test('an object that is not there, or packed, is left to git', async () => {
  const missing = (await request(['HEAD:README.md'])).toString().replace(/want .*/, `want ${'1'.repeat(40)}`);
  expect(fetchedObjects(path, Buffer.from(missing))).toBeNull();
  const body = await request(['HEAD:README.md']);
  await git(path, 'repack', '-adq');
  expect(fetchedObjects(path, body)).toBeNull();
});
