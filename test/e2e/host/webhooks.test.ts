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
import type { Clone } from '../support/person.ts';
import { remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { topicTexts } from '../support/topic.ts';

const MINUTE_MS = 60_000;
const SECRET = 'a-secret-of-the-webhook';
const bed = useOwnTestBed({ env: { GITHUB_WEBHOOK_SECRET: SECRET } });

beforeAll(async () => {
  const webhook = { url: `${bed.service.url}/v1/hooks/github`, secret: SECRET };
  const { id, key } = bed.sandbox.apps.register({ slug: 'gitveil', permissions: PERMISSIONS, webhook });
  await bed.restart(undefined, { GITHUB_APP_ID: String(id), GITHUB_APP_KEY: key });
});

beforeEach(() => {
  bed.sandbox.apps.webhooks.made.length = 0;
});

let owners = 0;

/** An open pull request in a repository where the App is installed, of which the topic was told. */
async function opened() {
  owners += 1;
  const contribution = await contribute(bed, { owner: `owner${owners}` });
  const { owner, name } = contribution.upstream;
  bed.sandbox.apps.install(owner, null);
  await contribution.clone.commit();
  const pushed = await contribution.clone.push();
  const { banner, pull } = await expectAccepted(bed, contribution, pushed, { author: 'gitveil[bot]' });
  const told = async () =>
    (await topicTexts(bed, banner.prHash)).map((text) => /was ([a-z ]+):/.exec(text)?.[1]);
  await expect.poll(told).toEqual(['opened']);
  return { ...contribution, on: { owner, repo: name, number: pull.number }, told };
}

/** Whether maintainers have stopped the service, as a preview says. */
async function isStopped(clone: Clone): Promise<boolean> {
  const lines = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:new'));
  return lines.join('\n').includes('Its maintainers have said stop on');
}

/** Waits until it is stopped, before the next scheduled run. */
async function expectStopped(clone: Clone): Promise<void> {
  await clone.commit();
  await expect.poll(() => isStopped(clone), { interval: 1_000 }).toBe(true);
}

/** Waits until the host has said twice that the App is missing, and what that stops. */
async function expectRemoved(clone: Clone): Promise<void> {
  await clone.commit();
  const isRemoved = async () => {
    await bed.service.runScheduled(Date.now() + 11 * MINUTE_MS);
    return isStopped(clone);
  };
  await expect.poll(isRemoved, { interval: 1_000 }).toBe(true);
}

/** Counts the questions to the host about installations. */
const lookedUp = () => bed.host.requests.filter(({ path }) => path.endsWith('/installation')).length;

/** Sends what the host has told of the App, by default last, and waits until the host was asked. */
async function sendInstallation(delivery = made().at(-1)): Promise<void> {
  const before = lookedUp();
  expect(await send(delivery)).toBe(204);
  // Who is refused has the host asked, too.
  await expect.poll(lookedUp).toBeGreaterThan(before);
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

  it('that is lost leaves it to a run within ten minutes, which asks once for all of a repository', async () => {
    const { on, told } = await opened();
    bed.sandbox.maintainer.comment(on, 'A long story.', 'mona');
    bed.sandbox.maintainer.comment(on, '@gitveil mute');
    const before = bed.host.requests.length;
    await bed.service.runScheduled(Date.now() + 10 * MINUTE_MS);
    await expect.poll(told).toEqual(['opened', 'commented on', 'commented on']);
    const asked = bed.host.requests.slice(before).filter(({ path }) => path.includes(`/${on.repo}/issues?`));
    expect(asked).toHaveLength(1);
  });

  it('lets a stop count before the next run', async () => {
    const { on, clone } = await opened();
    bed.sandbox.maintainer.comment(on, '@gitveil stop');
    await send(made().at(-1));
    await expectStopped(clone);
  });

  it('that tells of a removal makes it a stop, once the host says the same', async () => {
    const { on, clone } = await opened();
    const { apps } = bed.sandbox;
    apps.uninstall(on.owner);
    const removal = made().at(-1)!;
    // Replayed after the App was installed again, it is no removal.
    apps.install(on.owner, null);
    await sendInstallation(removal);
    await clone.commit();
    expect(await isStopped(clone)).toBe(false);
    apps.uninstall(on.owner);
    await sendInstallation();
    await expectRemoved(clone);
  });

  it.each([
    ['takes back the stop of a removal', false],
    ['does not take back what a person has said', true],
  ])('that tells of an installation %s', async (_, isSaid) => {
    const { apps, maintainer } = bed.sandbox;
    const { on, clone } = await opened();
    if (isSaid) {
      maintainer.comment(on, '@gitveil stop');
      await send(made().at(-1));
      await expectStopped(clone);
    }
    apps.uninstall(on.owner);
    await sendInstallation();
    await expectRemoved(clone);
    apps.install(on.owner, null);
    await sendInstallation();
    await expect.poll(() => isStopped(clone), { interval: 1_000 }).toBe(isSaid);
  });

  it('believes nothing of its body', async () => {
    const { on, told, clone } = await opened();
    bed.sandbox.maintainer.comment(on, 'A long story.', 'mona');
    const real = made().at(-1)!;
    // It says that somebody has closed it, and that a maintainer has said stop.
    const body = JSON.stringify({
      ...(JSON.parse(real.body) as object),
      action: 'closed',
      comment: { body: '@gitveil stop', author_association: 'OWNER' },
    });
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    await send({ ...real, body, headers: { ...real.headers, 'x-hub-signature-256': signature } });
    await expect.poll(told).toEqual(['opened', 'commented on']);
    await clone.commit();
    expect(await isStopped(clone)).toBe(false);
  });
});

it('refuses what is not signed', exhaustive, async () => {
  const { on } = await opened();
  bed.sandbox.maintainer.openIssue(on.owner, on.repo, 'An issue', 'Why');
  const real = made().at(-1)!;
  const { 'x-hub-signature-256': _, ...headers } = real.headers;
  expect(await send({ ...real, headers })).toBe(401);
});
