/** A flood of pushes at once, the alert about it, and its button that closes everything again. */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import type { NtfyMessage } from '../../../sandbox/records.ts';
import { Operator, OPERATOR } from '../support/operator.ts';
import type { Person } from '../support/person.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

const bed = useOwnTestBed({ env: { ...OPERATOR, ALERT_ADDRESS: 'hidden' } });
const operator = new Operator(bed);

const ADDRESSES = 30;
const PUSHES = 100;
/** Some addresses push far more often than they may. */
const BUSY_ADDRESSES = 3;

const isOfBurst = ({ title }: NtfyMessage) => title === 'Suspicious burst of pushes';

/** On a slow machine the service may be too busy for all of them at once; then a push is sent again. */
async function sent(url: string, person: Person, body: Uint8Array) {
  for (;;) {
    const answer = readReport((await sendPush(url, person, body)).body);
    if (!answer.errors.includes('push rejected: the service is busy')) return answer;
  }
}

describe('a hundred pushes at once from thirty addresses', exhaustive, () => {
  it('open five pull requests for an address at most, are told as they grow, and are closed by its button', async () => {
    const contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    await clone.commit();
    // Before the flood, but within its minute: it is closed with the others.
    const { pull: early, banner } = await expectAccepted(bed, contribution, await clone.push());
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const newId = await clone.idOf('HEAD');
    const persons: Person[] = Array.from({ length: ADDRESSES }, () => bed.person());
    // The notification service is dead at first.
    bed.sandbox.faults.inject({ path: /^\/ntfy\/?$/, times: 3, answer: { status: 503 } });

    const pushes = Array.from({ length: PUSHES }, async (_, index) => {
      const person = persons[index < ADDRESSES ? index : index % BUSY_ADDRESSES] as Person;
      const body = pushBody({ commands: [{ newId, ref: `refs/heads/flood-${index}` }], pack });
      const { progress, report } = await sent(upstream.url, person, body);
      const url = progress.find((line) => line.includes('PR URL:'))?.replace(/.*PR URL:\s*/, '');
      return { person, url, report: report[1] ?? '' };
    });
    const answers = await Promise.all(pushes);

    const opened = [early, ...answers].flatMap(({ url }) => (url === undefined ? [] : [url])).toSorted();
    expect(new Set(opened).size).toBe(opened.length);
    for (const person of persons) {
      const own = answers.filter((answer) => answer.person === person);
      expect(own.filter(({ url }) => url !== undefined).length).toBeLessThanOrEqual(5);
    }
    const refused = answers.filter(({ report }) => report.endsWith('push rejected: rate limit exceeded'));
    expect(refused.length).toBeGreaterThan(0);
    expect(opened.length).toBeGreaterThanOrEqual(ADDRESSES);
    expect((await bed.host.pulls(upstream)).map(({ url }) => url).toSorted()).toEqual(opened);

    const limited = async () => (await operator.alerts()).filter((alert) => !isOfBurst(alert));
    await expect.poll(limited).toHaveLength(new Set(refused.map(({ person }) => person)).size);
    await expect.poll(async () => (await operator.alerts()).some(isOfBurst)).toBe(true);
    const [burst, ...others] = (await operator.alerts()).filter(isOfBurst);
    expect(burst?.message).toMatch(/^Suspicious burst: \d+ pushes from \d+ distinct IPs in the last 60 s\./);
    // Ten addresses, and then again each time the figures have doubled: at most up to 101 pushes.
    expect(others.length).toBeLessThanOrEqual(4);

    const { status, body } = await operator.press(burst!, 'Close burst PRs');
    expect(status).toBe(200);
    expect({ ...body, closed_urls: (body['closed_urls'] as string[]).toSorted() }).toEqual({
      closed: opened.length,
      failed: 0,
      closed_urls: opened,
      failed_urls: [],
    });
    expect((await bed.host.pulls(upstream)).every(({ state }) => state === 'closed')).toBe(true);
    expect((await operator.press(burst!, 'Close burst PRs')).status).toBe(401);
    await expect
      .poll(async () => (await operator.read(`anon-pr-${banner.prHash}`)).map(({ message }) => message))
      .toContain(`Your anonymous pull request was closed: ${bed.service.url}/v1/pr/${banner.prHash}`);
  });
});
