/** A push that died before its answer was sent, and is simply pushed again. */
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { bannerOf, remoteLines, statusTable } from '../support/push-output.ts';
import { RawConnection } from '../support/raw-http.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, RECEIVE_PACK } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

async function withCommit(): Promise<Contribution> {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  return contribution;
}

/** What Git would send for `git push origin HEAD:topic`, down a line that breaks. */
async function pushByHand({ upstream, clone, person }: Contribution, share: number): Promise<RawConnection> {
  const pack = await packOf(clone, ['HEAD', '^origin/main']);
  const commands = [{ newId: await clone.idOf('HEAD'), ref: 'refs/heads/topic' }];
  const body = pushBody({ commands, pack });
  const connection = await RawConnection.open(bed.service.url);
  connection.sendHead(`${new URL(upstream.url).pathname}/git-receive-pack`, person, {
    'Content-Type': RECEIVE_PACK,
    'Content-Length': String(body.length),
  });
  connection.send(body.subarray(0, Math.floor(body.length * share)));
  return connection;
}

const again = ({ clone }: Contribution) => clone.push('origin', 'HEAD:topic');
const receivePath = ({ upstream }: Contribution) => new RegExp(`/${upstream.name}\\.git/git-receive-pack$`);
const pullsPath = ({ upstream }: Contribution) => new RegExp(`/repos/${upstream.fullName}/pulls$`);

describe('the same push again', exhaustive, () => {
  it('after a line that broke while the commits were sent finds the pull request, and is answered', async () => {
    const contribution = await withCommit();
    const { upstream } = contribution;
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path: receivePath(contribution), until });
    // As long as a code host takes for it: that the line is broken comes back while it does, not with the last bytes.
    bed.sandbox.faults.inject({ method: 'POST', path: pullsPath(contribution), delayMs: 500 });
    const connection = await pushByHand(contribution, 1);
    await expect.poll(() => bed.host.requestsFor(upstream, 'POST', /git-receive-pack$/)).toHaveLength(1);
    connection.vanish();
    answer();
    await expect.poll(() => bed.logLines.at(-1)).toMatch(/push accepted/);
    const { pull } = await expectAccepted(bed, contribution, await again(contribution));
    expect((await bed.host.onlyPull(upstream)).url).toBe(pull.url);
    expect(bed.host.requestsFor(upstream, 'POST', /git-receive-pack$/)).toHaveLength(1);
  });

  it('after a line that broke in the middle of the pack is not held up', async () => {
    const contribution = await withCommit();
    const connection = await pushByHand(contribution, 0.6);
    connection.vanish();
    await expect.poll(() => bed.logLines.at(-1)).toMatch(/push refused/);
    await expect.poll(async () => (await again(contribution)).code).toBe(0);
    await bed.host.onlyPull(contribution.upstream);
  });

  it('while the first one is under way is told so, and nothing is done twice', async () => {
    const contribution = await withCommit();
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path: pullsPath(contribution), until });
    const first = again(contribution);
    await expect.poll(() => bed.host.requestsFor(contribution.upstream, 'POST', /\/pulls$/)).toHaveLength(1);
    const second = await again(contribution);
    expect(statusTable(second), second.stderr).toEqual([
      ' ! [remote rejected] HEAD -> topic (push rejected: this push is already in progress)',
    ]);
    answer();
    await expectAccepted(bed, contribution, await first);
    await bed.host.onlyPull(contribution.upstream);
  });

  it('once it was answered says first that the same commits are open, and how to update or withdraw', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit();
    const first = await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:one'));
    // The same work under other dates, as after a rebase.
    await clone.git('commit', '--quiet', '--amend', '--no-edit', '--date=@1700000000 +0000');
    const second = await clone.push('origin', 'HEAD:two');
    expect(second.code, second.stderr).toBe(0);
    const { prHash, prKey } = bannerOf(second);
    expect(remoteLines(second).slice(0, 2)).toEqual([
      `NEW pull request: the same commits are open as ${first.pull.url}`,
      `Update that one with -o pr-hash=${first.banner.prHash}. Withdraw this one with -o withdraw -o pr-hash=${prHash} -o pr-key=${prKey}.`,
    ]);
    // The first one stays what is told of: the second may be a copy by somebody else.
    await clone.git('commit', '--quiet', '--amend', '--no-edit', '--date=@1700000005 +0000');
    const copy = await clone.push('origin', 'HEAD:copy');
    expect(remoteLines(copy)[0]).toBe(`NEW pull request: the same commits are open as ${first.pull.url}`);
    for (const banner of [bannerOf(second), bannerOf(copy), first.banner]) {
      const options = ['-o', `pr-hash=${banner.prHash}`, '-o', `pr-key=${banner.prKey}`];
      const withdrawn = await clone.push('-o', 'withdraw', ...options, 'origin', 'HEAD:withdraw');
      expect(withdrawn.code, withdrawn.stderr).toBe(0);
    }
    // None is open any more.
    await clone.git('commit', '--quiet', '--amend', '--no-edit', '--date=@1700000010 +0000');
    const third = await clone.push('origin', 'HEAD:three');
    expect(third.stderr).not.toContain('NEW pull request');
  });

  it('with one more commit says how many are open already, also in a preview', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit();
    await clone.commit();
    const first = await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:one'));
    await clone.commit();
    const line = `NEW pull request: 2 of your 3 commits are open as ${first.pull.url}`;
    const instead = `Update that one with -o pr-hash=${first.banner.prHash}.`;
    const preview = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:one'));
    expect(preview.slice(0, 2)).toEqual([line, instead]);
    const second = remoteLines(await clone.push('origin', 'HEAD:one'));
    expect(second[0]).toBe(line);
    expect(second[1]?.startsWith(`${instead} Withdraw this one with `)).toBe(true);
    // The whole of it is what a repetition finds.
    const repeated = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:two'));
    expect(repeated[0]).toMatch(/^NEW pull request: the same commits are open as /);
  });

  it('once it was answered opens another pull request', async () => {
    const contribution = await withCommit();
    const first = await expectAccepted(bed, contribution, await again(contribution));
    const second = await expectAccepted(bed, contribution, await again(contribution));
    expect(second.pull.number).not.toBe(first.pull.number);
  });

  it('once it was refused begins anew', async () => {
    const contribution = await withCommit();
    const answer = { status: 403, body: { message: 'Repository access blocked.' } };
    bed.sandbox.faults.inject({ method: 'POST', path: pullsPath(contribution), times: ALWAYS, answer });
    expect((await again(contribution)).code).toBe(1);
    bed.sandbox.faults.clear();
    expect(await bed.host.workBranches(contribution.upstream)).toEqual([]);
    const { banner } = await expectAccepted(bed, contribution, await again(contribution));
    expect(await bed.host.workBranches(contribution.upstream)).toEqual([banner.branch]);
  });

  it('while nobody knows whether its pull request was opened takes its branch, and opens one', async () => {
    const contribution = await withCommit();
    bed.sandbox.faults.inject({
      method: 'POST',
      path: pullsPath(contribution),
      times: ALWAYS,
      answer: { status: 500 },
    });
    expect((await again(contribution)).code).toBe(1);
    bed.sandbox.faults.clear();
    const branches = await bed.host.workBranches(contribution.upstream);
    expect(branches).toHaveLength(1);
    const { banner } = await expectAccepted(bed, contribution, await again(contribution));
    expect([banner.branch]).toEqual(branches);
    await bed.host.onlyPull(contribution.upstream);
  });
});
