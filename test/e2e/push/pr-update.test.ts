/**
 * Updates keep what their pull request had: the ids of commits that were there, and nobody else's
 * work in between.
 */
import { describe, expect, it } from 'vitest';
import { nextSecond, opened } from '../shapes/updates.ts';
import { expectAccepted } from '../support/contribution.ts';
import { bannerOf, remoteLines, statusTable } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

describe('an update', exhaustive, () => {
  it('with nothing new sends nothing', async () => {
    const { upstream, first, update } = await opened(bed);
    await nextSecond();
    const pushed = await update();
    expect(bannerOf(pushed).prUrl).toBe(first.pull.url);
    expect(remoteLines(pushed)).toContain(`Nothing new: ${first.pull.url} has these commits already.`);
    expect(pushed.stderr).not.toContain('updated');
    expect(await bed.host.pushes(upstream)).toHaveLength(1);
  });

  it('says what it adds, changes and drops, also in its preview', async () => {
    const { clone, update, ...contribution } = await opened(bed);
    await clone.commit({ message: 'Second\n' });
    expect(remoteLines(await update())).toContain('1 commit added.');
    await clone.git('reset', '--quiet', '--hard', 'origin/main');
    await clone.commit({ message: 'Another way\n' });
    const said = '1 commit added, 3 dropped (Second, Two, One).';
    const { banner } = contribution.first;
    const preview = await clone.push('-o', 'preview', '-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD:x');
    expect(remoteLines(preview)).toContain(said);
    expect(remoteLines(await update())).toContain(said);
    await contribution.upstream.grow();
    await clone.git('pull', '--quiet', '--rebase', 'origin', 'main');
    expect(remoteLines(await update())).toContain('1 commit changed.');
  });
});

describe('two updates at once', () => {
  it('end with one that wins, and one that is told to push again', exhaustive, async () => {
    const { upstream, first, update } = await opened(bed);
    const clones = await Promise.all([1, 2].map(() => bed.person().copy(upstream)));
    await Promise.all(clones.map((clone) => clone.commit()));
    const receivePath = new RegExp(`/${upstream.name}\\.git/git-receive-pack$`);
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path: receivePath, until });
    const before = bed.host.requests.length;
    const winning = update(clones[0]);
    await expect
      .poll(() => bed.host.requests.slice(before).filter(({ path }) => receivePath.test(path)))
      .toHaveLength(1);
    const losing = await update(clones[1]);
    expect(statusTable(losing), losing.stderr).toEqual([
      ' ! [remote rejected] HEAD -> topic (push rejected: another push to this pull request is in progress)',
    ]);
    answer();
    const second = await expectAccepted(bed, { upstream, clone: clones[0]! }, await winning);
    expect(second.pull.number).toBe(first.pull.number);
    const again = await expectAccepted(bed, { upstream, clone: clones[1]! }, await update(clones[1]));
    expect(again.pull.number).toBe(first.pull.number);
  });

  it('are told apart by the host when the service cannot', exhaustive, async () => {
    const { clone, upstream, first, update } = await opened(bed);
    await clone.commit();
    const receivePath = new RegExp(`/${upstream.name}\\.git/git-receive-pack$`);
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path: receivePath, until });
    const before = bed.host.requests.length;
    const pushing = update();
    await expect
      .poll(() => bed.host.requests.slice(before).filter(({ path }) => receivePath.test(path)))
      .toHaveLength(1);
    // Someone else moves the branch, after it was looked at.
    const path = `/repos/${bed.sandbox.botLogin}/${upstream.name}/git/refs/heads/${first.banner.branch}`;
    const moved = first.commits[0]!.oid;
    await bed.host.call('PATCH', path, { sha: moved, force: true });
    answer();
    const pushed = await pushing;
    expect(statusTable(pushed), pushed.stderr).toEqual([
      ' ! [remote rejected] HEAD -> topic (push rejected: another push to this pull request came first)',
    ]);
    expect((await bed.host.onlyPull(upstream)).headSha).toBe(moved);
    await expectAccepted(bed, { upstream, clone }, await update());
  });
});

it('an update is not kept waiting by a preview, which anybody can make', exhaustive, async () => {
  const { upstream, clone, first, update } = await opened(bed);
  const copy = await bed.person().copy(upstream);
  for (const each of [clone, copy]) await each.commit();
  const path = new RegExp(`/${upstream.name}/pulls/${first.pull.number}$`);
  const { promise: until, resolve: answer } = Promise.withResolvers<void>();
  bed.sandbox.faults.inject({ method: 'GET', path, until });
  const before = bed.host.requests.length;
  const previewing = copy.push('-o', 'preview', '-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:x');
  await expect
    .poll(() => bed.host.requests.slice(before).filter((request) => path.test(request.path)))
    .toHaveLength(1);
  await expectAccepted(bed, { upstream, clone }, await update());
  answer();
  expect((await previewing).stderr).toContain('preview: nothing was published');
});
