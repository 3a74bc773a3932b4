/**
 * Secrets that are shown once are saved without script: as one text that is selected at once, and
 * as a file that no request has.
 */
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { useTestBed } from '../e2e/support/test-bed.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { browserOf, heading, press, saved } from './support/forms.ts';

const bed = useTestBed();
const chromium = useChromium();

describeInBrowser('what is shown once', () => {
  it('is a file with page, hash and key, and no request had the key', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'a.txt': 'one\n' } });
    const page = await chromium.newPage(browserOf(bed));
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`/v1/gh/${upstream.fullName}/change?path=a.txt`);
    await page.getByLabel('Text of the file').fill('two\n');
    await page.getByLabel('Title').fill('Say two');
    await press(page, 'See what becomes public');
    await press(page, 'Open the pull request');
    await heading(page, 'Your pull request is open');
    const [hash, key] = [await saved(page, 'Hash'), await saved(page, 'Key')];
    expect(await saved(page, 'Page')).toBe(`${bed.service.url}/v1/pr/${hash}`);
    const coming = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download it' }).click();
    const download = await coming;
    expect(download.suggestedFilename()).toBe(`pull-request-${hash}.txt`);
    const file = await text(await download.createReadStream());
    expect(file).toBe(`Page: ${bed.service.url}/v1/pr/${hash}\nHash: ${hash}\nKey:  ${key}\n`);
    expect(asked.filter((url) => url.startsWith('http') && url.includes(key))).toEqual([]);
    // The page on this service comes first, and the code host last.
    const [, main = ''] = /<main[^]*?>([^]*)<\/main>/.exec(await page.content()) ?? [];
    const links = [...main.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, link = '']) => link);
    expect(links.indexOf(`/v1/pr/${hash}`)).toBeLessThan(links.findIndex((link) => link.startsWith('http')));
    expect(links.findIndex((link) => link.includes('/pull/'))).toBe(links.length - 1);
  });
});
