/**
 * A code host that refuses a pull request because too much was created. It is one story on one bed, as the account is left
 * alone from its first test on.
 */
import { describe, expect, it } from 'vitest';
import { knownLimits } from '../../../sandbox/known-limits.ts';
import { contribute, expectRefused } from '../support/contribution.ts';
import { withWork } from '../support/failing-host.ts';
import { LIVE_METRICS, readMetrics } from '../support/metrics.ts';
import { speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: LIVE_METRICS });

const ABUSE = knownLimits(new Date()).find(({ name }) => name === '422 with the code abuse');

describe('a limit that comes as 422', exhaustive, () => {
  it('ends the push that meets it: the pull request is asked for once', async () => {
    const contribution = await withWork(bed);
    const { upstream } = contribution;
    const path = new RegExp(`/repos/${upstream.fullName}/pulls$`);
    bed.sandbox.faults.inject({ method: 'POST', path, times: 9, answer: ABUSE!.answer });
    const pushed = await contribution.clone.push();
    const reason = 'the pull request could not be opened';
    const lines = await expectRefused(bed, upstream, pushed, reason, { branches: 1 });
    expect(lines.join('\n')).toMatch(/asks to wait 1 minute\./);
    expect(bed.host.requestsFor(upstream, 'POST', /\/pulls$/)).toHaveLength(1);
  });

  it('pauses the account: what comes next asks the host for nothing', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const before = bed.host.requests.length;
    await expectRefused(bed, upstream, await clone.push(), 'the code host asks to wait');
    const issue = { title: 'Slow', body: 'Down' };
    const refused = await speak(bed, bed.person(), `/v1/gh/${upstream.fullName}/issues/anonymous`, issue);
    expect(refused.status).toBe(503);
    const asked = bed.host.requests
      .slice(before)
      .filter(({ headers }) => headers['authorization'] !== undefined);
    expect(asked).toEqual([]);
    expect(await readMetrics(bed.service)).toMatch(/^gitveil_host_pauses_total\{status="422"\} 1$/m);
  });
});

describe('a limit that is over after a second', exhaustive, () => {
  const patient = useOwnTestBed();

  it('leaves the branch to the same push, which then opens one pull request from it', async () => {
    const contribution = await withWork(patient);
    const { upstream, clone } = contribution;
    const answer = { ...ABUSE!.answer, headers: { 'retry-after': '1' } };
    // As often as one push asks.
    patient.sandbox.faults.inject({ method: 'POST', path: /\/pulls$/, times: 3, answer });
    const reason = 'the pull request could not be opened';
    await expectRefused(patient, upstream, await clone.push(), reason, { branches: 1 });
    const [branch] = await patient.host.workBranches(upstream);
    await expect.poll(async () => (await clone.push()).code, { timeout: 20_000 }).toBe(0);
    const pull = await patient.host.onlyPull(upstream);
    expect(pull.head).toBe(`${patient.sandbox.botLogin}:${branch}`);
    expect(await patient.host.workBranches(upstream)).toEqual([branch]);
  });
});
