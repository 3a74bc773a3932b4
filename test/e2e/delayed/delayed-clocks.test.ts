/**
 * A delay counts by two clocks, the service's and the code host's: what neither of them alone may
 * decide.
 */
import { describe, expect, it } from 'vitest';
import { contribute } from '../support/contribution.ts';
import { delayed, delayedAs, HOUR_MS, pageOf, press } from '../support/delayed.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import { remoteLines, statusTable } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';

const bed = useOwnTestBed({ isTriggerClock: false, env: OPERATOR });

/** Makes the code host say this in its answers to Git, and to the question for its time. */
function hostSays(headers: Record<string, string>): void {
  bed.sandbox.faults.inject({ path: /\/(git-upload-pack|user)$/, times: 100, headers });
}

const dateIn = (ms: number): string => new Date(Date.now() + ms).toUTCString();

describe('a push with a delay', () => {
  it.each<[string, Record<string, string>, string]>([
    ['twenty hours behind the service', { date: dateIn(-20 * HOUR_MS) }, 'differ by more than five minutes'],
    ['a day ahead of it', { date: dateIn(24 * HOUR_MS) }, 'differ by more than five minutes'],
    ['told by a cache', { age: '10' }, 'does not say what time it is'],
  ])('is refused while the code host is %s, and nothing of it is kept', async (_, headers, why) => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    hostSays(headers);
    const pushed = await clone.push('-o', 'delay=6h', 'origin', 'HEAD:topic');
    expect(pushed.code).toBe(1);
    expect(statusTable(pushed)[0]).toContain('one of two clocks is wrong');
    const said = remoteLines(pushed).join('\n');
    expect(said).toContain(why);
    expect(said).not.toContain('/v1/delayed/');
    bed.sandbox.faults.clear();
    // As soon as both agree, the same push is accepted.
    delayedAs(await clone.push('-o', 'delay=6h', 'origin', 'HEAD:topic'));
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('that is refused is told to the operator, once a day', async () => {
    const operator = new Operator(bed);
    const alerts = async () => (await operator.alerts()).map(({ title, message }) => `${title}: ${message}`);
    await expect.poll(alerts).toHaveLength(1);
    expect((await alerts())[0]).toMatch(
      /^The clocks differ: The clock of this service is 20 hours ahead of the code host's\./,
    );
  });

  it('is accepted while the clocks differ by less than five minutes', async () => {
    const { clone } = await contribute(bed);
    await clone.commit();
    hostSays({ date: dateIn(-4 * 60_000) });
    delayedAs(await clone.push('-o', 'delay=6h', 'origin', 'HEAD:topic'));
  });

  it('does not go out because the trigger says that it is tomorrow', async () => {
    const { upstream, name } = await delayed(bed);
    await bed.service.runScheduled(Date.now() + 24 * HOUR_MS);
    expect(await pageOf(bed, name)).toMatch(/^200 Delayed\n/);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    await press(bed, name, 'publish');
    await expect.poll(() => pageOf(bed, name)).toContain('/pull/');
  });

  it('is published now, without a delay, whatever the clocks say', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    hostSays({ date: dateIn(-20 * HOUR_MS) });
    expect((await clone.push('-o', 'delay=0s', 'origin', 'HEAD:topic')).code).toBe(0);
    await bed.host.onlyPull(upstream);
  });
});
