/**
 * A form on a maintainer's own site, as docs/maintainers.md has it: it leads to the form of the
 * service, filled in, and posts nothing. And what any other site can have a browser load.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useTestBed } from '../e2e/support/test-bed.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { browserOf, heading, press } from './support/forms.ts';

const bed = useTestBed();
const chromium = useChromium();
const DOCUMENT = join(import.meta.dirname, '../../docs/maintainers.md');

/** Opens a page of another origin with a form of the document. */
async function openForm(page: Page, index: number, repository: string): Promise<void> {
  const text = await readFile(DOCUMENT, 'utf8');
  const forms = [...text.matchAll(/```html\n([^]*?)```/g)].map(([, form = '']) => form);
  const form = (forms[index] ?? '')
    .replace('<service>', bed.service.url)
    .replace('<owner>/<repo>', repository);
  await page.goto(`data:text/html,${encodeURIComponent(form)}`);
  expect(await page.evaluate('origin')).toBe('null');
}

describeInBrowser('another site', () => {
  it('leads with a form to that of an issue', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const page = await chromium.newPage({ ...browserOf(bed), javaScriptEnabled: true });
    await openForm(page, 0, upstream.fullName);
    await page.getByLabel('Title').fill('It is “slow” & <b>');
    await page.getByLabel('What is wrong?').fill('Very.\nAlways.');
    await press(page, 'Report without an account');
    await heading(page, 'Open an issue');
    expect(await page.getByLabel('Title').inputValue()).toBe('It is “slow” & <b>');
    expect(await page.getByLabel('Body').inputValue()).toBe('Very.\nAlways.');
    const issues = await bed.host.call<unknown[]>('GET', `/repos/${upstream.fullName}/issues`);
    expect(issues).toEqual([]);
    await press(page, 'Preview');
    await heading(page, 'Preview of the issue');
  });

  it('leads with a form to that of a change', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'guide.md': 'one\n' } });
    const page = await chromium.newPage({ ...browserOf(bed), javaScriptEnabled: true });
    await openForm(page, 1, upstream.fullName);
    await page.getByLabel('What do you correct?').fill('Correct a typo');
    await page.getByLabel('Why?').fill('It is “two”.');
    await press(page, 'Correct this page without an account');
    await heading(page, 'Change guide.md');
    expect(await page.getByLabel('Title').inputValue()).toBe('Correct a typo');
    expect(await page.getByLabel('Description').inputValue()).toBe('It is “two”.');
    await page.getByLabel('Text of the file').fill('two\n');
    await press(page, 'See what becomes public');
    await heading(page, 'What becomes public');
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('has nothing loaded before somebody follows its link', async () => {
    const upstream = await bed.createUpstream();
    await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Slow' });
    const page = await chromium.newPage({ ...browserOf(bed), javaScriptEnabled: true });
    const form = `${bed.service.url}/v1/gh/${upstream.fullName}/reply?to=1`;
    const rules = { prefetch: [{ source: 'list', urls: [form], eagerness: 'immediate' }] };
    const script = `<script type="speculationrules">${JSON.stringify(rules)}</script>`;
    const before = bed.host.requests.length;
    const ahead = page.waitForResponse(form);
    await page.goto(`data:text/html,${encodeURIComponent(`${script}<a href="${form}">Reply</a>`)}`);
    expect((await ahead).status()).toBe(503);
    expect(bed.host.requests.slice(before)).toEqual([]);
    await page.getByRole('link', { name: 'Reply' }).click();
    await heading(page, 'Reply to #1');
  });
});
