/**
 * Work that tests of a failing code host share: something to push before it fails, and the push
 * that must succeed afterwards.
 */
import { expect } from 'vitest';
import { type Contribution, contribute, expectAccepted } from './contribution.ts';
import type { TestBed } from './test-bed.ts';

/** How often a fault happens that lasts: more often than anyone asks. */
export const ALWAYS = 50;

/** A clone with one commit to push. */
export async function withWork(bed: TestBed): Promise<Contribution> {
  const contribution = await contribute(bed);
  await contribution.clone.commit({ message: 'Worth keeping\n' });
  return contribution;
}

/** The same, where the bot has a fork already. */
export async function withFork(bed: TestBed): Promise<Contribution & { forkPath: string }> {
  const contribution = await withWork(bed);
  await bed.host.call('POST', `/repos/${contribution.upstream.fullName}/forks`, {});
  const branches = `/repos/${bed.sandbox.botLogin}/${contribution.upstream.name}/branches`;
  await expect.poll(() => bed.host.call<unknown[]>('GET', branches)).toHaveLength(1);
  return { ...contribution, forkPath: bed.host.forkPath(contribution.upstream) as string };
}

/** After a failure has passed: the very same push is accepted, and there is one pull request. */
export async function expectAgain(bed: TestBed, contribution: Contribution): Promise<void> {
  bed.sandbox.faults.clear();
  await expectAccepted(bed, contribution, await contribution.clone.push());
  await bed.host.onlyPull(contribution.upstream);
}
