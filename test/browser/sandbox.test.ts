/**
 * The embedded code host's forms in a real browser without script: for eyes, hands and screens of
 * all kinds.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop, commitFile } from '../sandbox/support/git.ts';
import { createFilled, openPull } from '../sandbox/support/host.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { heading, press } from './support/forms.ts';
import { exhaustive } from '../support/exhaustive.ts';

const chromium = useChromium();
const workshop = new Workshop();
let host: Sandbox;
let pull: number;
let forgotten = 0;

beforeAll(async () => {
  host = await startSandbox({ forkDelayMs: 0, forgetLimits: async () => void (forgotten += 1) });
  const workTree = await workshop.workTree();
  await createFilled(host, workTree, { owner: 'octo', name: 'hello' });
  await commitFile(workTree, 'a.txt', 'a\n', 'Say more');
  pull = await openPull(host, workTree, 'octo/hello', 'topic');
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

/** Where a person looks at the pages, if one wants to: a folder in PICTURES. */
async function look(page: Page, name: string): Promise<void> {
  await chromium.expectFit(page);
  const folder = process.env['PICTURES'];
  if (folder === undefined) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
}

describeInBrowser('as the maintainer', () => {
  it('one comments, reviews, labels and merges', exhaustive, async () => {
    const page = await chromium.newPage({ baseURL: host.url, javaScriptEnabled: false });
    await page.goto(`/octo/hello/pull/${pull}`);
    await heading(page, 'From topic');
    await look(page, 'pull');
    await page.getByLabel('Text').fill('Thanks!');
    await press(page, 'Comment');
    await page.getByText('Thanks!').waitFor();
    await press(page, 'Approve');
    await page.getByText('APPROVED').waitFor();
    await page.getByLabel('bug').check();
    await press(page, 'Set labels');
    await page.getByText('Labels: bug').waitFor();
    expect(await page.getByLabel('bug').isChecked()).toBe(true);
    await press(page, 'Merge');
    await page.getByText('merged', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Merge' }).count()).toBe(0);
    await look(page, 'merged');
    await press(page, 'Comment');
    await heading(page, 'That is not possible');
    await look(page, 'refused');
  });

  it('one writes the policy', exhaustive, async () => {
    const page = await chromium.newPage({ baseURL: host.url, javaScriptEnabled: false });
    await page.goto('/octo/hello');
    await page.getByLabel('.gitveil.yml').fill('issues: false\n');
    await press(page, 'Commit');
    await expect.poll(() => page.getByLabel('.gitveil.yml').inputValue()).toBe('issues: false\n');
    await look(page, 'repository');
  });

  it('one makes the service forget its limits', exhaustive, async () => {
    const page = await chromium.newPage({ baseURL: host.url, javaScriptEnabled: false });
    await page.goto('/');
    await look(page, 'front');
    await press(page, 'Forget the limits of this machine');
    await heading(page, 'Sandbox code host');
    expect(forgotten).toBe(1);
  });
});
