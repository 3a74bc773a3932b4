/**
 * The slots of an address whose pushes are repeated. How many it has:
 * test/contract/push-limits.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { contribute, type Contribution, expectAccepted } from '../support/contribution.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const operator = new Operator(bed);

/** Opens pull requests with less ado than Git: one small pack, one branch for each. */
async function openMany({ clone, upstream }: Contribution, count: number) {
  const pack = await packOf(clone, ['HEAD', '^origin/main']);
  const newId = await clone.idOf('HEAD');
  const answers = [];
  for (let index = 0; index < count; index++) {
    const ref = `refs/heads/${clone.person.word}-${index}`;
    const body = pushBody({ commands: [{ newId, ref }], pack });
    answers.push(readReport((await sendPush(upstream.url, clone.person, body)).body).report[1]);
  }
  return answers;
}

async function alertsWith(text: string): Promise<string[]> {
  return (await operator.alerts()).map(({ message }) => message).filter((message) => message.includes(text));
}

describe('the slots of an address', exhaustive, () => {
  it('are not given back by a push that is sent again while it is under way', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, times: ALWAYS, until });
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const newId = await clone.idOf('HEAD');
    const push = async (branch: string) => {
      const body = pushBody({ commands: [{ newId, ref: `refs/heads/${branch}` }], pack });
      return readReport((await sendPush(upstream.url, clone.person, body)).body).report[1];
    };
    const opening = () => bed.host.requestsFor(upstream, 'POST', /\/pulls$/).length;
    const first: Promise<string | undefined>[] = [];
    for (let index = 0; index < 5; index++) {
      first.push(push(`${index}`));
      await expect.poll(opening).toBe(index + 1);
      // A full limit comes first, whatever is pushed.
      const again = index < 4 ? 'this push is already in progress' : 'rate limit exceeded';
      expect(await push(`${index}`)).toContain(again);
    }
    expect(await push('6')).toMatch(/push rejected: rate limit exceeded$/);
    const previewed = pushBody({
      commands: [{ newId, ref: 'refs/heads/6' }],
      options: ['preview'],
      pack,
    });
    const { progress } = readReport((await sendPush(upstream.url, clone.person, previewed)).body);
    expect(progress.join('\n')).toMatch(
      /^This push would be REFUSED now: rate limit exceeded\. Try again in about (an hour|75 minutes)\.$/m,
    );
    answer();
    for (const report of await Promise.all(first)) expect(report).toMatch(/^ok /);
    bed.tripwire.tolerate('the alert names the address', ({ secret }) => secret.kind === 'address');
  });
});

describe('a repeated push', exhaustive, () => {
  it('takes another slot if the pull request of the first attempt is closed by now', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const path = new RegExp(`/repos/${upstream.fullName}/pulls$`);
    bed.sandbox.faults.inject({
      method: 'POST',
      path,
      times: ALWAYS,
      cut: { during: 'answer', afterBytes: 20 },
    });
    bed.sandbox.faults.inject({ method: 'GET', path, times: ALWAYS, answer: { status: 500 } });
    expect((await clone.push()).code).toBe(1);
    bed.sandbox.faults.clear();
    const [owner, repo] = upstream.fullName.split('/') as [string, string];
    bed.sandbox.maintainer.close({ owner, repo, number: 1 });
    await expectAccepted(bed, contribution, await clone.push());
    bed.tripwire.tolerate('the alert names the address', ({ secret }) => secret.kind === 'address');
    const report = await openMany(contribution, 4);
    expect(report.map((line) => line?.startsWith('ok '))).toEqual([true, true, true, false]);
    await expect.poll(() => alertsWith(clone.person.address)).toHaveLength(1);
  });
});
