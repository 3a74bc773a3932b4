/** Reporting a pseudonym, from the link below its comment to the thanks, in a real browser. */
import { expect, it } from 'vitest';
import { OPERATOR } from '../e2e/support/operator.ts';
import { useOwnTestBed } from '../e2e/support/test-bed.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bed = useOwnTestBed({ env: OPERATOR });
const chromium = useChromium();

const reporter = (address: string) => ({
  baseURL: bed.service.url,
  extraHTTPHeaders: { 'CF-Connecting-IP': address },
  javaScriptEnabled: false,
});

describeInBrowser('reporting a pseudonym', () => {
  it(
    'goes from its comment to the thanks with the keyboard alone, and without JavaScript',
    exhaustive,
    async () => {
      const upstream = await bed.createUpstream();
      await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Does not start' });
      const path = `/v1/gh/${upstream.fullName}/issues/1/comments/anonymous`;
      const answer = await fetch(`${bed.service.url}${path}`, {
        method: 'POST',
        headers: { 'CF-Connecting-IP': '192.0.2.1' },
        body: JSON.stringify({ body: 'Buy my pills.' }),
      });
      const { hash } = await answer.json<{ hash: string }>();
      const link = `${bed.service.url}/v1/moderation/report?hash=${hash}`;

      const page = await chromium.newPage(reporter('192.0.2.2'));
      await page.goto(link);
      expect(await page.title()).toBe(`Report anon-${hash} · gitveil`);
      await page.getByRole('link', { name: 'The newest comment' }).waitFor();
      await chromium.expectFit(page);
      const focused = page.locator('button:focus');
      for (let presses = 0; presses < 10 && (await focused.count()) === 0; presses++)
        await page.keyboard.press('Tab');
      expect(await focused.textContent()).toMatch(`Report anon-${hash}`);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Report received' }).waitFor();
      expect(await page.getByRole('main').innerText()).toMatch(/Reports\s+1\s+in the last 30 days/);

      await page.goBack();
      await page.getByRole('button').click();
      await page.getByRole('heading', { name: 'Report received' }).waitFor();
      expect(await page.getByRole('main').innerText()).toMatch(/Reports\s+1\s+in the last 30 days/);
    },
  );

  it('can be appealed against with a form', exhaustive, async () => {
    const page = await chromium.newPage(reporter('192.0.2.4'));
    await page.goto('/v1/moderation/report?hash=0badbeef');
    await page.getByRole('link', { name: 'appeal to the operator' }).click();
    await page.getByRole('heading', { name: 'Appeal against reports' }).waitFor();
    await chromium.expectFit(page);
    await page.getByLabel('Thread').fill('octo/hello');
    await page.getByLabel('Your token').fill('TOKEN');
    await page.getByLabel('Why the reports were wrong').fill('I only asked.');
    await page.getByRole('button', { name: 'Send the appeal' }).click();
    await page.getByRole('alert').filter({ hasText: 'Thread must be owner/repo#number' }).waitFor();
    expect(await page.getByLabel('Why the reports were wrong').inputValue()).toBe('I only asked.');
    await chromium.expectFit(page);
  });

  it('cannot be done by a page of someone else', exhaustive, async () => {
    const page = await chromium.newPage(reporter('192.0.2.3'));
    const form = `<form method="post" action="${bed.service.url}/v1/moderation/report">
      <input name="hash" value="0badbeef"><button>Win a prize</button></form>`;
    await page.goto(`data:text/html,${encodeURIComponent(form)}`);
    await page.getByRole('button').click();
    await page.getByRole('heading', { name: 'This report came from another site' }).waitFor();
  });
});
