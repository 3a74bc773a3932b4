/**
 * The pictures in the documents. `UPDATE_SCREENSHOTS=1` takes them again; without it, only their
 * files are looked for, so that a run of the tests changes no tracked file.
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bannerOf } from '../e2e/support/push-output.ts';
import { useOwnTestBed } from '../e2e/support/test-bed.ts';
import { TEST_HEADER } from '../e2e/support/tripwire.ts';
import { describeInBrowser, useChromium } from './support/chromium.ts';
import { exhaustive } from '../support/exhaustive.ts';

const ROOT = join(import.meta.dirname, '../..');
const REMOTE_PAGE = 'docs/images/remote-page.png';
const CHANGE = 'docs/images/change.png';
const PULL_REQUEST = 'docs/images/pull-request.png';

/** An address as an operator has it; the test bed's own has another port on each run. */
const SERVICE_HOST = 'git.example.org';
const LOOK = { viewport: { width: 900, height: 600 }, colorScheme: 'light' } as const;
const WHOLE_PAGE = { fullPage: true, animations: 'disabled' } as const;

describe.runIf(process.env['UPDATE_SCREENSHOTS'])('taken again', exhaustive, () => {
  const bed = useOwnTestBed({ env: { SERVICE_URL: `https://${SERVICE_HOST}`, COMMIT_HASH: 'main' } });
  const chromium = useChromium();

  describeInBrowser('in a browser', () => {
    it('the page of a remote, and a change of a file', async () => {
      const upstream = await bed.createUpstream({ owner: 'octo', name: 'guide', commits: 0 });
      await upstream.grow({
        files: {
          'README.md': '# Guide\n\nFirst, instal it.\nThen run it.\n',
          'CONTRIBUTING.md': 'Be kind.\n',
          '.gitveil.yml': 'sign_off: required\n',
        },
      });
      for (const title of ['It says nothing about Windows', 'The second step fails behind a proxy'])
        bed.sandbox.maintainer.openIssue('octo', 'guide', title, 'It does.');
      const extraHTTPHeaders = { 'X-Forwarded-Host': SERVICE_HOST };
      const page = await chromium.newPage({ ...LOOK, baseURL: bed.service.url, extraHTTPHeaders });
      await page.goto('/v1/gh/octo/guide');
      await page.screenshot({ ...WHOLE_PAGE, path: join(ROOT, REMOTE_PAGE) });
      await page.goto('/v1/gh/octo/guide/change?path=README.md');
      const text = page.getByLabel('Text of the file');
      await text.fill((await text.inputValue()).replace('instal', 'install'));
      await page.getByLabel('Title').fill('Correct a typo');
      await page.getByLabel('Description').fill('It is “install”.');
      await page.getByLabel('I affirm').check();
      await page.getByRole('button', { name: 'See what becomes public' }).click();
      await page.getByRole('heading', { name: 'What becomes public' }).waitFor();
      await page.screenshot({ ...WHOLE_PAGE, path: join(ROOT, CHANGE) });
    });

    it('a pull request', async () => {
      const upstream = await bed.createUpstream({ owner: 'octo', name: 'hello', commits: 0 });
      await upstream.grow({ files: { 'hello.sh': '#!/bin/sh\necho "Hello, world"\n' } });
      const clone = await bed.person().clone(upstream.url);
      const message = 'Greet people by name\n\nWithout a name, the script still greets the world.\n';
      await clone.commit({ message, files: { 'hello.sh': '#!/bin/sh\necho "Hello, ${1:-world}"\n' } });
      const { prUrl } = bannerOf(await clone.push());
      const extraHTTPHeaders = { [TEST_HEADER]: '1' };
      const page = await chromium.newPage({ ...LOOK, baseURL: bed.sandbox.url, extraHTTPHeaders });
      await page.goto(prUrl);
      // What is below it, such as the forms of a maintainer, belongs to the embedded host alone.
      const below = await page.getByRole('heading', { name: 'Reviews' }).boundingBox();
      const clip = { x: 0, y: 0, width: LOOK.viewport.width, height: Math.floor(below?.y ?? 0) };
      await page.screenshot({ ...WHOLE_PAGE, clip, path: join(ROOT, PULL_REQUEST) });
    });
  });
});

it.each([
  ['docs/privacy.md', REMOTE_PAGE],
  ['docs/privacy.md', CHANGE],
  ['docs/maintainers.md', PULL_REQUEST],
])('%s shows %s', exhaustive, async (document, path) => {
  expect(await readFile(join(ROOT, document), 'utf8')).toContain(`](${path.replace('docs/', '')})`);
  expect((await stat(join(ROOT, path))).size).toBeGreaterThan(10_000);
});
