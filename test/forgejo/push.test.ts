/** Pushes through the service to a real Gitea, with a real Git client. */
import { randomBytes } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { readRef } from '../../sandbox/bare-repository.ts';
import { contribute, expectAccepted } from '../e2e/support/contribution.ts';
import type { Clone } from '../e2e/support/person.ts';
import { bannerOf, remoteLines, statusTable } from '../e2e/support/push-output.ts';
import { unique } from '../host/contract/world.ts';
import { useGiteaBed } from './support/gitea-bed.ts';

const MB = 1024 * 1024;

async function treeOf(clone: Clone, revision: string, path = clone.path): Promise<string> {
  return (await clone.person.mustGit(path, ['rev-parse', `${revision}^{tree}`])).toString();
}

describe.skipIf(inject('gitea') === null)('a push to Gitea', () => {
  const bed = useGiteaBed();

  /** An open pull request of one commit. */
  async function opened() {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const first = await expectAccepted(bed, contribution, await contribution.clone.push());
    const update = (...more: string[]) =>
      contribution.clone.push('-f', '-o', `pr-hash=${first.banner.prHash}`, ...more, 'origin', 'HEAD:topic');
    return { ...contribution, first, update };
  }

  /** What the bot's fork has as `main`. */
  const forkMain = (upstream: { name: string }) =>
    readRef(bed.host.forkPath(upstream) ?? '', 'refs/heads/main');

  it('opens a pull request, and its update changes it', async () => {
    const { upstream, clone, first, update } = await opened();
    await clone.commit({ message: 'Two\n' });
    const second = await expectAccepted(bed, { upstream, clone }, await update());
    expect(second.pull.number).toBe(first.pull.number);
    expect(second.commits).toHaveLength(2);
    expect(second.commits[0]?.oid).toBe(first.commits[0]?.oid);
  });

  it('with squash and a text of its own is one commit with that text', async () => {
    const { upstream, clone } = await contribute(bed);
    for (const message of ['One\n', 'Two\n']) await clone.commit({ message });
    const options = ['-o', 'squash', '-o', 'title=All of it', '-o', 'description=At once.'];
    const pushed = await clone.push(...options, 'origin', 'HEAD:topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    const pull = await bed.host.onlyPull(upstream);
    expect(pull).toMatchObject({ title: 'All of it', body: 'At once.' });
    const { branch, prHash, prKey } = bannerOf(pushed);
    const fork = bed.host.forkPath(upstream) ?? '';
    expect(readRef(fork, `refs/heads/${branch}`)).toBe(pull.headSha);
    const named = ['-o', `pr-hash=${prHash}`, '-o', `pr-key=${prKey}`];
    const edited = await clone.push(...named, '-o', 'title=Else', 'origin', 'HEAD:topic');
    expect(edited.code, edited.stderr).toBe(0);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'Else', body: 'At once.' });
  });

  it('is withdrawn by deleting its branch', async () => {
    const { upstream, clone, first } = await opened();
    const { prHash, prKey } = first.banner;
    const pushed = await clone.push('-o', `pr-hash=${prHash}`, '-o', `pr-key=${prKey}`, 'origin', ':main');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(remoteLines(pushed)).toContain('Your pull request is withdrawn.');
    expect(await bed.host.pulls(upstream)).toMatchObject([{ state: 'closed' }]);
    expect(await bed.host.workBranches(upstream)).toEqual([]);
  });

  it('whose answers are lost opens one pull request', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    for (const path of [/\/forks$/, /\/pulls$/]) {
      bed.faults.inject({ method: 'POST', path, cut: { during: 'answer', afterBytes: 0 } });
    }
    await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(await bed.host.pulls(contribution.upstream)).toHaveLength(1);
  });

  it('follows upstream forward, and after it was rewritten', async () => {
    const { upstream } = await opened();
    await upstream.grow({ count: 2 });
    await secondPush(upstream);
    expect(forkMain(upstream)).toBe(await upstream.tip());
    await upstream.grow({ count: 2, from: await upstream.git('rev-parse', 'main~3') });
    await secondPush(upstream);
    expect(forkMain(upstream)).toBe(await upstream.tip());
  });

  async function secondPush(upstream: Awaited<ReturnType<typeof opened>>['upstream']): Promise<void> {
    const clone = await bed.person().clone(upstream.url);
    await clone.commit();
    await expectAccepted(bed, { upstream, clone }, await clone.push('origin', 'HEAD:topic'));
  }

  it('to a branch that the fork lacks brings that branch there', async () => {
    const { upstream } = await opened();
    await upstream.grow({ branch: 'release/1.0', from: 'main', count: 2 });
    const clone = await bed.person().clone(upstream.url, '--branch', 'release/1.0');
    await clone.commit();
    const { pull } = await expectAccepted(
      bed,
      { upstream, clone },
      await clone.push('origin', 'HEAD:release/1.0'),
    );
    expect(pull.base).toBe('release/1.0');
  });

  it('goes to a renamed repository, under its old and its new name', async () => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().clone(upstream.url);
    await clone.commit();
    const first = await expectAccepted(bed, { upstream, clone }, await clone.push());
    const name = unique('renamed');
    await bed.people.call('PATCH', `/repos/${upstream.fullName}`, { name });
    upstream.moveTo(name);
    await clone.commit();
    const pushed = await clone.push('-f', '-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(await bed.host.pulls({ fullName: `mona/${name}` })).toHaveLength(1);
    const other = await bed.person().clone(bed.remoteUrl('mona', name));
    await other.commit();
    const again = await other.push('origin', 'HEAD:topic');
    expect(again.code, again.stderr).toBe(0);
    expect(await bed.host.pulls({ fullName: `mona/${name}` })).toHaveLength(2);
  });

  it.each([
    ['stale', []],
    ['shallow', ['--depth=1']],
  ])('from a %s clone sends no more than its own work', async (_, args) => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().clone(upstream.url, ...args);
    await upstream.grow({ count: 3 });
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    const [push] = await bed.host.pushes(upstream);
    expect(push?.objects.filter(({ type }) => type === 'commit')).toHaveLength(1);
    expect((await bed.host.onlyPull(upstream)).state).toBe('open');
  });

  it('of 90 MB arrives whole', async () => {
    const contribution = await contribute(bed);
    const files = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`large-${index}.bin`, randomBytes(9 * MB)]),
    );
    await contribution.clone.commit({ files });
    const pushed = await contribution.clone.push();
    expect(pushed.code, pushed.stderr).toBe(0);
    const { branch } = bannerOf(pushed);
    const fork = bed.host.forkPath(contribution.upstream) ?? '';
    expect(await treeOf(contribution.clone, 'HEAD')).toBe(
      await treeOf(contribution.clone, readRef(fork, `refs/heads/${branch}`) ?? '', fork),
    );
  });

  it('to a repository without pull requests is refused before anything is written', async () => {
    const { clone, upstream } = await contribute(bed);
    await bed.people.call('PATCH', `/repos/${upstream.fullName}`, { has_pull_requests: false });
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:topic');
    expect(statusTable(pushed).join('\n')).toContain('not accepted by the repository');
    expect(pushed.stderr).toContain(`${upstream.fullName} takes no pull requests.`);
    expect(bed.host.forkPath(upstream)).toBeNull();
  });

  it('with -o draft opens a draft', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ message: 'Mend it\n' });
    const pushed = await contribution.clone.push('-o', 'draft', 'origin', 'HEAD:topic');
    const { pull } = await expectAccepted(bed, contribution, pushed);
    expect(pull).toMatchObject({ title: 'WIP: Mend it', isDraft: true });
  });

  it('to a private, an archived, a missing or a wrongly named repository is refused with a sentence', async () => {
    const person = bed.person();
    const clone = await person.init(bed.remoteUrl('mona', 'nothing'));
    await clone.commit();
    const tell = async (owner: string, name: string) => {
      await clone.git('remote', 'set-url', 'origin', bed.remoteUrl(owner, name));
      return clone.push('origin', 'HEAD:topic');
    };
    const hidden = await bed.people.createRepository({ private: true });
    for (const name of [hidden.name.name, 'nothing']) {
      expect((await tell('mona', name)).stderr).toContain('not found');
    }
    expect((await tell('api', 'v1')).stderr).toContain('invalid owner or repository name');
    const upstream = await bed.createUpstream();
    await bed.people.call('PATCH', `/repos/${upstream.fullName}`, { archived: true });
    const archived = await tell('mona', upstream.name);
    expect(statusTable(archived).join('\n')).toContain('archived');
    expect(bed.host.forkPath(upstream)).toBeNull();
  });
});
