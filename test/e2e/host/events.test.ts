/** Events of a pull request after the push, as its topic tells them. */
import { describe, expect, it } from 'vitest';
import type { IssueName } from '../../../sandbox/maintainer.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { type TestBed, useOwnTestBed } from '../support/test-bed.ts';
import { TEST_HEADER } from '../support/tripwire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

interface Opened {
  readonly on: IssueName;
  /** The address of its page at the service. */
  readonly page: string;
  readonly topicUrl: string;
}

async function opened(on: TestBed = bed): Promise<Opened> {
  const contribution = await contribute(on);
  await contribution.clone.commit();
  const { banner, pull } = await expectAccepted(on, contribution, await contribution.clone.push());
  const { owner, name } = contribution.upstream;
  const topicUrl = `${on.sandbox.notifyUrl}/anon-pr-${banner.prHash}`;
  // The last that a push causes; it asks for the pull request, too.
  await expect.poll(() => messages({ topicUrl })).toHaveLength(1);
  return {
    on: { owner, repo: name, number: pull.number },
    page: `${on.service.url}/v1/pr/${banner.prHash}`,
    topicUrl,
  };
}

async function messages({ topicUrl }: Pick<Opened, 'topicUrl'>): Promise<string[]> {
  const response = await fetch(`${topicUrl}/json?poll=1`, { headers: { [TEST_HEADER]: '1' } });
  const lines = (await response.text()).split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { message: string }).message);
}

/**
 * Waits until the topic tells as many events as are listed; they must be exactly these, after the
 * opening.
 */
async function expectEvents(pull: Opened, ...events: string[]): Promise<void> {
  await expect.poll(() => messages(pull)).toHaveLength(events.length + 1);
  const told = ['opened', ...events].map((event) => `Your anonymous pull request was ${event}: ${pull.page}`);
  expect(await messages(pull)).toEqual(told);
}

/** Lists what the service asks the host's REST interface for meanwhile. */
async function requestsDuring(action: () => Promise<void>, { host }: TestBed = bed) {
  const before = host.requests.length;
  await action();
  return host.requests.slice(before).filter(({ path }) => path.startsWith('/api/v3/'));
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
      topic: pull.topicUrl.split('/').at(-1),
      title: `${pull.on.owner}/${pull.on.repo}: pull request commented`,
      message: `Your anonymous pull request was commented on: ${pull.page}`,
      click: pull.page,
    });
  });
});

describe('the scheduled handler', exhaustive, () => {
  it('cannot be called from outside', async () => {
    const requests = await requestsDuring(async () => {
      for (const path of ['/cdn-cgi/handler/scheduled', '/cdn-cgi/local/scheduled', '/__scheduled']) {
        expect((await fetch(bed.service.url + path)).status).toBe(404);
      }
    });
    expect(requests).toEqual([]);
  });
});
