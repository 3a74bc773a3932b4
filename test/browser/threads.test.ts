/**
 * Issues and replies from a browser without script: from the front page to the code host, and on
 * with the token.
 */
import { expect, it } from 'vitest';
import { contribute, expectAccepted } from '../e2e/support/contribution.ts';
import { useTestBed } from '../e2e/support/test-bed.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { browserOf, heading, press, saved } from './support/forms.ts';
import { exhaustive } from '../support/exhaustive.ts';

const bed = useTestBed();
const chromium = useChromium();

describeInBrowser('a person with a browser', () => {
  it(
    'opens an issue, replies to it under the same pseudonym, and loses nothing by mistakes',
    exhaustive,
    async () => {
      const upstream = await bed.createUpstream();
      const page = await chromium.newPage(browserOf(bed));
      await page.goto('/');
      await page.getByLabel('Which repository').fill(upstream.fullName);
      await press(page, 'Open');
      await page.waitForURL(`**/v1/gh/${upstream.fullName}`);
      await chromium.expectFit(page);
      await page.getByRole('link', { name: 'Report an issue' }).click();
      await chromium.expectFit(page);
      await page.getByLabel('Title').fill('Does not <start>');
      await page.getByLabel('Body').fill('\nIt says:\n\n```\nno');
      await press(page, 'Preview');
      await page.getByRole('alert').filter({ hasText: 'A code fence is never closed' }).waitFor();
      await chromium.expectFit(page);
      expect(await page.getByLabel('Title').inputValue()).toBe('Does not <start>');
      await page.getByLabel('Body').fill('\nIt says:\n\n```\nno\n```');
      await press(page, 'Preview');
      await heading(page, 'Preview of the issue');
      await chromium.expectFit(page);
      const shown = await page.locator('details pre').textContent();
      await press(page, 'Change it');
      expect(await page.getByLabel('Body').inputValue()).toBe('\nIt says:\n\n```\nno\n```');
      await press(page, 'Preview');
      await page.getByRole('button', { name: 'Open the issue' }).dblclick();
      await heading(page, 'Your issue is open');
      await chromium.expectFit(page);
      await page.reload();
      await heading(page, 'Your issue is open');
      expect(await bed.host.call('GET', `/repos/${upstream.fullName}/issues`)).toHaveLength(1);
      const issue = await bed.host.call('GET', `/repos/${upstream.fullName}/issues/1`);
      expect(issue).toMatchObject({ title: 'Does not <start>', body: shown });

      const token = await saved(page, 'Token');
      expect(token).toMatch(/^[A-Z2-7]{16}$/);
      expect(await page.locator('input[type=password]').count()).toBe(0);
      await press(page, 'Reply to this issue');
      await page.getByText('Does not <start>').waitFor();
      expect(await page.getByLabel('Your token (optional)').inputValue()).toBe(token);
      await chromium.expectFit(page);
      await page.getByLabel('Your reply').fill('It starts with `--force`.');
      await press(page, 'Preview');
      const text = await page.locator('details pre').textContent();
      expect(text).toMatch(/^It starts with `--force`\.\n\n---\nanon-[0-9a-f]{8} · karma \(1\) · \[report\]/);
      await chromium.expectFit(page);
      await press(page, 'Post the reply');
      await heading(page, 'Your reply is posted');
      await chromium.expectFit(page);
      const [comment] = await bed.host.call<{ body: string }[]>(
        'GET',
        `/repos/${upstream.fullName}/issues/1/comments`,
      );
      expect(comment?.body).toBe(text);
    },
  );

  it('sees Markdown as people will see it, and loads nothing of it', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const page = await chromium.newPage(browserOf(bed));
    await page.goto('/');
    await page.getByLabel('Which repository').fill(upstream.fullName);
    await press(page, 'Report an issue');
    await heading(page, 'Open an issue');
    await page.getByLabel('Title').fill('\u200eevil');
    const wide = `| ${'column | '.repeat(40)}\n|${' - |'.repeat(40)}\n| ${'x | '.repeat(40)}`;
    const text = `# Steps\n\n1. **Start** <b>it</b>\n\n![a cat](https://spy.test/x.png)\n\n${wide}\n\n\u200eabc`;
    await page.getByLabel('Body').fill(text);
    await press(page, 'Preview');
    const preview = page.getByRole('region', { name: 'As people see it' });
    await preview.getByRole('heading', { name: 'Steps' }).waitFor();
    expect(await preview.getByRole('listitem').innerHTML()).toBe(
      '<strong>Start</strong> &lt;b&gt;it&lt;/b&gt;',
    );
    await preview.getByText('[Picture: a cat]').waitFor();
    await preview.getByText('[U+200E]abc').waitFor();
    await page.getByRole('heading', { name: '[U+200E]evil' }).waitFor();
    expect(await page.locator('img').count()).toBe(0);
    await chromium.expectFit(page);
  });

  it("fills in the repository's own form, which fits a telephone", exhaustive, async () => {
    const upstream = await bed.createUpstream();
    const long = 'Which of these systems did you see it on, and how often in the last weeks? '.repeat(2);
    const boxes = `{type: checkboxes, attributes: {label: Terms, options: [{label: "${long}", required: true}]}}`;
    const choice = `{type: dropdown, attributes: {label: "${long}", multiple: true, options: [Linux, macOS]}}`;
    const text = '{type: textarea, attributes: {label: What happened}, validations: {required: true}}';
    const form = `name: Bug report\ndescription: ${'wrong'.repeat(30)}\nbody: [${text}, ${choice}, ${boxes}]\n`;
    await upstream.grow({ files: { '.github/ISSUE_TEMPLATE/bug.yml': form } });
    const page = await chromium.newPage(browserOf(bed));
    await page.goto(`/v1/gh/${upstream.fullName}/new-issue`);
    await chromium.expectFit(page);
    await page.getByRole('link', { name: 'Bug report' }).click();
    await heading(page, 'Open an issue: Bug report');
    await chromium.expectFit(page);
    await page.getByLabel('Title').fill('It fails');
    await page.getByLabel('What happened').fill('Nothing.');
    await page.getByLabel('macOS').check();
    await press(page, 'Preview');
    // The browser asks for the box, and sends nothing.
    await heading(page, 'Open an issue: Bug report');
    await page.getByLabel('Which of these').last().check();
    await press(page, 'Preview');
    await heading(page, 'Preview of the issue');
    await chromium.expectFit(page);
    await press(page, 'Open the issue');
    await heading(page, 'Your issue is open');
    const issue = await bed.host.call('GET', `/repos/${upstream.fullName}/issues/1`);
    expect(issue).toMatchObject({ body: expect.stringContaining('macOS\n\n### Terms\n\n- [x] ') as string });
  });

  it('replies to a pasted address, and is told which addresses do not fit', exhaustive, async () => {
    const upstream = await bed.createUpstream();
    await bed.host.call('POST', `/repos/${upstream.fullName}/issues`, { title: 'Slow' });
    const page = await chromium.newPage(browserOf(bed));
    await page.goto(`/v1/gh/${upstream.fullName}`);
    await page.getByRole('link', { name: 'Reply', exact: true }).click();
    await page.getByLabel('Number or address').fill('https://elsewhere.example/octo/hello/issues/1');
    await press(page, 'Reply');
    await page.getByText('This address is not on').waitFor();
    await chromium.expectFit(page);
    await page.getByLabel('Number or address').fill(`${bed.sandbox.url}/${upstream.fullName}/issues/1#top`);
    await press(page, 'Reply');
    await page.getByLabel('Your reply').fill('For me, too.');
    await press(page, 'Preview');
    await press(page, 'Post the reply');
    await heading(page, 'Your reply is posted');
    expect(await saved(page, 'Token')).toMatch(/^[A-Z2-7]{16}$/);
  });

  it('reads what people wrote on the page of their pull request, and replies', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const { banner, pull } = await expectAccepted(bed, contribution, await clone.push());
    const on = { owner: upstream.owner, repo: upstream.name, number: pull.number };
    const wide = `${'x'.repeat(300)} https://docs.test/${'y'.repeat(200)}`;
    bed.sandbox.maintainer.comment(on, `Thank you!\n\nPlease see ${wide}`, 'mona');
    const remark = { path: `src/${'deep/'.repeat(30)}a.ts`, body: 'Off by one?' };
    bed.sandbox.maintainer.review(on, 'CHANGES_REQUESTED', 'Add a test.', 'hubot', [remark]);
    const page = await chromium.newPage(browserOf(bed));
    await expect.poll(async () => (await page.goto(`/v1/pr/${banner.prHash}`))?.status()).toBe(200);
    await page.getByText('Off by one?').waitFor();
    await chromium.expectFit(page);
    await page.getByRole('link', { name: 'Reply' }).click();
    await heading(page, `Reply to #${pull.number}`);
    await page.getByText('Add a test.').waitFor();
    await chromium.expectFit(page);
    bed.sandbox.maintainer.lock(on);
    await page.goto(`/v1/gh/${upstream.fullName}/reply?to=99`);
    await page.getByText('has no issue or pull request #99').waitFor();
    await chromium.expectFit(page);
  });
});
