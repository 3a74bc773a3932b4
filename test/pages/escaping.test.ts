/** Whatever gets into a page is text there: no tag, no attribute, no second script. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { frontPage } from '../../src/pages/front-page.ts';
import { type Page, renderPage } from '../../src/pages/layout.ts';
import { pullRequestPage } from '../../src/pages/pull-request-page.ts';
import { remotePage } from '../../src/pages/remote-page.ts';
import { problemPage } from '../../src/pages/report-page.ts';

const plain = 'harmless';

/** Pages that say `text` wherever they can be made to say something. */
const PAGES: readonly ((text: string) => Page)[] = [
  (text) => problemPage(text, text),
  (text) =>
    remotePage(
      {
        repository: { owner: text, name: text },
        remoteBase: text,
        path: text,
        forms: { issue: text, reply: text, change: text },
        policy: null,
        pullRequests: [{ number: 1, url: `https://host.test/${text}`, state: 'open' }],
      },
      { sourceRepo: text, hosts: [] },
    ),
  (text) =>
    frontPage({
      text,
      hosts: [],
      path: text,
      isNamed: false,
      isInvalid: true,
      remoteBase: text,
      isSuspended: false,
      botProblems: [],
      total: 1,
      recent: [
        { id: 1, host: 'gh', owner: text, repo: text, prUrl: `https://host.test/${text}`, createdAt: text },
      ],
      now: 0,
    }),
  (text) =>
    pullRequestPage({
      pullRequest: {
        prHash: text,
        host: 'gh',
        owner: text,
        repo: text,
        number: 1,
        url: `https://host.test/${text}`,
        state: 'open',
        events: [{ id: 1, kind: 'commented', url: `https://host.test/${text}`, at: 0 }],
      },
      origin: text,
      needsKey: true,
    }),
];

/** The page without its texts and the values of its attributes. */
async function skeleton(page: Page, text: string): Promise<string> {
  const rendered = String(await renderPage(page, { sourceRepo: text, commitHash: text }));
  return rendered.replaceAll(/"[^"]*"/g, '""').replaceAll(/>[^<]*</g, '><');
}

it('a page has the same tags and attributes, whatever it says', async () => {
  const hostile = fc
    .array(
      fc.constantFrom(
        '<',
        '>',
        '"',
        "'",
        '&',
        '`',
        '=',
        '/',
        '</script>',
        '<img onerror=x>',
        '&lt;',
        'a',
        ' ',
        '\0',
      ),
      {
        maxLength: 12,
      },
    )
    .map((parts) => parts.join(''));
  for (const makePage of PAGES) {
    const expected = await skeleton(makePage(plain), plain);
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        expect(await skeleton(makePage(text), text)).toBe(expected);
      }),
    );
  }
});
