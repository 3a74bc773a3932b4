/** The operator looks at delayed pushes in a browser without script. */
import { expect, it } from 'vitest';
import { contribute } from '../e2e/support/contribution.ts';
import { delayedAs, pageOf, pass } from '../e2e/support/delayed.ts';
import { OPERATOR } from '../e2e/support/operator.ts';
import { useOwnTestBed } from '../e2e/support/test-bed.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { browserOf, heading, press } from './support/forms.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bed = useOwnTestBed({ env: { ...OPERATOR, REVIEW: 'all' } });
const chromium = useChromium();

async function push(
  message: string,
): Promise<{ name: string; upstream: Parameters<typeof bed.host.pulls>[0] }> {
  const { clone, upstream } = await contribute(bed);
  const long = 'a very long line that goes on and on '.repeat(20);
  await clone.commit({
    message,
    files: { 'docs/a file with a long name.md': `${long}\n`, 'b.bin': new Uint8Array([0]) },
  });
  return { name: delayedAs(await clone.push('origin', 'HEAD:topic')), upstream };
}

describeInBrowser('the operator with a browser', () => {
  it(
    'opens the page, looks at a push, publishes it, and discards the others together',
    exhaustive,
    async () => {
      const first = await push(`Say it better\n\n${'Because of all these words. '.repeat(30)}\n`);
      const others = [await push('Advertise\n'), await push('Advertise more\n')];
      const { extraHTTPHeaders: _, ...browser } = browserOf(bed);
      const page = await chromium.newPage(browser);
      await page.goto('/admin/delayed');
      await heading(page, 'Delayed pushes');
      await chromium.expectFit(page);
      await page.getByLabel('PANIC_PASSWORD of this service').fill('guess');
      await press(page, 'Open');
      await page.getByRole('alert').filter({ hasText: 'Neither the password nor the token' }).waitFor();
      await page.getByLabel('PANIC_PASSWORD of this service').fill(OPERATOR.PANIC_PASSWORD);
      await press(page, 'Open');
      await page.getByText('3 pushes wait: first').waitFor();
      await chromium.expectFit(page);
      await press(page, 'Publish');
      await page.getByRole('alert').filter({ hasText: 'Choose at least one push.' }).waitFor();
      await page.getByRole('link', { name: 'See all that leaves with it' }).first().click();
      await heading(page, 'Say it better');
      await page.getByRole('heading', { name: 'New: docs/a file with a long name.md' }).waitFor();
      await chromium.expectFit(page);
      await press(page, 'Publish');
      await page.getByRole('status').filter({ hasText: '1 push: published' }).waitFor();
      await chromium.expectFit(page);
      // The approved one waits for its time, behind them.
      for (const box of (await page.getByLabel('Choose it').all()).slice(0, 2)) await box.check();
      await page.getByLabel('If you discard it: why').selectOption('spam');
      await press(page, 'Discard');
      await page.getByRole('status').filter({ hasText: '2 pushes: discarded.' }).waitFor();
      await page.getByText(/^No push waits\.|1 push waits/).waitFor();
      await chromium.expectFit(page);

      await expect.poll(async () => (await pass(bed), (await bed.host.pulls(first.upstream)).length)).toBe(1);
      for (const { name, upstream } of others) {
        expect(await bed.host.pulls(upstream)).toEqual([]);
        expect(await pageOf(bed, name)).toContain('It looks like spam or advertising.');
      }
      await page.goto(`/v1/delayed/${others[0]?.name}`);
      await page.getByText('Discarded', { exact: true }).waitFor();
      await chromium.expectFit(page);
    },
  );
});
