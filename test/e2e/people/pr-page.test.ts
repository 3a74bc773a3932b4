/**
 * The page and the feed of a pull request, from the push to the withdrawal, and what its topic is
 * sent meanwhile.
 */
import { expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';

const TOKEN = 'tk_0123456789abcdef';

const bed = useOwnTestBed({ env: { NOTIFY_TOKEN: TOKEN } });

const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers });

/** The state and the events of a page, oldest first, and the titles of its feed, newest first. */
async function shownAt(url: string) {
  const page = await (await get(url, { Accept: 'text/html' })).text();
  const feed = await (await get(`${url}.atom`)).text();
  return {
    state: /<span class="(?:good|warn)">.*<\/span>(\w+)<\/span>/.exec(page)?.[1],
    events: [...page.matchAll(/<p class="happened small">([^<]*?)\s*<time/g)].map(([, event]) => event),
    entries: [...feed.matchAll(/<title>[^<]*: ([^<]*)<\/title>/g)].map(([, title]) => title),
  };
}

it('a pull request can be followed on its page and by its feed, to the withdrawal', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  const pushed = await clone.push();
  const { banner, pull } = await expectAccepted(bed, contribution, pushed);
  const url = `${bed.service.url}/v1/pr/${banner.prHash}`;
  expect(remoteLines(pushed)).toContain(`  Follow, reply, withdraw: ${url}`);
  // As soon as the push was answered.
  expect((await get(url)).status).toBe(200);
  expect(await shownAt(url)).toEqual({ state: 'Open', events: ['Opened'], entries: ['opened'] });

  const on = { owner: upstream.owner, repo: upstream.name, number: pull.number };
  bed.sandbox.maintainer.comment(on, '<script>alert("mona")</script>', 'mona');
  bed.sandbox.maintainer.review(on, 'CHANGES_REQUESTED', 'Why?', 'hubot');
  bed.sandbox.maintainer.review(on, 'APPROVED', 'Fine ]]>', 'mona');
  await bed.service.runScheduled();
  const reacted = await shownAt(url);
  // A comment is shown where people's words are, and is no event of its own.
  expect(reacted.events).toEqual(['Opened', 'Changes requested', 'Approved']);
  expect(reacted.entries).toEqual(['approved', 'changes requested', 'new comment', 'opened']);
  const APPROVED = 'A reviewer has approved it. It is not merged yet.';
  expect(await (await get(url)).text()).toContain(`Open. ${APPROVED}`);
  expect(await (await get(url)).text()).not.toContain('mona');

  await clone.commit();
  const updated = await clone.push('-o', `pr-hash=${banner.prHash}`, 'origin', 'HEAD');
  expect(updated.code, updated.stderr).toBe(0);
  expect(await (await get(url)).text()).toContain('Open. The maintainers have not decided yet.');
  const later = await shownAt(url);
  expect(later.entries).toEqual(['updated with new commits', ...reacted.entries]);
  expect(later.events).toEqual([...reacted.events, 'Updated: 1 commit added']);

  const text = (await (await get(url)).text()).replaceAll('<wbr>', '');
  const [, command = ''] =
    /git push (-o withdraw -o \S+ -o \S+ \S+ HEAD:refs\/heads\/withdraw)/.exec(text) ?? [];
  const withdrawn = await clone.push(...command.replace('<key>', banner.prKey ?? '').split(' '));
  expect(withdrawn.code, withdrawn.stderr).toBe(0);
  const last = await shownAt(url);
  expect([last.state, last.entries[0]]).toEqual(['Withdrawn', 'withdrawn']);
  expect(await (await get(url)).text()).not.toContain('-o withdraw');

  await expect.poll(() => published(banner.prHash)).toHaveLength(6);
  expect(
    published(banner.prHash).every(({ headers }) => headers['authorization'] === `Bearer ${TOKEN}`),
  ).toBe(true);
});

function published(prHash: string) {
  return bed.host.requests.filter(
    ({ path, body }) => path === '/ntfy/' && body.toString().includes(`anon-pr-${prHash}`),
  );
}

it('a merge is shown, and what a client has already is not sent again', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  const { banner, pull } = await expectAccepted(bed, contribution, await clone.push());
  const url = `${bed.service.url}/v1/pr/${banner.prHash}`;
  await expect.poll(async () => (await get(url)).status).toBe(200);
  const first = await Promise.all(
    [
      [url, 'text/html', 'text/html; charset=UTF-8'],
      [url, '*/*', 'text/plain; charset=UTF-8'],
      [`${url}.atom`, '*/*', 'application/atom+xml; charset=utf-8'],
    ].map(async ([address = '', accept = '', type]) => {
      const response = await get(address, { Accept: accept });
      await response.body?.cancel();
      expect(response.status).toBe(200);
      expect(response.headers.get('Content-Type')).toBe(type);
      // Whoever asks chooses the name in the page's links as long as the operator has named none.
      expect(response.headers.get('Cache-Control')).toBe('private, max-age=60');
      const again = { Accept: accept, 'If-None-Match': response.headers.get('ETag') ?? '' };
      const unchanged = await get(address, again);
      expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
      const policy = 'Content-Security-Policy';
      expect(unchanged.headers.get(policy)).toBe(response.headers.get(policy));
      return { address, again };
    }),
  );
  await bed.sandbox.maintainer.merge({ owner: upstream.owner, repo: upstream.name, number: pull.number });
  await bed.service.runScheduled();
  for (const { address, again } of first) {
    const changed = await get(address, again);
    expect([changed.status, await changed.text()]).toEqual([200, expect.stringMatching(/merged/i)]);
  }
  expect((await shownAt(url)).state).toBe('Merged');
});
