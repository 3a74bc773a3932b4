/** Clone and fetch through the service, as people do them: what arrives is what upstream has. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listObjects } from '../support/objects.ts';
import type { Clone } from '../support/person.ts';
import { useTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

/** The service's own upload-pack requests to the host about a repository. */
const fetchesOf = (upstream: Upstream) => bed.host.requestsFor(upstream, 'POST', /\/git-upload-pack$/);

async function expectSame(clone: Clone, upstream: Upstream, branch = 'main'): Promise<void> {
  expect(await clone.git('rev-parse', `origin/${branch}`)).toBe(await upstream.tip(branch));
  await clone.git('fsck', '--strict', '--no-dangling');
}

const commitCount = async (clone: Clone, revision = 'HEAD') =>
  Number(await clone.git('rev-list', '--count', revision));

describe('git clone', () => {
  it('gets every branch, tag and object, and checks out the default branch', async () => {
    const upstream = await bed.createUpstream({ defaultBranch: 'trunk' });
    await upstream.grow({ branch: 'topic', from: 'trunk', files: { 'topic.txt': 'topic\n' } });
    await upstream.git(
      '-c',
      'user.name=M',
      '-c',
      'user.email=m@example.com',
      'tag',
      '-a',
      '-m',
      'One',
      'v1',
      'trunk',
    );
    const clone = await bed.person().clone(upstream.url);
    await expectSame(clone, upstream, 'trunk');
    await expectSame(clone, upstream, 'topic');
    expect(await clone.git('symbolic-ref', '--short', 'HEAD')).toBe('trunk');
    expect(await clone.git('cat-file', '-t', 'v1')).toBe('tag');
    expect([...(await listObjects(clone.path)).keys()].toSorted()).toEqual(
      [...(await listObjects(upstream.path)).keys()].toSorted(),
    );
    expect(await clone.git('status', '--porcelain')).toBe('');
  });

  it('takes the address with and without .git, and a slash behind it', async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    for (const suffix of ['.git', '/', '.git/'])
      await expectSame(await person.clone(upstream.url + suffix), upstream);
  });

  it('of an empty repository works, and knows its branch', async () => {
    const upstream = await bed.createUpstream({ commits: 0, defaultBranch: 'trunk' });
    const clone = await bed.person().clone(upstream.url);
    expect(await clone.git('symbolic-ref', '--short', 'HEAD')).toBe('trunk');
  });

  it('of a repository with thousands of refs works with protocol 0', exhaustive, async () => {
    const upstream = await bed.createUpstream({ commits: 1600 });
    const oids = (await upstream.git('rev-list', 'main')).split('\n');
    for (let at = 0; at < oids.length; at += 400) {
      const refs = oids.slice(at, at + 400).map((oid, index) => `+${oid}:refs/heads/b${at + index}`);
      await upstream.git('fetch', '--quiet', '.', ...refs);
    }
    const config = ['-c', 'protocol.version=0', '-c', 'http.postBuffer=65536'];
    const clone = await bed.person().clone(upstream.url, '--no-checkout', ...config);
    await expectSame(clone, upstream, 'b1599');
    // Git sent its wants in chunks; what is short reaches the host in one piece.
    const wanting = fetchesOf(upstream).filter(({ body }) => body.includes('want '));
    expect(wanting.some(({ body }) => body.length > 65_536)).toBe(true);
  });
});

describe('git fetch', () => {
  it('prunes branches that are gone, and follows a branch that was rewritten', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ branch: 'old', from: 'main' });
    const clone = await bed.person().clone(upstream.url);
    await upstream.git('update-ref', '-d', 'refs/heads/old');
    await upstream.grow({ branch: 'main', from: 'main~2' });
    await clone.git('fetch', '--prune');
    await expectSame(clone, upstream);
    expect(await clone.git('branch', '--remotes')).not.toContain('old');
  });

  it('tells nothing of what the client alone has, however much that is', async () => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().clone(upstream.url);
    const old = await upstream.tip();
    for (let i = 0; i < 40; i++) await clone.commit();
    await upstream.grow({ count: 2 });
    await clone.git('fetch');
    await expectSame(clone, upstream);
    // Git names some commits at a time, the newest first, and compresses what is long.
    const bodies = fetchesOf(upstream).map(({ body }) => body.toString());
    expect(bodies.filter((body) => body.includes(`have ${old}`))).toHaveLength(1);
    expect(bodies.join('')).toContain('agent=git/2.0');
  });

  it('tells no name of a branch, which every fetch asks for once the branch is tracked', async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    const clone = await person.clone(upstream.url);
    await clone.git('switch', '--quiet', '-c', person.branch);
    await clone.git('config', `branch.${person.branch}.remote`, 'origin');
    await clone.git('config', `branch.${person.branch}.merge`, `refs/heads/${person.branch}`);
    await upstream.grow();
    await clone.git('fetch');
    await expectSame(clone, upstream);
    expect((await clone.tryGit('fetch', 'origin', person.branch)).code).toBe(128);
    await clone.git('fetch', 'origin', 'main');
  });

  it('finds what is common before anything is pushed', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().clone(upstream.url);
    await upstream.grow({ count: 2 });
    await clone.commit();
    const pushed = await clone.tryGit('-c', 'push.negotiate=true', 'push', 'origin', 'HEAD:refs/heads/topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(pushed.stderr).not.toContain('negotiation failed');
  });

  it('of a clone that shares nothing with upstream gets all of it', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().init(upstream.url);
    for (let i = 0; i < 3; i++) await clone.commit();
    await clone.git('fetch', '--quiet', 'origin');
    expect(await clone.git('rev-parse', 'origin/main')).toBe(await upstream.tip());
  });
});

describe.each([0, 2])('a shallow clone (protocol %i)', (version) => {
  const protocol = ['-c', `protocol.version=${version}`];

  it('has the depth that was asked for, and can be deepened to the whole', async () => {
    const upstream = await bed.createUpstream({ commits: 10 });
    const clone = await bed.person().clone(upstream.url, ...protocol, '--depth', '2');
    expect(await commitCount(clone)).toBe(2);
    await clone.git('fetch', '--deepen', '3');
    expect(await commitCount(clone)).toBe(5);
    await clone.git('fetch', '--depth', '7');
    expect(await commitCount(clone)).toBe(7);
    await clone.git('fetch', '--unshallow');
    expect(await commitCount(clone)).toBe(10);
    await expectSame(clone, upstream);
  });

  it('has what is younger than a date, or not below a tag', async () => {
    const upstream = await bed.createUpstream({ commits: 0 });
    await upstream.grow({ count: 6, ageDays: 1, stepDays: 10 });
    await upstream.git('tag', 'v1', 'main~3');
    const since = new Date(Date.now() - 25 * 86_400_000).toISOString().slice(0, 10);
    const young = await bed.person().clone(upstream.url, ...protocol, '--shallow-since', since);
    expect(await commitCount(young)).toBe(3);
    const above = await bed.person().clone(upstream.url, ...protocol, '--shallow-exclude', 'v1');
    expect(await commitCount(above)).toBe(3);
  });
});

describe('a partial clone', () => {
  it('without files fetches those that it needs, when it needs them', async () => {
    const upstream = await bed.createUpstream({ commits: 0 });
    await upstream.grow({ count: 5, files: { 'read.me': 'read me\n' } });
    const clone = await bed.person().clone(upstream.url, '--filter=blob:none', '--no-checkout');
    const types = () => listObjects(clone.path).then((objects) => new Set(objects.values()));
    const missing = await clone.git('rev-list', '--objects', '--missing=print', 'HEAD');
    expect(missing).toMatch(/^\?/m);
    expect(await types()).toEqual(new Set(['commit', 'tree']));
    await clone.git('checkout', '--quiet', 'main');
    expect(readFileSync(join(clone.path, 'read.me'), 'utf8')).toBe('read me\n');
    expect(await types()).toEqual(new Set(['commit', 'tree', 'blob']));
  });

  it('without trees has the history alone', exhaustive, async () => {
    const upstream = await bed.createUpstream({ commits: 5 });
    const clone = await bed.person().clone(upstream.url, '--filter=tree:0', '--no-checkout');
    expect(new Set((await listObjects(clone.path)).values())).toEqual(new Set(['commit']));
    expect(await commitCount(clone)).toBe(5);
    await clone.git('checkout', '--quiet', 'main');
    expect(existsSync(join(clone.path, 'upstream'))).toBe(true);
  });
});
