/**
 * Every page in a real browser: for eyes, hands and screens of all kinds, and what the front page
 * does with a script.
 */
import { beforeAll, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../e2e/support/contribution.ts';
import { Operator, OPERATOR } from '../e2e/support/operator.ts';
import { useOwnTestBed } from '../e2e/support/test-bed.ts';
import type { Page } from 'playwright-core';
import { cutOff, describeInBrowser, useChromium } from './support/chromium.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const chromium = useChromium();
beforeAll(() => bed.createUpstream({ owner: 'octo', name: 'hello' }));

const PAGES = [
  ['the front page', '/'],
  ['the front page with a mistake', '/?repo=hello'],
  ['the page of a remote', '/v1/gh/octo/hello'],
  ['the report page', '/v1/moderation/report?hash=0123abcd'],
  ['the description of the API', '/docs'],
  ['the privacy page', '/privacy'],
  ['the page for maintainers', '/maintainers'],
  ['a page that does not exist', '/nowhere'],
  ['the page of a repository that does not exist', '/v1/gh/octo/none'],
  ['the refusal of a report', '/v1/moderation/report?hash=none'],
] as const;

const LONG_NAME = `${'o'.repeat(39)}/${'n'.repeat(100)}`;

describeInBrowser.each(PAGES)('%s', (_, path) => {
  it('is accessible in light and dark, and fits a telephone and a desk', exhaustive, async () => {
    const page = await chromium.newPage({ baseURL: bed.service.url });
    await page.goto(path);
    await chromium.expectFit(page);
  });
});

describeInBrowser('the description of the API', () => {
  it('is short, and an address unfolds its endpoint', exhaustive, async () => {
    const page = await chromium.newPage({ baseURL: bed.service.url, viewport: { width: 1280, height: 800 } });
    await page.goto('/docs');
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(8_000);
    expect(await page.locator('details[open]').count()).toBe(0);
    await page.goto('/docs#pushBundle');
    await page.getByText('A file of git bundle create').waitFor();
    expect(await page.locator('details[open]').count()).toBe(1);
    await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
    await chromium.expectFit(page);
  });
});

describeInBrowser('the page of a pull request', () => {
  it('is accessible, fits a telephone, and leads to a feed that is well-formed XML', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { banner, pull } = await expectAccepted(bed, contribution, await clone.push());
    const on = { owner: upstream.owner, repo: upstream.name, number: pull.number };
    for (let count = 0; count < 3; count++) bed.sandbox.maintainer.comment(on, 'Thanks!');
    await bed.service.runScheduled();
    const path = `/v1/pr/${banner.prHash}`;
    await expect.poll(async () => (await fetch(bed.service.url + path)).status).toBe(200);
    const page = await chromium.newPage({ baseURL: bed.service.url });
    await page.goto(path);
    await chromium.expectFit(page);
    expect(await page.getByText('Thanks!').count()).toBe(3);
    for (const summary of await page.locator('summary').all()) await summary.click();
    await chromium.expectFit(page);
    await chromium
      .newPage({ baseURL: bed.service.url, permissions: ['clipboard-read', 'clipboard-write'] })
      .then(async (copying) => {
        await copying.goto(path);
        await copying.getByText('Update it with Git').click();
        await copying.getByRole('button', { name: 'Copy the command: Update it' }).click();
        const copied = String(await copying.evaluate('navigator.clipboard.readText()'));
        expect(copied).toBe(`git push -o pr-hash=${banner.prHash} ${upstream.url} HEAD:refs/heads/my-change`);
      });
    const feed = await (await fetch(`${bed.service.url}${path}.atom`)).text();
    const parsed = await page.evaluate<[string, number]>(`(() => {
      const feed = new DOMParser().parseFromString(${JSON.stringify(feed)}, 'application/xml');
      return [feed.documentElement.nodeName, feed.querySelectorAll('feed > entry > id').length];
    })()`);
    expect(parsed).toEqual(['feed', 4]);
  });
});

describeInBrowser('the page of a remote', () => {
  it('says when pushes are suspended', exhaustive, async () => {
    const operator = new Operator(bed);
    await operator.setPanic(true);
    const page = await chromium.newPage({ baseURL: bed.service.url });
    const notice = page.getByText('Pushes are suspended at the moment. Try again in 15');
    await expect.poll(async () => (await page.goto('/v1/gh/octo/hello'), notice.count())).toBe(1);
    await operator.setPanic(false);
    await expect.poll(async () => (await page.goto('/v1/gh/octo/hello'), notice.count())).toBe(0);
  });
});

describeInBrowser('the front page', () => {
  it.each([
    ['Change a file', 'Change a file'],
    ['Report an issue', 'Open an issue'],
    ['Reply', 'Reply to an issue'],
  ])('leads to a form without Git and without JavaScript: %s', exhaustive, async (button, heading) => {
    const page = await chromium.newPage({ baseURL: bed.service.url, javaScriptEnabled: false });
    await page.goto('/');
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByRole('textbox', { description: /Write it as owner\/repo/ }).fill('octo/hello');
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  });

  it('leads to the commands for a repository without JavaScript', async () => {
    const page = await chromium.newPage({ baseURL: bed.service.url, javaScriptEnabled: false });
    await page.goto('/');
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await page.getByLabel('Which repository').fill(`${bed.sandbox.url}/octo/hello/pulls`);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.waitForURL('**/v1/gh/octo/hello');
    expect(await page.locator('.command code').allTextContents()).toEqual(commands('octo/hello'));
  });

  it(
    'has its three ways without Git in one row on a desk, and as wide as the card on a telephone',
    exhaustive,
    async () => {
      const page = await chromium.newPage({ baseURL: bed.service.url });
      await page.goto('/');
      const rows = async (width: number): Promise<readonly number[][]> => {
        await page.setViewportSize({ width, height: 844 });
        const boxes = await Promise.all(
          (await page.locator('.columns .buttons button').all()).map((button) => button.boundingBox()),
        );
        const tops = [...new Set(boxes.map((box) => box?.y))];
        return tops.map((top) => boxes.flatMap((box) => (box?.y === top ? [box?.width ?? 0] : [])));
      };
      expect((await rows(1280)).map((row) => row.length)).toEqual([3]);
      const widths = (await rows(390)).map((row) =>
        row.reduce((sum, width) => sum + width, 10 * (row.length - 1)),
      );
      expect(Math.max(...widths) - Math.min(...widths)).toBeLessThan(2);
    },
  );

  it('breaks an address on a telephone behind its slashes, also while it is typed', exhaustive, async () => {
    const page = await chromium.newPage({ baseURL: bed.service.url });
    await page.goto('/');
    for (const typed of ['', 'octocat/hello', 'octocat/helloworld']) {
      await page.getByLabel('Which repository').fill(typed);
      for (const width of [360, 375, 390, 412]) {
        await page.setViewportSize({ width, height: 844 });
        // A browser also breaks behind hyphens.
        expect((await lineEnds(page)).join('')).toMatch(/^[ /-]+$/);
      }
    }
  });

  it('follows what is typed, and copies a command', exhaustive, async () => {
    const page = await chromium.newPage({
      baseURL: bed.service.url,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto('/');
    const field = page.getByLabel('Which repository');
    await field.pressSequentially('octo/hello.git');
    expect(await page.locator('code').allTextContents()).toEqual(commands('octo/hello'));
    await page.getByRole('button', { name: 'Copy the command: Commit as usual, then push' }).press('Enter');
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' });
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(commands('octo/hello')[1]);
    await field.fill('<b>octo</b>');
    expect(await page.locator('code').allTextContents()).toEqual(commands('<owner>/<repo>'));
  });

  it('ties a mistake to its field, and holds the longest names', exhaustive, async () => {
    const page = await chromium.newPage({ baseURL: bed.service.url, viewport: { width: 390, height: 844 } });
    await page.goto('/?repo=octo');
    const field = page.getByRole('textbox', { description: /Write it as owner\/repo/ });
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await page.goto(`/?repo=${LONG_NAME}`);
    expect(await cutOff(page)).toEqual([]);
    await page.goto(`/v1/gh/${LONG_NAME}`);
    expect(await cutOff(page)).toEqual([]);
  });
});

/** The last characters of the lines of commands, but of the last line. */
function lineEnds(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('.command code')].flatMap((code) => {
    const range = document.createRange();
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    const shown = [];
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      for (let at = 0; at < node.data.length; at++) {
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const box = [...range.getClientRects()].at(-1);
        shown.push({ character: node.data[at], line: box === undefined ? null : Math.round(box.bottom) });
      }
    const seen = shown.filter(({ line }) => line !== null);
    return seen.flatMap(({ character, line }, at) =>
      at + 1 < seen.length && seen[at + 1].line > line ? [character] : []);
  })`);
}

function commands(path: string): string[] {
  const remote = `${bed.service.url}/v1/gh/${path}`;
  return [`git clone ${remote}`, `git push ${remote} HEAD:refs/heads/my-change`];
}
