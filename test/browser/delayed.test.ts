/**
 * A change that becomes public later, from a browser without script: its time, its page, and the
 * buttons there.
 */
import { expect, it } from 'vitest';
import { pass } from '../e2e/support/delayed.ts';
import { useOwnTestBed } from '../e2e/support/test-bed.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { browserOf, heading, press, saved } from './support/forms.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { PR_UPDATE_POLICY: 'key', PUBLISH_DELAY: '1h' } });
const chromium = useChromium();

/** A change that waits, with its page open. */
async function delayed(time?: string) {
  const upstream = await bed.createUpstream();
  await upstream.grow({ files: { 'a.txt': 'one\n' } });
  const page = await chromium.newPage(browserOf(bed));
  await page.goto(`/v1/gh/${upstream.fullName}/change?path=a.txt`);
  await page.getByLabel('Text of the file').fill('two\n');
  await page.getByLabel('Title').fill('Say two');
  await press(page, 'See what becomes public');
  await heading(page, 'What becomes public');
  await chromium.expectFit(page);
  expect(await page.getByLabel('When it becomes public').inputValue()).toBe('');
  if (time !== undefined) await page.getByLabel('When it becomes public').selectOption({ label: time });
  await press(page, 'Open the pull request');
  await heading(page, 'Your change waits');
  await chromium.expectFit(page);
  await page.getByRole('link', { name: 'Open its page' }).click();
  await heading(page, 'A delayed push');
  await chromium.expectFit(page);
  expect(await bed.host.pulls(upstream)).toEqual([]);
  return { upstream, page };
}

describeInBrowser('a change with a time', () => {
  it('has a page, is published with its button, and tells hash and key then', exhaustive, async () => {
    const { upstream, page } = await delayed('within some days: one or two');
    await page.getByText(/^It will be published between/).waitFor();
    await press(page, 'Publish now');
    await expect.poll(async () => (await bed.host.pulls(upstream)).length).toBe(1);
    await expect
      .poll(async () => (await page.reload(), page.getByRole('heading', { name: 'Save this now' }).count()))
      .toBe(1);
    await chromium.expectFit(page);
    expect(await saved(page, 'Key')).toMatch(/^[0-9a-f]{32}$/);
    const hash = await saved(page, 'Hash');
    await page.getByRole('link', { name: 'Follow the pull request' }).click();
    await page.waitForURL(`**/v1/pr/${hash}`);
  });

  it(
    'goes as the service does it if nothing is chosen, and is given up with a button',
    exhaustive,
    async () => {
      const { upstream, page } = await delayed();
      await press(page, 'Give up');
      await page.getByText('You have given it up.').waitFor();
      await chromium.expectFit(page);
      expect(await page.getByRole('button').count()).toBe(0);
      await pass(bed);
      expect(await bed.host.pulls(upstream)).toEqual([]);
    },
  );
});
