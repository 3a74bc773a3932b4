/**
 * Webhooks of the App: pages, topics and the maintainers' words follow within seconds, without a
 * scheduled run, in whatever order deliveries come; and where none comes, the runs go on.
 */
import { createHmac } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Delivery } from '../../../sandbox/webhooks.ts';
import { PERMISSIONS } from '../../sandbox/support/app.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { TEST_HEADER } from '../support/tripwire.ts';

const SECRET = 'a-secret-of-the-webhook';
const bed = useOwnTestBed({ env: { GITHUB_WEBHOOK_SECRET: SECRET } });

beforeAll(() => {
  const webhook = { url: `${bed.service.url}/v1/hooks/github`, secret: SECRET };
  bed.sandbox.apps.register({ slug: 'gitveil', permissions: PERMISSIONS, webhook });
});

beforeEach(() => {
  bed.sandbox.apps.webhooks.made.length = 0;
});

/** An open pull request in a repository where the App is installed, of which the topic was told. */
async function opened() {
  const contribution = await contribute(bed);
  const { owner, name } = contribution.upstream;
  if (!bed.sandbox.apps.ofAccount(owner)) bed.sandbox.apps.install(owner, null);
  await contribution.clone.commit();
  const { banner, pull } = await expectAccepted(bed, contribution, await contribution.clone.push());
  const topic = `${bed.sandbox.notifyUrl}/anon-pr-${banner.prHash}/json?poll=1`;
  const told = async () => {
    const text = await (await fetch(topic, { headers: { [TEST_HEADER]: '1' } })).text();
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => /was ([a-z ]+):/.exec(line)?.[1]);
  };
  await expect.poll(told).toEqual(['opened']);
  return { ...contribution, on: { owner, repo: name, number: pull.number }, told };
}

const made = (): readonly Delivery[] => bed.sandbox.apps.webhooks.made.slice();
const send = (delivery: Delivery | undefined) => bed.sandbox.apps.webhooks.send(delivery!);

describe('a delivery', exhaustive, () => {
  it('wakes the service, in any order, twice and late', async () => {
    const { on, told } = await opened();
    const { maintainer } = bed.sandbox;
    maintainer.comment(on, 'A long story.', 'mona');
    maintainer.review(on, 'APPROVED', '', 'mona');
    maintainer.close(on);
    const deliveries = made().slice(-3);
    for (const delivery of deliveries.toReversed()) expect(await send(delivery)).toBe(204);
    await expect.poll(told).toEqual(['opened', 'commented on', 'commented on', 'closed']);
    for (const delivery of deliveries) expect(await send(delivery)).toBe(204);
    await bed.service.runScheduled();
    expect(await told()).toHaveLength(4);
  });

  it('that is lost leaves it to the scheduled run', async () => {
    const { on, told } = await opened();
    bed.sandbox.maintainer.comment(on, 'A long story.', 'mona');
    await bed.service.runScheduled();
    await expect.poll(told).toEqual(['opened', 'commented on']);
  });

  it('lets a stop count before the next run', async () => {
    const { on, clone } = await opened();
    bed.sandbox.maintainer.comment(on, `@${bed.sandbox.botLogin} stop`);
    await send(made().at(-1));
    await clone.commit();
    const refused = /Its maintainers have said stop on/;
    await expect
      .poll(async () => remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:new')).join('\n'))
      .toMatch(refused);
  });

  it('believes nothing of its body', async () => {
    const { on, told } = await opened();
    bed.sandbox.maintainer.comment(on, 'A long story.', 'mona');
    const real = made().at(-1)!;
    // It says that somebody has closed it, and that a maintainer has said stop.
    const body = JSON.stringify({
      ...(JSON.parse(real.body) as object),
      action: 'closed',
      comment: { body: `@${bed.sandbox.botLogin} stop`, author_association: 'OWNER' },
    });
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    await send({ ...real, body, headers: { ...real.headers, 'x-hub-signature-256': signature } });
    await expect.poll(told).toEqual(['opened', 'commented on']);
  });
});

it('refuses what is not signed', async () => {
  await opened();
  bed.sandbox.maintainer.openIssue('octo', 'hello1', 'An issue', 'Why');
  const real = made().at(-1)!;
  const { 'x-hub-signature-256': _, ...headers } = real.headers;
  expect(await send({ ...real, headers })).toBe(401);
});
