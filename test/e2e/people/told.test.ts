/** Whoever has seen the end of a push: statistics, badge and rollback know its pull request, asked before or not. */
import { expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const operator = new Operator(bed);

const get = (path: string) => fetch(`${bed.service.url}${path}`);

/** What everybody is told of the pull requests of a repository. */
async function told(fullName: string) {
  const [stats, recent, badge] = await Promise.all([
    get('/api/stats').then((response) => response.json<{ total_prs: number; last_updated?: string }>()),
    get('/api/recent-prs').then((response) => response.json<{ prs: { pr_url: string }[]; total: number }>()),
    get(`/badge/${fullName}`).then((response) => response.text()),
  ]);
  const count = Number(/>(\d+)</.exec(badge)?.[1]);
  return { total: stats.total_prs, count, all: recent.total, newest: recent.prs[0]?.pr_url };
}

it('statistics and the badge know each of five pull requests at once', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { fullName } = contribution.upstream;
  for (let number = 1; number <= 5; number++) {
    const before = await told(fullName);
    expect(before.count).toBe(number - 1);
    await contribution.clone.commit();
    const pushed = await contribution.clone.push('origin', `HEAD:refs/heads/work-${number}`);
    const after = await told(fullName);
    const { pull } = await expectAccepted(bed, contribution, pushed);
    const total = before.total + 1;
    expect(after).toEqual({ total, count: number, all: total, newest: pull.url });
  }
});

it('a rollback closes it, three times at once behind a push', exhaustive, async () => {
  await operator.rollBack();
  for (let time = 0; time < 3; time++) {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const pushed = await contribution.clone.push();
    const { body } = await operator.rollBack();
    expect(body).toMatchObject({ closed: 1, failed: 0 });
    const [pull] = await bed.host.pulls(contribution.upstream);
    expect([pull?.state, body['closed_urls']]).toEqual(['closed', [pull?.url]]);
    expect(pushed.stderr).toContain(pull?.url);
  }
});
