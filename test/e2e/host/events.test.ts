/** Events of a pull request after the push, as its topic tells them. */
import { describe, expect, it } from 'vitest';
import type { IssueName } from '../../../sandbox/maintainer.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { topicTexts } from '../support/topic.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

interface Opened {
  readonly on: IssueName;
  /** The address of its page at the service. */
  readonly page: string;
  readonly prHash: string;
}

async function opened(): Promise<Opened> {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  const { banner, pull } = await expectAccepted(bed, contribution, await contribution.clone.push());
  const { owner, name } = contribution.upstream;
  const { prHash } = banner;
  // The last that a push causes; it asks for the pull request, too.
  await expect.poll(() => topicTexts(bed, prHash)).toHaveLength(1);
  const page = `${bed.service.url}/v1/pr/${prHash}`;
  return { on: { owner, repo: name, number: pull.number }, page, prHash };
}

/**
 * Waits until the topic tells as many events as are listed; they must be exactly these, after the
 * opening.
 */
async function expectEvents(pull: Opened, ...events: string[]): Promise<void> {
  await expect.poll(() => topicTexts(bed, pull.prHash)).toHaveLength(events.length + 1);
  const told = ['opened', ...events].map((event) => `Your anonymous pull request was ${event}: ${pull.page}`);
  expect(await topicTexts(bed, pull.prHash)).toEqual(told);
}

describe('the topic of a pull request', () => {
  it('tells of comments, reviews and the merge, each once', async () => {
    const pull = await opened();
    const { maintainer } = bed.sandbox;
    maintainer.comment(pull.on, `Thanks, @${bed.sandbox.botLogin}!`, 'mona');
    await bed.service.runScheduled();
    await bed.service.runScheduled();
    await expectEvents(pull, 'commented on');
    maintainer.review(pull.on, 'APPROVED', '', 'mona');
    await bed.service.runScheduled();
    await maintainer.merge(pull.on);
    await bed.service.runScheduled();
    await bed.service.runScheduled();
    await expectEvents(pull, 'commented on', 'commented on', 'merged');
  });

  it('tells of the closing, and goes on after it', exhaustive, async () => {
    const pull = await opened();
    bed.sandbox.maintainer.close(pull.on);
    await bed.service.runScheduled();
    await bed.service.runScheduled();
    bed.sandbox.maintainer.comment(pull.on, 'Sorry.');
    await bed.service.runScheduled();
    await expectEvents(pull, 'closed', 'commented on');
  });

  it('says the title, and leads to the page of the service, without a word of the comment', async () => {
    const pull = await opened();
    bed.sandbox.maintainer.comment(pull.on, 'A long story.');
    await bed.service.runScheduled();
    await expectEvents(pull, 'commented on');
    const published = bed.host.requests.filter(({ path }) => path.startsWith('/ntfy'));
    expect(JSON.parse(published.at(-1)!.body.toString())).toEqual({
      topic: `anon-pr-${pull.prHash}`,
      title: `${pull.on.owner}/${pull.on.repo}: pull request commented`,
      message: `Your anonymous pull request was commented on: ${pull.page}`,
      click: pull.page,
    });
  });
});

it('the scheduled handler cannot be called from outside', exhaustive, async () => {
  const before = bed.host.requests.length;
  for (const path of ['/cdn-cgi/handler/scheduled', '/cdn-cgi/local/scheduled', '/__scheduled'])
    expect((await fetch(bed.service.url + path)).status).toBe(404);
  expect(bed.host.requests.slice(before)).toEqual([]);
});
