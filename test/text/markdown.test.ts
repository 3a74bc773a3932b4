/**
 * The preview of a Markdown text: what a host shows of it, and nothing that could act on our page.
 */
import { array, assert, constantFrom, property } from 'fast-check';
import { expect, it } from 'vitest';
import { readMarkdown, renderedMarkdown } from '../../src/text/markdown.ts';

const TAG =
  /<(?:\/?(?:p|h3|strong|em|s|blockquote|ul|ol|li|table|thead|tbody|tr|th|td|pre|code|a)|hr|br|ol start="\d+"|a href="(?:https?:\/\/|mailto:)[^"<>]*")>/g;

/** The rest of HTML without the elements that are allowed. */
const besides = (html: string): string => html.replaceAll(TAG, '');

it('shows what people write', () => {
  const text = '## Steps\n\n1. `run`\n2. **see**\n\n> quoted\n\n| a |\n|---|\n| ~~b~~ |\n\nfirst\nsecond';
  expect(renderedMarkdown(text).replaceAll('\n', '')).toBe(
    '<h3>Steps</h3><ol><li><code>run</code></li><li><strong>see</strong></li></ol>' +
      '<blockquote><p>quoted</p></blockquote>' +
      '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td><s>b</s></td></tr></tbody></table>' +
      '<p>first<br>second</p>',
  );
});

it.each([
  ['HTML', '<img src=x onerror=alert(1)><script>alert(1)</script>'],
  ['a block of HTML', '<div onclick="alert(1)">\n\nx\n\n</div>'],
  ['a link that runs', '[a](javascript:alert(1)) <javascript:alert(1)> [b](JaVaScRiPt&colon;alert(1))'],
  [
    'a link that leaves its quotes',
    '[a](https://x.test/"onclick="alert(1)) [b](https://x.test "t" onclick=x)',
  ],
  ['a link of ours', '[a](/admin/panic)'],
  ['a picture', '![<b>x</b>](https://spy.test/x.png "t")'],
  ['the language of code', '```"><script>\nx\n```'],
  ['the start of a list', '999999999. x'],
  ['columns that are aligned', '| a |\n|:-:|\n| b |'],
])('has nothing else of %s', (_, text) => {
  expect(besides(renderedMarkdown(text))).not.toMatch(/[<>"]/);
});

it('says what a picture shows, and does not load it', () => {
  expect(renderedMarkdown('![a cat](https://spy.test/x.png)')).toBe('<p>[Picture: a cat]</p>');
});

it('has nothing but what is allowed, whatever is typed', () => {
  const words = 'a https://x.test javascript: <b onclick=x> </ <!-- --> &lt; &#60; 1. ``` > | - |'.split(' ');
  const pieces = [...Array.from('<>"\'&`*_~[]()!|:-=#\n\t \\/\u202e\u200b\0'), ...words];
  assert(
    property(array(constantFrom(...pieces), { maxLength: 60 }), (typed) => {
      expect(besides(renderedMarkdown(typed.join('')))).not.toMatch(/[<>"]/);
    }),
    { numRuns: 700 },
  );
});

/** A table of `rows` rows that markdown-it fills up with empty cells: far more than characters. */
const wideTable = (rows: number): string =>
  `${'|'.repeat(257)}\n|${'-|'.repeat(256)}\n${'a\n'.repeat(rows)}\n`;

it('stops at a number of tokens, and shows the text as it is typed', () => {
  const text = wideTable(250).repeat(40);
  expect(readMarkdown(text).tokens).toBeNull();
  expect(renderedMarkdown(text)).toBe(`<pre>${text}</pre>`);
  // Only the preview sees a table there: elsewhere it is HTML.
  const within = `<div>\n${wideTable(250).repeat(2)}`;
  expect(renderedMarkdown(within)).toBe(`<pre>${within.replace('<div>', '&lt;div&gt;')}</pre>`);
});

it('shares a budget between texts', () => {
  const budget = { tokensLeft: 1_000 };
  expect(renderedMarkdown('*a*', budget)).toBe('<p><em>a</em></p>');
  expect(renderedMarkdown(wideTable(2), budget)).toContain('<pre>');
  expect(renderedMarkdown('*a*', budget)).toBe('<pre>*a*</pre>');
});
