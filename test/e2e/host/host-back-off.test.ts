/**
 * A code host that asks the bot account to slow down. It is one story on one bed, as the account is
 * left alone from its first test on.
 */
import { describe, expect, it } from 'vitest';
import { SECONDARY_LIMIT } from '../../../sandbox/known-answers.ts';
import { contribute, expectRefused } from '../support/contribution.ts';
import { withWork } from '../support/failing-host.ts';
import { LIVE_METRICS, readMetrics } from '../support/metrics.ts';
import { speak } from '../support/speak.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed({ env: LIVE_METRICS });

/** Lists the calls that left in the name of the account. */
const callsOfTheBot = () => bed.host.requests.filter(({ headers }) => headers['authorization'] !== undefined);

describe('a secondary limit without any header', exhaustive, () => {
  it('stops the push that meets it, with the step and the time to wait', async () => {
    const contribution = await withWork(bed);
    const path = new RegExp(`/repos/${contribution.upstream.fullName}/forks$`);
    bed.sandbox.faults.inject({ method: 'POST', path, answer: SECONDARY_LIMIT });
    const pushed = await contribution.clone.push();
    const reason = 'the fork could not be made';
    const lines = await expectRefused(bed, contribution.upstream, pushed, reason);
    expect(lines.join('\n')).toMatch(/asks to wait 1 minute\./);
  });

  it('stops every other push before it begins: nothing is sent to the host', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const before = callsOfTheBot().length;
    const lines = await expectRefused(bed, upstream, await clone.push(), 'the code host asks to wait');
    expect(lines.join('\n')).toMatch(/127\.0\.0\.1:\d+ asks to wait 1 minute\./);
    expect(callsOfTheBot()).toHaveLength(before);
  });

  it('stops comments, issues and the feed; pages and clones go on with what is known', async () => {
    const upstream = await bed.createUpstream({ commits: 1 });
    const before = callsOfTheBot().length;
    const person = bed.person();
    const issue = { title: 'Slow', body: 'Down' };
    const refused = await speak(bed, person, `/v1/gh/${upstream.fullName}/issues/anonymous`, issue);
    expect(refused.status).toBe(503);
    await bed.service.runScheduled();
    const badge = await fetch(`${bed.service.url}/badges/anonymous-friendly.svg?repo=${upstream.fullName}`);
    expect(badge.status).toBe(200);
    await person.clone(upstream.url);
    expect(callsOfTheBot()).toHaveLength(before);
    expect(await readMetrics(bed.service)).toMatch(/^gitveil_host_pauses_total\{status="403"\} 1$/m);
  });
});
