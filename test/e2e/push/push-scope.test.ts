/**
 * Only what the taken branch needs may leave. A pack carries the objects of all refs of a push
 * together, so a push whose pack holds more is refused as a whole, before a byte of it leaves.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import type { Clone, GitRun } from '../support/person.ts';
import { statusTable } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

const REASON = 'push one branch only';

/** Nothing of the push has left, and the person is told the command that works. */
async function expectNothingLeft(upstream: Upstream, pushed: GitRun, branch: string): Promise<string[]> {
  const lines = await expectRefused(bed, upstream, pushed, REASON);
  const [, ...words] =
    /^ {2}git (push .+)$/.exec(lines.find((line) => line.startsWith('  git ')) ?? '') ?? [];
  const command = words.join('').split(' ');
  expect(command.slice(0, 3)).toEqual(['push', '--no-follow-tags', upstream.url]);
  expect(command[3]).toMatch(new RegExp(`^[0-9a-f]{12}:refs/heads/${branch}$`));
  expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$|\/forks$/)).toEqual([]);
  return command.slice(1);
}

/** A clone with two branches of one commit each, both from main. */
async function withTwoBranches(): Promise<Contribution> {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  for (const name of ['mine', 'draft']) {
    await clone.git('switch', '--quiet', '-c', name, 'main');
    await clone.commit({ files: { [`${name}.txt`]: `${name} ${randomBytes(9).toString('hex')}\n` } });
  }
  return contribution;
}

describe('a push of two branches', exhaustive, () => {
  it('is refused as a whole if each has commits of its own, and the command that it is told works', async () => {
    const contribution = await withTwoBranches();
    const { clone, upstream } = contribution;
    const pushed = await clone.push('origin', 'mine', 'draft');
    const command = await expectNothingLeft(upstream, pushed, 'mine');
    expect(statusTable(pushed)).toHaveLength(2);
    await clone.git('switch', '--quiet', 'draft');
    await expectAccepted(bed, contribution, await clone.push(...command), { tip: 'mine' });
  });
});

/** Commits are stored as deltas of each other where their messages are long and alike. */
const LONG_MESSAGE = `${Array.from({ length: 60 }, () => randomBytes(16).toString('hex')).join('\n')}\n`;

/** Git stores the shorter one of two as a delta of the longer one. */
const LIKE_UPSTREAMS = LONG_MESSAGE.slice(100);

/** A bare clone with a bitmap, whose branch `draft` is a delta of upstream's old commits. */
async function bareCloneWithBitmap(): Promise<Contribution> {
  const upstream = await bed.createUpstream({ commits: 0 });
  await upstream.grow({ count: 20, ageDays: 400, stepDays: 1, message: LONG_MESSAGE });
  await upstream.grow({ count: 2, ageDays: 3, stepDays: 1 });
  const person = bed.person();
  const clone = await person.clone(upstream.url, '--bare');
  await addCommit(clone, 'draft', LIKE_UPSTREAMS);
  await clone.git('repack', '-a', '-d', '-f', '-b', '--quiet');
  return { upstream, person, clone };
}

/** A new branch with one commit. */
async function addCommit(clone: Clone, branch: string, message: string): Promise<void> {
  const parents = [await clone.git('rev-parse', 'main')];
  const tree = await clone.git('rev-parse', 'main^{tree}');
  const commit = await clone.commitObject({ tree, parents, message });
  await clone.git('update-ref', `refs/heads/${branch}`, commit);
}

/** Whether a commit is stored as a delta. */
async function isDelta(clone: Clone, branch: string): Promise<boolean> {
  const input = await clone.git('rev-parse', branch);
  const base = await clone.person.mustGit(clone.gitFolder, ['cat-file', '--batch-check=%(deltabase)'], {
    input,
  });
  return !/^0+$/.test(base.toString().trim());
}

describe('a bare clone with a bitmap', () => {
  it('sends no commit of another branch that hides in a delta', async () => {
    const { clone, upstream } = await bareCloneWithBitmap();
    expect(await isDelta(clone, 'draft')).toBe(true);
    await addCommit(clone, 'mine', 'Short\n');
    const pushed = await clone.push(upstream.url, 'mine', 'draft');
    expect(pushed.code, pushed.stderr).toBe(1);
    expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$/)).toEqual([]);
  });
});

describe('a push with tags', exhaustive, () => {
  it('is taken for a tag of an old commit of upstream', async () => {
    const upstream = await bed.createUpstream({ commits: 0 });
    await upstream.grow({ count: 40, ageDays: 3 * 365, stepDays: 10 });
    await upstream.grow({ count: 2, ageDays: 3 });
    const clone = await bed.person().copy(upstream);
    await clone.git('tag', '-a', '-m', 'Long ago', 'long-ago', 'HEAD~30');
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:mine', 'long-ago');
    expect(pushed.code).toBe(1);
    await expectAccepted(bed, { upstream, clone }, { ...pushed, code: 0 });
  });
});

describe('a push with notes', exhaustive, () => {
  it('is refused as a whole', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.git('switch', '--quiet', '-c', 'mine');
    await clone.commit();
    await clone.git('notes', 'add', '-m', 'A note to myself');
    const pushed = await clone.push('origin', 'mine', 'refs/notes/commits');
    await expectNothingLeft(upstream, pushed, 'mine');
  });
});
