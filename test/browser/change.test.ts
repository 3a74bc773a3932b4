/**
 * A change of a file from a browser without script: from the front page to the pull request, and
 * back again.
 */
import { expect, it } from 'vitest';
import { readRef } from '../../sandbox/bare-repository.ts';
import { gitIn } from '../e2e/support/objects.ts';
import { useTestBed } from '../e2e/support/test-bed.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { browserOf, heading, press, saved } from './support/forms.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bed = useTestBed();
const chromium = useChromium();

/** Mixed line ends, a byte order mark, and no end of the last line. */
const GUIDE = '\ufeffGuide\r\n\r\nFirst, instal it.\nThen run it.\r\nThat is <all>';

describeInBrowser('a person with a browser', () => {
  it('corrects a typo, edits again, follows and withdraws', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'docs/de/guide.md': GUIDE, 'docs/index.md': 'Index\n' } });
    const page = await chromium.newPage(browserOf(bed));
    await page.goto('/');
    await page
      .getByLabel('Which repository')
      .fill(`${bed.sandbox.url.replace('http://', '')}/${upstream.fullName}`);
    await press(page, 'Open');
    await page.getByText('It accepts anonymous pull requests, issues and replies.').waitFor();
    await page.getByRole('link', { name: 'Change a file' }).click();
    await chromium.expectFit(page);
    await page.getByRole('link', { name: 'docs/' }).click();
    await page.getByRole('link', { name: 'de/' }).click();
    await page.getByRole('link', { name: 'guide.md' }).click();
    await heading(page, 'Change docs/de/guide.md');
    await chromium.expectFit(page);
    const text = page.getByLabel('Text of the file');
    expect(await text.inputValue()).toBe(GUIDE.slice(1).replaceAll('\r\n', '\n'));
    await text.fill((await text.inputValue()).replace('instal', 'install'));
    await page.getByLabel('Title').fill('Correct a typo');
    await page.getByLabel('Description').fill('It is “install”.\n\nWith two l.');
    await press(page, 'See what becomes public');
    await heading(page, 'What becomes public');
    await chromium.expectFit(page);
    expect(await page.locator('.removed, .added').count()).toBe(2);
    await page.getByRole('heading', { name: 'Correct a typo' }).waitFor();
    expect(await page.locator('main').innerText()).toContain(`Author\n${bed.sandbox.botLogin}`);
    expect((await page.locator('main').innerText()).match(/Correct a typo/g)).toHaveLength(1);
    await press(page, 'Back to editing');
    expect(await text.inputValue()).toContain('install');
    await press(page, 'See what becomes public');
    await press(page, 'Open the pull request');
    await heading(page, 'Your pull request is open');
    await chromium.expectFit(page);

    const pull = await bed.host.onlyPull(upstream);
    expect(pull).toMatchObject({
      title: 'Correct a typo',
      body: 'It is “install”.\n\nWith two l.',
      base: 'main',
      state: 'open',
      author: bed.sandbox.botLogin,
    });
    const hash = await saved(page, 'Hash');
    const key = await saved(page, 'Key');
    expect(pull.head).toBe(`${bed.sandbox.botLogin}:anon-${hash}`);
    const fork = bed.host.forkPath(upstream) ?? '';
    const tip = () => readRef(fork, `refs/heads/anon-${hash}`) ?? '';
    expect(await gitIn(fork, 'cat-file', 'blob', `${tip()}:docs/de/guide.md`)).toBe(
      GUIDE.replace('instal', 'install'),
    );
    expect(await gitIn(fork, 'diff', '--name-only', 'main', tip())).toBe('docs/de/guide.md');

    await page.getByRole('link', { name: 'Edit again' }).click();
    await heading(page, 'Change docs/de/guide.md');
    await chromium.expectFit(page);
    expect(await page.getByLabel('Title').inputValue()).toBe('Correct a typo');
    expect(await text.inputValue()).toContain('install');
    await text.fill(`${await text.inputValue()} for now`);
    await page.getByLabel('Title').fill('Correct a typo, and hedge');
    await press(page, 'See what becomes public');
    await page
      .getByRole('alert')
      .filter({ hasText: 'To change title or description, give the key' })
      .waitFor();
    await chromium.expectFit(page);
    await page.getByLabel('Key of the pull request').fill('0'.repeat(32));
    await press(page, 'See what becomes public');
    await page.getByRole('alert').filter({ hasText: 'The pr-key is wrong' }).waitFor();
    await page.getByLabel('Key of the pull request').fill(key);
    await press(page, 'See what becomes public');
    await press(page, 'Update the pull request');
    await heading(page, 'Your pull request is updated');
    expect(await bed.host.onlyPull(upstream)).toMatchObject({
      title: 'Correct a typo, and hedge',
      state: 'open',
      headSha: tip(),
    });
    expect(await gitIn(fork, 'cat-file', 'blob', `${tip()}:docs/de/guide.md`)).toBe(
      `${GUIDE.replace('instal', 'install')} for now`,
    );
    expect(await gitIn(fork, 'rev-list', '--count', `main..${tip()}`)).toBe('1');

    await page.getByRole('link', { name: 'Follow it' }).click();
    await page.getByText('Updated: 1 commit added, 1 dropped').waitFor();
    await chromium.expectFit(page);
    await page.getByText('Withdraw it', { exact: true }).click();
    await page.getByRole('link', { name: 'Withdraw it in the browser' }).click();
    await chromium.expectFit(page);
    await page.getByLabel('Key of the pull request').fill('0'.repeat(32));
    await press(page, 'Withdraw it');
    await page.getByRole('alert').filter({ hasText: 'The pr-key is wrong' }).waitFor();
    await chromium.expectFit(page);
    await page.getByLabel('Key of the pull request').fill(key);
    await press(page, 'Withdraw it');
    await heading(page, 'Your pull request is withdrawn');
    await chromium.expectFit(page);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ state: 'closed' });
    await page.goto(`/v1/gh/${upstream.fullName}`);
    await expect
      .poll(async () => {
        await page.reload();
        return page.locator('section', { hasText: 'Its anonymous pull requests' }).innerText();
      })
      .toMatch(/#1 Correct a typo, and hedge[^]*Withdrawn/);
    // On a telephone, what does not fit stands on the next line, and breaks nowhere within.
    await page.setViewportSize({ width: 390, height: 844 });
    const day = page.locator('section', { hasText: 'Its anonymous pull requests' }).locator('time');
    const lines = await day.evaluate((element) => {
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      return range.getClientRects().length;
    });
    expect(lines).toBe(1);
  });

  it('reads what the project asks for, and begins with its template', exhaustive, async () => {
    const workflow = '.github/workflows/ci.yml';
    const upstream = await bed.createUpstream();
    await upstream.grow({
      files: {
        [workflow]: 'on: push\n',
        '.gitveil.yml': 'ai_disclosure: required\nissue: required\nlimit: 5/1h\n',
        '.github/pull_request_template.md': '## Why\n\n<!-- Say why -->\n',
        'VOUCHED.td': 'alice\n',
        'CONTRIBUTING.md': 'Be kind.\n',
      },
    });
    bed.sandbox.maintainer.openIssue(upstream.owner, upstream.name, 'It is slow', 'Very.');
    const page = await chromium.newPage(browserOf(bed));
    await page.goto(`/v1/gh/${upstream.fullName}`);
    const rules = page.getByRole('region', { name: 'What its maintainers ask for' });
    expect(await rules.getByRole('listitem').count()).toBe(6);
    // A link stands in its sentence, not at the other edge as a date does.
    expect(await rules.locator('li > a').count()).toBe(0);
    await chromium.expectFit(page);
    await page.goto(`/v1/gh/${upstream.fullName}/change?path=${workflow}`);
    await page.getByText('a gate may close pull requests of the bot').waitFor();
    await page.getByText(`This changes workflows (${workflow})`).waitFor();
    await chromium.expectFit(page);
    const description = page.getByLabel('Description');
    expect(await description.inputValue()).toBe('## Why\n\n<!-- Say why -->\n');
    await description.fill('## Why\n\nIt is faster.');
    await page.getByLabel('Text of the file').fill('on: [push]\n');
    await page.getByLabel('Title').fill('Run less');
    await page.getByLabel('Was AI used?').selectOption('AI helped');
    await page.getByLabel('Number of the open issue').fill('7');
    await press(page, 'See what becomes public');
    await page.getByRole('alert').filter({ hasText: 'The issue is not open' }).waitFor();
    await page.getByLabel('Number of the open issue').fill('1');
    await press(page, 'See what becomes public');
    await heading(page, 'What becomes public');
    await page.getByText('AI disclosure: assisted').waitFor();
    await chromium.expectFit(page);
    await press(page, 'Open the pull request');
    await heading(page, 'Your pull request is open');
    expect(await bed.host.onlyPull(upstream)).toMatchObject({
      body: '## Why\n\nIt is faster.\n\nAI disclosure: assisted\nRefs #1',
    });
  });
});
