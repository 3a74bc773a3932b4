/** The host's own lists of refs are those of git, byte for byte, wherever it gives any. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { advertisedRefs, listedRefs } from '../../sandbox/advertised-refs.ts';
import { mustRunGit } from '../../sandbox/git-command.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop, commitFile, git } from './support/git.ts';
import { createFilled } from './support/host.ts';
import { pktText } from '../support/pkt-line.ts';

const workshop = new Workshop();
let host: Sandbox;
let paths: Record<string, string>;

beforeAll(async () => {
  host = await startSandbox({ capture: 'requests' });
  const workTree = await workshop.workTree();
  await commitFile(workTree, 'more.txt', 'more\n', 'More');
  const path = (name: string): string => host.repositoryPath('octocat', name);
  for (const name of ['plain', 'refs', 'tags', 'unborn', 'detached', 'configured']) {
    await createFilled(host, workTree, { owner: 'octocat', name });
  }
  host.createRepository({ owner: 'octocat', name: 'empty' });
  const head = await git(workTree, 'rev-parse', 'HEAD');
  await git(path('refs'), 'update-ref', 'refs/heads/a/b', `${head}~1`);
  await git(path('refs'), 'update-ref', 'refs/pull/1/head', head);
  await git(path('refs'), 'pack-refs', '--all');
  await git(path('refs'), 'update-ref', 'refs/heads/a/b', head);
  await git(path('refs'), 'update-ref', 'refs/heads/A-\u00e9', head);
  await git(path('tags'), 'tag', 'light');
  await git(path('tags'), '-c', 'user.name=x', '-c', 'user.email=x@y', 'tag', '-m', 'heavy', 'heavy');
  await git(path('unborn'), 'symbolic-ref', 'HEAD', 'refs/heads/none');
  await git(path('detached'), 'update-ref', '--no-deref', 'HEAD', head);
  await git(path('configured'), 'config', 'transfer.hideRefs', 'refs/heads');
  const names = ['plain', 'refs', 'tags', 'unborn', 'detached', 'configured', 'empty'];
  paths = Object.fromEntries(names.map((name) => [name, path(name)]));
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

const request = (capabilities: readonly string[], args: readonly string[]): string =>
  `${['command=ls-refs\n', ...capabilities].map(pktText).join('')}0001${args.map(pktText).join('')}0000`;

const REQUESTS: readonly [string, string][] = [
  ['all', request([], [])],
  ['all, of a client', request(['agent=git/2.0', 'object-format=sha1'], ['peel\n', 'symrefs\n', 'unborn\n'])],
  [
    'branches',
    request(['object-format=sha1'], ['symrefs', 'unborn', 'ref-prefix HEAD', 'ref-prefix refs/heads/']),
  ],
  ['one pull request', request([], ['ref-prefix refs/pull/1/head\n'])],
  ['tags', request([], ['symrefs', 'ref-prefix refs/tags/'])],
];

describe.each(['plain', 'refs', 'tags', 'unborn', 'empty'])('the repository %s', (name) => {
  test.each(REQUESTS)('lists %s', async (what, body) => {
    const path = paths[name] ?? '';
    const listed = listedRefs(path, Buffer.from(body));
    const real = await mustRunGit(path, ['upload-pack', '--stateless-rpc', path], {
      input: body,
      env: { GIT_PROTOCOL: 'version=2' },
    });
    // What an annotated tag stands for is left to git.
    if (listed === null) expect([name, what]).toEqual(['tags', 'all, of a client']);
    else expect(listed).toBe(real.toString());
  });

  test.each([
    ['git-upload-pack', 'version=2'],
    ['git-receive-pack', ''],
    ['git-receive-pack', 'version=2'],
  ])('advertises itself for %s %s', async (service, protocol) => {
    const path = paths[name] ?? '';
    const args = [service.replace('git-', ''), '--stateless-rpc', '--http-backend-info-refs', path];
    const real = await mustRunGit(path, args, { env: { GIT_PROTOCOL: protocol } });
    expect((await advertisedRefs(path, service, protocol))?.toString('latin1')).toBe(real.toString('latin1'));
  });
});

test.each(['detached', 'configured'])('the repository %s is left to git', (name) => {
  for (const [, body] of REQUESTS) expect(listedRefs(paths[name] ?? '', Buffer.from(body))).toBeNull();
});

test.each([
  ['another command', '0014command=fetch   0000'],
  ['another hash', request(['object-format=sha256'], [])],
  ['an argument that nobody knows', request([], ['sort'])],
  ['a request without its end', request([], []).slice(0, -4)],
  ['more than one request', request([], []).repeat(2)],
])('%s is left to git', (_, body) => {
  expect(listedRefs(paths['plain'] ?? '', Buffer.from(body))).toBeNull();
});

test('older protocols of fetching are left to git', async () => {
  for (const protocol of ['', 'version=1', 'version=2:version=1']) {
    expect(await advertisedRefs(paths['plain'] ?? '', 'git-upload-pack', protocol)).toBeNull();
  }
  expect(await advertisedRefs(paths['plain'] ?? '', 'git-receive-pack', 'version=1')).toBeNull();
});
