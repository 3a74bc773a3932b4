/** A change that becomes public later, from a browser without script: its time, its page, and giving it up. */
import { expect, it } from 'vitest';
import { pass } from '../e2e/support/held.ts';
import { useTestBed } from '../e2e/support/test-bed.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { browserOf, heading, press } from './support/forms.ts';

const bed = useTestBed({ env: { PR_UPDATE_POLICY: 'key', PUBLISH_DELAY: '1h' } });
const chromium = useChromium();

async function previewed() {
  const upstream = await bed.createUpstream();
  await upstream.grow({ files: { 'a.txt': 'one\n' } });
  const page = await chromium.newPage(browserOf(bed));
  await page.goto(`/v1/gh/${upstream.fullName}/change?path=a.txt`);
  await page.getByLabel('Text of the file').fill('two\n');
  await page.getByLabel('Title').fill('Say two');
  await press(page, 'See what becomes public');
  await heading(page, 'What becomes public');
  return { upstream, page };
}

describeInBrowser('a change with a time', () => {
  it('is held, has a page, and is published later', async () => {
    const { upstream, page } = await previewed();
    await chromium.expectFit(page);
    expect(await page.getByLabel('When it becomes public').inputValue()).toBe('');
    await page.getByLabel('When it becomes public').selectOption({ label: 'within some days: one or two' });
    await press(page, 'Open the pull request');
    await heading(page, 'Your change is held');
    await chromium.expectFit(page);
    const hash = await page.getByRole('textbox', { name: 'Hash' }).inputValue();
    expect(await page.getByRole('textbox', { name: 'Key' }).inputValue()).toMatch(/^[0-9a-f]{32}$/);
    await page.getByRole('link', { name: 'See its state' }).click();
    await heading(page, 'A held push');
    await page.getByText(/^Held: it will be published between/).waitFor();
    await page.getByText(hash).first().waitFor();
    await chromium.expectFit(page);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('goes as the service does it if nothing is chosen, and is given up with its key', async () => {
    const { upstream, page } = await previewed();
    await press(page, 'Open the pull request');
    await heading(page, 'Your change is held');
    const key = await page.getByRole('textbox', { name: 'Key' }).inputValue();
    await page.getByRole('link', { name: 'Give it up' }).click();
    await page.getByLabel('Key of the pull request').fill(key);
    await press(page, 'Withdraw it');
    await heading(page, 'Your push is given up');
    await chromium.expectFit(page);
    await pass(bed);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });
});
