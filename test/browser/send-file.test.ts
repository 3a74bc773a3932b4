/** A patch from a browser without script, by hand: chosen, looked at, sent. */
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { contribute } from '../e2e/support/contribution.ts';
import { useTestBed } from '../e2e/support/test-bed.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { browserOf, heading, press } from './support/forms.ts';

const bed = useTestBed();
const chromium = useChromium();

describeInBrowser('a person with a browser', () => {
  it('sends a patch', exhaustive, async () => {
    const { upstream, clone, person } = await contribute(bed);
    await clone.commit({ message: 'Add a guide\n', files: { 'docs/guide.md': 'First\nSecond\n' } });
    const file = join(person.home, 'my.patch');
    await writeFile(file, await person.mustGit(clone.path, ['format-patch', '--stdout', 'origin/main']));
    const page = await chromium.newPage(browserOf(bed));
    await page.goto(`/v1/gh/${upstream.fullName}`);
    await page.getByRole('link', { name: 'Send a bundle or a patch' }).click();
    await heading(page, 'Send a bundle or a patch');
    await chromium.expectFit(page);
    await page.getByLabel('The file').setInputFiles(file);
    await press(page, 'See what becomes public');
    await heading(page, 'What becomes public');
    await chromium.expectFit(page);
    await page.getByRole('heading', { name: 'New: docs/guide.md' }).waitFor();
    await press(page, 'Open the pull request');
    await heading(page, 'Your pull request is open');
    await chromium.expectFit(page);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'Add a guide', base: 'main' });
  });
});
