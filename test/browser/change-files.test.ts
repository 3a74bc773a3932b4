/**
 * A change of several files in a browser without script: every page on the way fits and is
 * accessible.
 */
import { expect, it } from 'vitest';
import { gitIn } from '../e2e/support/objects.ts';
import { useTestBed } from '../e2e/support/test-bed.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { browserOf, heading, press } from './support/forms.ts';

const bed = useTestBed();
const chromium = useChromium();

describeInBrowser('a person with a browser', () => {
  it('changes one file, and then another, and removes a third', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const prose = `${'A long line of prose goes on and on. '.repeat(20)}\n`;
    await upstream.grow({
      files: { 'docs/guide.md': prose, 'docs/old.md': 'Old\n', 'src/main.ts': `${'long '.repeat(80)}\n` },
    });
    const page = await chromium.newPage(browserOf(bed));
    const text = page.getByLabel('Text of the file');
    const isWrapped = () =>
      page.evaluate<boolean>(
        '(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.getElementById("text"))',
      );
    await page.goto(`/v1/gh/${upstream.fullName}/change?path=docs/guide.md`);
    expect(await isWrapped()).toBe(true);
    expect(await page.getByLabel('Title').inputValue()).toBe('Update guide.md');
    await text.fill('Shorter.\n');
    await page.getByLabel('Your name').fill('Zoe Quist');
    await press(page, 'Search it for my name');
    await page.getByText('Searched for “Zoe Quist”: not found.').waitFor();
    await chromium.expectFit(page);
    await press(page, 'Change another file, too');
    await heading(page, 'Change another file, too');
    await chromium.expectFit(page);
    await press(page, 'src/');
    await press(page, 'main.ts');
    await heading(page, 'Change src/main.ts');
    expect(await isWrapped()).toBe(false);
    await chromium.expectFit(page);
    await text.fill('short\n');
    await press(page, 'Change another file, too');
    await page.getByLabel('Path of the file').fill('docs/old.md');
    await press(page, 'Remove a file');
    await heading(page, 'Remove docs/old.md');
    await chromium.expectFit(page);
    await press(page, 'Edit docs/guide.md');
    expect(await text.inputValue()).toBe('Shorter.\n');
    // The Enter key means the first button.
    await page.getByLabel('Title').press('Enter');
    await heading(page, 'What becomes public');
    await chromium.expectFit(page);
    await press(page, 'Open the pull request');
    await heading(page, 'Your pull request is open');
    const { head, title } = await bed.host.onlyPull(upstream);
    expect(title).toBe('Update guide.md and 2 more files');
    const branch = head.split(':')[1] ?? '';
    const changed = await gitIn(bed.host.forkPath(upstream) ?? '', 'diff', '--name-status', 'main', branch);
    expect(changed).toBe('M\tdocs/guide.md\nD\tdocs/old.md\nM\tsrc/main.ts');
  });

  it('sees on the page of a repository what there is to do, on a telephone, too', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({
      files: {
        '.gitveil.yml': 'sign_off: required\nai_disclosure: required\nissue: required\nworkflows: false\n',
      },
    });
    const title = 'Supercalifragilistic words stay whole at every width of the page';
    for (const each of [title, 'עברית '.repeat(12), 'x'.repeat(256)])
      bed.sandbox.maintainer.openIssue(upstream.owner, upstream.name, each, 'Very.');
    const page = await chromium.newPage(browserOf(bed));
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`/v1/gh/${upstream.fullName}`);
    await chromium.expectFit(page);
    const rules = page.getByRole('region', { name: 'What its maintainers ask for' });
    const commands = page.getByRole('region', { name: 'With Git' });
    const [above, below] = await Promise.all([rules.boundingBox(), commands.boundingBox()]);
    expect(above?.y).toBeLessThan(below?.y ?? 0);
    expect(await rules.getByText('Developer Certificate of Origin').count()).toBe(1);
    // A word that fits into a line is not broken.
    const word = page.getByRole('link', { name: title });
    const lines = await page.evaluate<number>(`(() => {
      const range = document.createRange();
      const text = document.querySelector('a[href$="to=1"] bdi').firstChild;
      range.setStart(text, 0);
      range.setEnd(text, 'Supercalifragilistic'.length);
      return range.getClientRects().length;
    })()`);
    expect(lines).toBe(1);
    await word.click();
    await heading(page, 'Reply to #1');
  });
});
