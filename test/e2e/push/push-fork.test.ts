/**
 * The bot's fork: made once, found again, and brought up to date with whatever upstream did
 * meanwhile.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { gitIn } from '../support/objects.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

/** A contribution to a repository that the bot has forked before, for someone else. */
async function contributeAgain(): Promise<Contribution> {
  const first = await contribute(bed);
  await first.clone.commit();
  await expectAccepted(bed, first, await first.clone.push());
  return first;
}

const forkRequests = (upstream: { name: string }) => bed.host.requestsFor(upstream, 'POST', /\/forks$/);
const forkMain = (upstream: { name: string }) =>
  gitIn(bed.host.forkPath(upstream) ?? '', 'rev-parse', 'main');

describe('a fork that is made slowly', exhaustive, () => {
  const slow = useOwnTestBed({ forkDelayMs: 300 });

  it('is waited for while its objects arrive', async () => {
    const contribution = await contribute(slow);
    await contribution.clone.commit();
    const { forkPath } = await expectAccepted(slow, contribution, await contribution.clone.push());
    expect(await gitIn(forkPath, 'rev-parse', 'main')).toBe(await contribution.upstream.tip());
  });
});

describe('the fork', exhaustive, () => {
  it('has another name where the bot owns a repository of that name already', async () => {
    const name = 'taken';
    bed.sandbox.createRepository({ owner: bed.sandbox.botLogin, name });
    const contribution = await contribute(bed, { name });
    const { clone, upstream } = contribution;
    await clone.commit();
    const fork = { name: `${name}-1` };
    const first = await expectAccepted(bed, contribution, await clone.push(), { fork });
    expect(await bed.host.workBranches({ name })).toEqual([]);
    // And is found under it again.
    await clone.commit();
    const pushed = await clone.push('-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:topic');
    const second = await expectAccepted(bed, contribution, pushed, { fork });
    expect(second.pull.number).toBe(first.pull.number);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it.each([
    ['release', 'release/1.0'],
    ['release/1.0', 'release'],
  ])('whose old branch "%s" is in the way of "%s" takes the push all the same', async (old, now) => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    const propose = async (base: string) => {
      await upstream.grow({ branch: base, from: 'main', files: { [`${base.length}.txt`]: `${base}\n` } });
      await clone.git('fetch', '--quiet', '--prune', 'origin');
      await clone.git('switch', '--quiet', '--detach', `origin/${base}`);
      await clone.commit({ message: `For ${base}\n` });
      return clone.push('-o', `base=${base}`, 'origin', `HEAD:refs/heads/for-${base.length}`);
    };
    await expectAccepted(bed, contribution, await propose(old));
    await upstream.git('update-ref', '-d', `refs/heads/${old}`);
    const { pull } = await expectAccepted(bed, contribution, await propose(now));
    expect(pull.base).toBe(now);
  });

  it('keeps the branch of a pull request, also if upstream gives one of its own that name', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { pull, forkPath } = await expectAccepted(bed, contribution, await clone.push());
    const branch = pull.head.slice(pull.head.indexOf(':') + 1);
    const before = await gitIn(forkPath, 'rev-parse', branch);
    await upstream.git('update-ref', `refs/heads/${branch}`, 'refs/heads/main');
    await clone.git('fetch', '--quiet', 'origin');
    await clone.git('switch', '--quiet', '--detach', `origin/${branch}`);
    await clone.commit({ message: 'For the branch of that name\n' });
    const other = await clone.push('-o', `base=${branch}`, 'origin', 'HEAD:refs/heads/other');
    expect(other.code, other.stderr).toBe(0);
    // The fork is synced beside the push.
    await bed.host.settle();
    expect(await gitIn(forkPath, 'rev-parse', branch)).toBe(before);
  });

  it('costs a push of two commits six requests in all when upstream has not moved', async () => {
    const { clone, upstream } = await contributeAgain();
    await clone.commit();
    const before = bed.host.requests.length;
    expect((await clone.push('origin', 'HEAD:again')).code).toBe(0);
    const requests = bed.host.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    // When the push has ended, the service looks whether the pull request is shown.
    const own = requests.filter(
      (request) => request.includes(upstream.name) && !/^GET .*\/pulls\/\d+$/.test(request),
    );
    expect(own.map((request) => request.replace(/ .*\/hello\d*/, ' …')).toSorted()).toEqual([
      'GET …',
      // With which a fetch begins, and so a discovery.
      'GET ….git/info/refs?service=git-upload-pack',
      'POST ….git/git-receive-pack',
      'POST ….git/git-upload-pack',
      // Whether the newest commit takes back what the first one does.
      'POST ….git/git-upload-pack',
      'POST …/pulls',
    ]);
  });

  it('gets few of the branches that upstream has on one commit', async () => {
    const { clone, upstream } = await contributeAgain();
    const tip = await upstream.tip();
    const branches = Array.from({ length: 60 }, (_, at) => `${tip} refs/heads/release-${at}`);
    const refs = ['# pack-refs with: peeled', `${tip} refs/heads/main`, ...branches, ''];
    await writeFile(join(upstream.path, 'packed-refs'), refs.join('\n'));
    await clone.git('fetch', '--quiet', 'origin');
    await clone.commit();
    expect((await clone.push('-o', 'base=main', 'origin', 'HEAD:again')).code).toBe(0);
    await bed.host.settle();
    expect(bed.host.requestsFor(upstream, 'POST', /\/git\/refs$/).length).toBeLessThan(2);
  });

  it('is synced beside the push of a clone that is as old as the fork', async () => {
    const contribution = await contributeAgain();
    const { clone, upstream } = contribution;
    const tip = await upstream.grow({ count: 2 });
    const { promise: until, resolve: sync } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path: /\/merge-upstream$/, until });
    await clone.commit();
    expect((await clone.push('origin', 'HEAD:again')).code).toBe(0);
    expect(await forkMain(upstream)).not.toBe(tip);
    sync();
    await expect.poll(() => forkMain(upstream)).toBe(tip);
  });

  it('is waited for if the pack leaves out what only newer commits of upstream have', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    await expectAccepted(bed, { upstream, clone }, await clone.push());
    const content = randomBytes(4_000).toString('hex');
    await upstream.grow({ files: { 'long.txt': content } });
    await clone.git('fetch', '--quiet');
    await clone.git('reset', '--hard', '--quiet', 'HEAD~1');
    await clone.commit({ files: { 'long.txt': content } });
    // With a bitmap, Git knows all objects of upstream's newest commit. Without, only those that
    // the work stands on.
    await clone.git('-c', 'repack.writeBitmaps=true', 'repack', '-adbq');
    // Until the host has refused the pack, however long that takes it.
    const { promise: until, resolve: sync } = Promise.withResolvers<void>();
    const refused = (sent: unknown): void => {
      const { url = '' } = (sent as { request: IncomingMessage }).request;
      if (url.endsWith(`/${upstream.name}.git/git-receive-pack`)) sync();
    };
    subscribe('http.server.response.finish', refused);
    bed.sandbox.faults.inject({ path: /\/merge-upstream$/, until });
    await expectAccepted(bed, { upstream, clone }, await clone.push());
    unsubscribe('http.server.response.finish', refused);
    expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$/)).toHaveLength(3);
  });

  it('that cannot be synced beside the push is synced by the next', async () => {
    const { clone, upstream } = await contributeAgain();
    const tip = await upstream.grow({ count: 2 });
    for (const path of [/\/merge-upstream$/, /\/git\/refs\/heads\/main$/])
      bed.sandbox.faults.inject({ path, answer: { status: 500 }, times: 10 });
    await clone.commit();
    expect((await clone.push('origin', 'HEAD:again')).code).toBe(0);
    bed.sandbox.faults.clear();
    await clone.git('pull', '--rebase', 'origin', 'main');
    await clone.commit();
    expect((await clone.push('origin', 'HEAD:once-more')).code).toBe(0);
    expect(await forkMain(upstream)).toBe(tip);
  });

  it('is set to upstream’s branch when upstream has rewritten it', async () => {
    const { upstream } = await contributeAgain();
    const tip = await upstream.grow({ from: 'main~2', count: 3 });
    const clone = await bed.person().copy(upstream);
    await clone.commit();
    const { commits, forkPath } = await expectAccepted(bed, { upstream, clone }, await clone.push());
    expect(commits[0]?.parents).toEqual([tip]);
    expect(await gitIn(forkPath, 'rev-parse', 'main')).toBe(tip);
  });

  it('gets a new branch that the work stands on though the pull request is for another', async () => {
    const { upstream } = await contributeAgain();
    await upstream.grow({ branch: 'next', from: 'main', count: 3 });
    const clone = await bed.person().copy(upstream, 'next');
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:refs/for/main');
    expect((await expectAccepted(bed, { upstream, clone }, pushed)).pull.base).toBe('main');
  });

  it('stays in use when the default branch of upstream gets another name', async () => {
    const { upstream } = await contributeAgain();
    await upstream.git('branch', '-m', 'main', 'trunk');
    await upstream.git('symbolic-ref', 'HEAD', 'refs/heads/trunk');
    await upstream.grow({ branch: 'trunk', count: 2 });
    const clone = await bed.person().copy(upstream);
    await clone.commit();
    const { pull } = await expectAccepted(bed, { upstream, clone }, await clone.push());
    expect(pull.base).toBe('trunk');
  });

  it('that was deleted by hand is made anew by the next push', async () => {
    const contribution = await contributeAgain();
    const { clone, upstream } = contribution;
    await bed.sandbox.maintainer.deleteFork(bed.sandbox.botLogin, upstream.name);
    await clone.commit();
    await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:again'));
    expect(forkRequests(upstream)).toHaveLength(2);
    expect(await bed.host.pulls(upstream)).toHaveLength(2);
  });

  it('that was deleted by hand is made anew, also if it cannot be listed', async () => {
    const contribution = await contributeAgain();
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'release', from: 'main' });
    await bed.sandbox.maintainer.deleteFork(bed.sandbox.botLogin, upstream.name);
    const path = new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}\\.git/git-upload-pack$`);
    bed.sandbox.faults.inject({ method: 'POST', path, times: 3, answer: { status: 500 } });
    await clone.commit();
    await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:refs/for/release'));
    expect(forkRequests(upstream)).toHaveLength(2);
  });

  it.each<[how: string, status: number | null]>([
    ['404', null],
    ['the 403 of Gitea', 403],
    ['the 500 of Forgejo', 500],
  ])(
    'that was deleted by hand is made anew by a push that names its pull request, also if Git is answered with %s',
    async (_, status) => {
      const contribution = await contribute(bed);
      const { clone, upstream } = contribution;
      await clone.commit();
      const { banner } = await expectAccepted(bed, contribution, await clone.push());
      await bed.sandbox.maintainer.deleteFork(bed.sandbox.botLogin, upstream.name);
      const path = new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}\\.git/git-upload-pack$`);
      const times = status === 500 ? 3 : 1;
      if (status !== null) bed.sandbox.faults.inject({ method: 'POST', path, times, answer: { status } });
      await clone.commit();
      const pushed = await clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic');
      // The host has no branch any more for the first one.
      const { pull } = await expectAccepted(bed, contribution, pushed);
      expect(pull.headSha).toBe(await gitIn(bed.host.forkPath(upstream) ?? '', 'rev-parse', banner.branch));
      expect(await bed.host.pulls(upstream)).toHaveLength(2);
      expect(forkRequests(upstream)).toHaveLength(2);
    },
  );

  it('that was renamed by hand is found by a push that names its pull request', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const first = await expectAccepted(bed, contribution, await clone.push());
    const fork = { name: `${upstream.name}-renamed` };
    bed.sandbox.maintainer.renameRepository(bed.sandbox.botLogin, upstream.name, fork.name);
    await clone.commit();
    const pushed = await clone.push('-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:topic');
    const second = await expectAccepted(bed, contribution, pushed, { fork });
    expect(second.pull.number).toBe(first.pull.number);
  });

  it('is asked for once, though it cannot be used, and though the host refuses the commits', async () => {
    const contribution = await contributeAgain();
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'release', from: 'main' });
    const ofFork = (service: string) =>
      new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}\\.git/${service}$`);
    const failing = { method: 'POST', times: 3, answer: { status: 500 } };
    bed.sandbox.faults.inject({ ...failing, path: ofFork('git-upload-pack') });
    await clone.commit();
    const push = () => clone.push('origin', 'HEAD:refs/for/release');
    expect((await push()).stderr).toContain('push rejected: the fork could not be made');
    for (let time = 0; time < 2; time++) {
      bed.sandbox.faults.inject({
        ...failing,
        path: ofFork('git-receive-pack'),
        answer: { status: 413 },
        times: 1,
      });
      expect((await push()).stderr).toContain('push rejected: the commits could not be sent to the fork');
    }
    await expectAccepted(bed, contribution, await push());
    expect(forkRequests(upstream)).toHaveLength(1);
  });

  it('of a pull request is that of its updates, also after a restart, and after upstream has left its network', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { banner, pull } = await expectAccepted(bed, contribution, await clone.push());
    const update = async () => {
      await bed.restart();
      await clone.commit();
      const pushed = await clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic');
      const { pull: updated } = await expectAccepted(bed, contribution, pushed);
      expect(updated.number).toBe(pull.number);
    };
    await update();
    bed.sandbox.maintainer.detachFork(bed.sandbox.botLogin, upstream.name);
    await update();
    expect(forkRequests(upstream)).toHaveLength(1);
    // A new one has a fork that the host takes it from.
    await clone.commit();
    const fork = { name: `${upstream.name}-1` };
    await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:new'), { fork });
  });

  it('that has left the network of upstream is replaced by the next new pull request', async () => {
    const contribution = await contributeAgain();
    const { clone, upstream } = contribution;
    const detached = bed.host.forkPath(upstream) ?? '';
    const branches = () => gitIn(detached, 'branch', '--list', 'anon-*');
    bed.sandbox.maintainer.detachFork(bed.sandbox.botLogin, upstream.name);
    await clone.commit();
    const fork = { name: `${upstream.name}-1` };
    const old = await branches();
    await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:new'), { fork });
    expect(forkRequests(upstream)).toHaveLength(2);
    expect(await branches()).toBe(old);
  });

  it('of a repository that was deleted and made anew under its name is replaced', async () => {
    const { upstream: old } = await contributeAgain();
    const ids = await old.git('rev-list', '--all');
    bed.tripwire.tolerate(
      'commits of the deleted repository',
      ({ secret }) => secret.kind === 'id' && ids.includes(secret.text),
    );
    await bed.sandbox.maintainer.deleteFork(old.owner, old.name);
    const contribution = await contribute(bed, { name: old.name });
    await contribution.clone.commit();
    const fork = { name: `${old.name}-1` };
    await expectAccepted(bed, contribution, await contribution.clone.push(), { fork });
  });

  it.each<[what: string, pulls: number, change: (name: string) => unknown]>([
    ['deleted', 2, (name) => bed.sandbox.maintainer.deleteFork(bed.sandbox.botLogin, name)],
    [
      'renamed',
      1,
      (name) => bed.sandbox.maintainer.renameRepository(bed.sandbox.botLogin, name, `${name}-new`),
    ],
  ])(
    'of a pull request that is %s in the middle of an update is told of, and none is made for it',
    async (what, pulls, change) => {
      const contribution = await contribute(bed);
      const { clone, upstream } = contribution;
      await clone.commit();
      const { banner } = await expectAccepted(bed, contribution, await clone.push());
      const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
      const path = new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}\\.git/git-receive-pack$`);
      bed.sandbox.faults.inject({ method: 'POST', path, until });
      await clone.commit();
      const update = () => clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic');
      const before = bed.host.requests.length;
      const pushing = update();
      const asked = () => bed.host.requests.slice(before).filter((request) => path.test(request.path));
      await expect.poll(asked).toHaveLength(1);
      await change(upstream.name);
      goOn();
      expect((await pushing).stderr).toContain('push rejected: the fork of the pull request is gone');
      expect(forkRequests(upstream)).toHaveLength(1);
      const fork = what === 'renamed' ? { fork: { name: `${upstream.name}-new` } } : {};
      await expectAccepted(bed, contribution, await update(), fork);
      expect(await bed.host.pulls(upstream)).toHaveLength(pulls);
    },
  );

  it('that was made private is used as before', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { banner, pull } = await expectAccepted(bed, contribution, await clone.push());
    bed.sandbox.maintainer.setPrivate(bed.sandbox.botLogin, upstream.name, true);
    await clone.git('commit', '--quiet', '--amend', '--message=Better words');
    const updated = await clone.push('-f', '-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:topic');
    expect((await expectAccepted(bed, contribution, updated)).pull.number).toBe(pull.number);
    await clone.commit();
    await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:another'));
    expect(forkRequests(upstream)).toHaveLength(1);
  });

  it('that was deleted by hand is made anew, also for a large push', async () => {
    const contribution = await contributeAgain();
    const { clone, upstream } = contribution;
    await bed.sandbox.maintainer.deleteFork(bed.sandbox.botLogin, upstream.name);
    await clone.commit({ files: { large: randomBytes(3_000_000) } });
    await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:again'));
  });

  it('takes pushes of several persons at once, each with a pull request of its own', async () => {
    const upstream = await bed.createUpstream();
    const clones = await Promise.all([1, 2, 3].map(() => bed.person().copy(upstream)));
    await Promise.all(clones.map((clone) => clone.commit()));
    const pushes = await Promise.all(clones.map((clone) => clone.push()));
    for (const [index, pushed] of pushes.entries()) {
      await expectAccepted(bed, { upstream, clone: clones[index]! }, pushed);
    }
    expect(await bed.host.pulls(upstream)).toHaveLength(3);
  });
});
