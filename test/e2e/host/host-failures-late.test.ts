/** A code host that fails when the commits are on their way, or when the pull request is opened. */
import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { ALWAYS, expectAgain, withFork, withWork } from '../support/failing-host.ts';
import { statusTable } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

const PUSH = 'the commits could not be sent to the fork';
const PULL = 'the pull request could not be opened';

const receivePath = ({ upstream }: Contribution) =>
  new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}\\.git/git-receive-pack$`);
const pullsPath = ({ upstream }: Contribution) => new RegExp(`/repos/${upstream.fullName}/pulls$`);

describe('sending the commits', exhaustive, () => {
  it('to a host whose hook declines them tells what the hook said', async () => {
    const contribution = await withFork(bed);
    const hook = join(contribution.forkPath, 'hooks/pre-receive');
    rmSync(join(contribution.forkPath, 'hooks'), { recursive: true, force: true });
    await contribution.upstream.git('init', '--quiet', '--bare', contribution.forkPath);
    writeFileSync(hook, '#!/bin/sh\necho "GH013: Repository rule violations found" >&2\nexit 1\n');
    chmodSync(hook, 0o755);
    const pushed = await contribution.clone.push();
    const lines = await expectRefused(
      bed,
      contribution.upstream,
      pushed,
      'the code host refused the commits',
    );
    expect(lines.join('\n')).toContain('pre-receive hook declined');
    expect(lines.join('\n')).toContain('GH013: Repository rule violations found');
    rmSync(hook);
    await expectAgain(bed, contribution);
  });

  it('to a host that finds them faulty tells why', async () => {
    const contribution = await withWork(bed);
    const { clone, person } = contribution;
    // A tree that names one file twice, in a pack that is too large for the service to look at its
    // folders.
    const blob = Buffer.from(await clone.writeObject('blob', randomBytes(1_200_000)), 'hex');
    const entry = Buffer.concat([Buffer.from('100644 same\0'), blob]);
    const tree = await clone.writeObject('tree', Buffer.concat([entry, entry]));
    const parents = [await clone.git('rev-parse', 'origin/main')];
    const tip = await clone.commitObject({ tree, parents, message: 'Twice the same\n' });
    const pushed = await clone.push('origin', `${tip}:refs/heads/${person.branch}`);
    const lines = await expectRefused(
      bed,
      contribution.upstream,
      pushed,
      'the code host refused the commits',
    );
    expect(lines.join('\n')).toMatch(/duplicateEntries|contains duplicate/);
    // An id that only the bot has is not shown.
    expect(lines.join('\n')).not.toContain(tree);
  });

  it.each([
    ['in the middle of the pack', { during: 'request', afterBytes: 400_000 }],
    ['in the middle of its report', { during: 'answer', afterBytes: 10 }],
  ] as const)('to a host that cuts the connection %s leaves nothing behind, or succeeds', async (_, cut) => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ files: { 'big.bin': randomBytes(1_500_000) } });
    bed.sandbox.faults.inject({ method: 'POST', path: receivePath(contribution), cut });
    const pushed = await contribution.clone.push();
    if (cut.during === 'request') {
      await expectRefused(bed, contribution.upstream, pushed, PUSH);
      await expectAgain(bed, contribution);
    } else {
      // The host has taken the push: asked, it says so.
      await expectAccepted(bed, contribution, pushed);
      await bed.host.onlyPull(contribution.upstream);
    }
  });
});

describe('opening the pull request', exhaustive, () => {
  it('that the host refuses tells why, takes the branch away, and pushing again works', async () => {
    const contribution = await withWork(bed);
    const answer = {
      status: 422,
      body: {
        message: 'Validation Failed',
        errors: [{ resource: 'PullRequest', code: 'custom', message: 'Pull requests are disabled here.' }],
      },
    };
    bed.sandbox.faults.inject({ method: 'POST', path: pullsPath(contribution), times: ALWAYS, answer });
    const lines = await expectRefused(bed, contribution.upstream, await contribution.clone.push(), PULL);
    expect(lines.join('\n')).toContain('Pull requests are disabled here.');
    await expectAgain(bed, contribution);
  });

  it('that fails keeps the branch of a pull request that is closed', async () => {
    const contribution = await withWork(bed);
    const { clone, upstream } = contribution;
    const first = await expectAccepted(bed, contribution, await clone.push());
    bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number: first.pull.number });
    await clone.commit();
    bed.sandbox.faults.inject({
      method: 'POST',
      path: pullsPath(contribution),
      times: ALWAYS,
      answer: { status: 500 },
    });
    const update = () => clone.push('-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:topic');
    const failed = await update();
    expect(failed.code).toBe(1);
    expect(statusTable(failed)).toEqual([` ! [remote rejected] HEAD -> topic (push rejected: ${PULL})`]);
    expect(await bed.host.workBranches(upstream)).toEqual([first.banner.branch]);
    bed.sandbox.faults.clear();
    await expectAccepted(bed, contribution, await update());
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed', 'open']);
  });
});
