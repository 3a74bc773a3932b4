/** Git references over REST: reading, creating, moving, deleting, and all that GitHub refuses. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop, commitFile, git } from './support/git.ts';
import { call, createFilled } from './support/host.ts';

const workshop = new Workshop();
let host: Sandbox;
let path: string;
let older: string;
let newer: string;
let aside: string;

beforeAll(async () => {
  host = await startSandbox();
  path = `/repos/${host.botLogin}/own`;
  const workTree = await workshop.workTree();
  older = await git(workTree, 'rev-parse', 'HEAD');
  aside = await commitFile(workTree, 'a.txt', 'a\n', 'Aside');
  await git(workTree, 'reset', '--quiet', '--hard', older);
  newer = await commitFile(workTree, 'b.txt', 'b\n', 'Newer');
  await createFilled(host, workTree, { owner: host.botLogin, name: 'own' });
  await createFilled(host, workTree, { owner: 'octocat', name: 'hello' });
  await git(workTree, 'tag', '--annotate', '--message', 'First', 'v1');
  await git(
    workTree,
    'push',
    '--quiet',
    host.repositoryPath(host.botLogin, 'own'),
    `${aside}:refs/heads/aside`,
    'v1',
  );
});

beforeEach(async () => {
  await call(host, 'DELETE', `${path}/git/refs/heads/topic`);
  await call(host, 'POST', `${path}/git/refs`, { ref: 'refs/heads/topic', sha: older });
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

function move(sha: string, force?: boolean) {
  return call(host, 'PATCH', `${path}/git/refs/heads/topic`, { sha, ...(force !== undefined && { force }) });
}

test('reads branches and tags', async () => {
  const { body } = await call(host, 'GET', `${path}/git/ref/heads/topic`);
  expect(body).toMatchObject({ ref: 'refs/heads/topic', object: { sha: older, type: 'commit' } });
  const tag = await call(host, 'GET', `${path}/git/ref/tags/v1`);
  expect(tag.body).toMatchObject({ ref: 'refs/tags/v1', object: { type: 'tag' } });
  expect((await call(host, 'GET', `${path}/git/ref/heads/nope`)).status).toBe(404);
  expect((await call(host, 'GET', `${path}/git/ref/heads/..%2f..%2fconfig`)).status).toBe(404);
});

test('creates a branch, once', async () => {
  const wanted = { ref: 'refs/heads/new/branch', sha: newer };
  const { status, body } = await call(host, 'POST', `${path}/git/refs`, wanted);
  expect(status).toBe(201);
  expect(body).toMatchObject({ ref: 'refs/heads/new/branch', object: { sha: newer } });
  const again = await call(host, 'POST', `${path}/git/refs`, wanted);
  expect([again.status, again.body['message']]).toEqual([422, 'Reference already exists']);
});

test.each([
  ['a ref without refs/', { ref: 'heads/x', sha: '$' }, /must start with "refs\/"/],
  ['a bad ref name', { ref: 'refs/heads/a..b', sha: '$' }, /not a valid ref name/],
  ['a short id', { ref: 'refs/heads/x', sha: 'abc' }, /exactly 40 characters/],
  ['an unknown object', { ref: 'refs/heads/x', sha: 'a'.repeat(40) }, /Object does not exist/],
  ['a missing id', { ref: 'refs/heads/x' }, /"sha" wasn't supplied/],
])('refuses to create %s', async (_what, wanted, message) => {
  const payload = { ...wanted, ...('sha' in wanted && wanted.sha === '$' && { sha: newer }) };
  const { status, body } = await call(host, 'POST', `${path}/git/refs`, payload);
  expect(status).toBe(422);
  expect(body['message']).toMatch(message);
});

test('moves a branch forward, and elsewhere only by force', async () => {
  expect((await move(newer)).body).toMatchObject({ object: { sha: newer } });
  const refused = await move(aside);
  expect([refused.status, refused.body['message']]).toEqual([422, 'Update is not a fast forward']);
  expect((await move(aside, true)).body).toMatchObject({ object: { sha: aside } });
});

test('deletes a branch', async () => {
  expect((await call(host, 'DELETE', `${path}/git/refs/heads/topic`)).status).toBe(204);
  const again = await call(host, 'DELETE', `${path}/git/refs/heads/topic`);
  expect([again.status, again.body['message']]).toEqual([422, 'Reference does not exist']);
  const moved = await call(host, 'PATCH', `${path}/git/refs/heads/topic`, { sha: older });
  expect([moved.status, moved.body['message']]).toEqual([422, 'Reference does not exist']);
});

test('lets only the owner write', async () => {
  const wanted = { ref: 'refs/heads/x', sha: newer };
  expect((await call(host, 'POST', `${path}/git/refs`, wanted, { token: null })).status).toBe(401);
  expect((await call(host, 'POST', '/repos/octocat/hello/git/refs', wanted)).status).toBe(404);
});
