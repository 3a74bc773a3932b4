/** A rollback on an ordinary day: too few pushes for a burst, and too many pull requests by one address. */
import { expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { ...OPERATOR, ALERT_ADDRESS: 'hidden' } });
const operator = new Operator(bed);

/** A person's pull requests, one commit more in each. Answers their addresses. */
async function open(count: number) {
  const contribution = await contribute(bed);
  const urls: string[] = [];
  for (let index = 0; index < count; index++) {
    await contribution.clone.commit();
    const pushed = await contribution.clone.push('origin', `HEAD:refs/heads/work-${index}`);
    urls.push((await expectAccepted(bed, contribution, pushed)).pull.url);
  }
  return { ...contribution, urls };
}

it(
  'the button of the alert about one address closes every pull request of the last two hours',
  exhaustive,
  async () => {
    const other = await open(1);
    const { urls, clone, upstream } = await open(5);
    await clone.commit();
    const refused = await clone.push('origin', 'HEAD:refs/heads/work-5');
    expect(refused.stderr).toContain('push rejected: rate limit exceeded');
    await expect.poll(() => operator.alerts()).toHaveLength(1);
    const [alert] = await operator.alerts();
    expect(alert?.title).toBe('Rate limit exceeded');

    const { status, body } = await operator.press(alert!, 'Close burst PRs');
    const all = [...other.urls, ...urls].toSorted();
    expect({ status, ...body }).toEqual({
      status: 200,
      closed: 6,
      failed: 0,
      closed_urls: all,
      failed_urls: [],
    });
    for (const repository of [upstream, other.upstream])
      expect((await bed.host.pulls(repository)).every(({ state }) => state === 'closed')).toBe(true);
  },
);

it('the password closes a single one', async () => {
  const { urls } = await open(1);
  expect((await operator.rollBack()).body).toEqual({
    closed: 1,
    failed: 0,
    closed_urls: urls,
    failed_urls: [],
  });
});
