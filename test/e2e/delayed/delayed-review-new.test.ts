/**
 * With `REVIEW=new`, the operator sees the first pushes to a repository, until one was published.
 */
import { expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { delayedAs, pass } from '../support/delayed.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { Reviewer } from '../support/review.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { ...OPERATOR, REVIEW: 'new' } });

it('lets the first push to a repository wait, and no other once that is published', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit({ message: 'First\n' });
  const name = delayedAs(await clone.push('origin', 'HEAD:topic'));
  const operator = new Reviewer(bed);
  await operator.open();
  await operator.decide('publish', name);
  await expect.poll(async () => (await pass(bed), (await bed.host.pulls(upstream)).length)).toBe(1);
  const other = await bed.person().copy(upstream);
  await other.commit({ message: 'Second\n' });
  // The ledger hears of the first one a moment later.
  await expect
    .poll(async () => (await fetch(`${bed.service.url}/api/recent-prs`)).text())
    .toContain(upstream.name);
  await expectAccepted(bed, { ...contribution, clone: other }, await other.push());
  // What was rolled back does not make it a known one.
  expect((await new Operator(bed).rollBack()).status).toBe(200);
  await other.commit({ message: 'Third\n' });
  delayedAs(await other.push('origin', 'HEAD:refs/heads/third'));
});
