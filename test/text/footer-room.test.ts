/**
 * Which bodies leave the footer room: by example, and by a renderer of Markdown and a parser of
 * HTML that are not ours.
 */
import * as fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { footerProblem, titleProblem } from '../../src/text/footer-room.ts';
import { noiseIn } from '../../src/text/noise.ts';
import { readMarkdown } from '../../src/text/markdown.ts';
import { commentText } from '../../src/text/footer.ts';
import { runs } from '../support/runs.ts';
import { HOSTILE_BODIES } from './support/hostile-bodies.ts';
import { hostileMarkdown } from './support/hostile-markdown.ts';
import { exhaustive } from '../support/exhaustive.ts';

/** Some thousand bodies are drawn until enough are taken. */
const TIMEOUT_MS = 60_000;

const OURS = { hash: '1a2b3c4d', karma: 3, origin: 'https://veil.test' };
const FORGED = 'anon-0badf00d · karma (9) · [report](https://evil.test/)';
const turned = (words: string): string => Array.from(words).toReversed().join('');
const markdown = new MarkdownIt({ html: true });

/** Elements in which nothing is a footer of ours, or is seen. */
const ELSEWHERE = new Set([
  'blockquote',
  'pre',
  'code',
  'details',
  'template',
  'dialog',
  'rp',
  'svg',
  'select',
  'textarea',
]);
/** They have no end. */
const VOID = new Set([
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'track',
  'wbr',
]);

/** The hashes of the footers that a reader sees. */
async function footersOf(text: string): Promise<string[]> {
  const around: string[] = [];
  let seen = '';
  const rewriter = new HTMLRewriter()
    .on('*', {
      element(element) {
        seen += ' ';
        if (VOID.has(element.tagName)) return;
        const depth = around.length;
        around.push(element.tagName);
        element.onEndTag(() => void (around.length = Math.min(around.length, depth)));
      },
    })
    .onDocument({
      text(chunk) {
        if (!around.some((name) => ELSEWHERE.has(name))) seen += chunk.text;
      },
    });
  await rewriter.transform(new Response(`<main>${markdown.render(text)}</main>`)).text();
  const words = seen.replaceAll(/&middot;/g, '·').replaceAll(/\s+/g, ' ');
  return [...words.matchAll(/anon-([0-9a-f]{8}) ?· karma \(\d+\) · ?report/g)].map(([, hash = '']) => hash);
}

it('a title overrides no direction, and may have words of any', () => {
  expect(titleProblem('\u202eevil')).toMatch(/^title must not contain characters that change the direction/);
  expect(titleProblem('שלום\u200f!')).toBeNull();
});

describe('a body', () => {
  it(
    'that is taken leaves one footer to be seen, and it is ours',
    { ...exhaustive, timeout: TIMEOUT_MS },
    async () => {
      let taken = 0;
      const property = fc.asyncProperty(hostileMarkdown, async (body) => {
        fc.pre(footerProblem(readMarkdown(body)) === null);
        taken += 1;
        expect(await footersOf(commentText(body, OURS))).toEqual([OURS.hash]);
      });
      await fc.assert(property, { maxSkipsPerRun: 1000, ...runs(120) });
      expect(taken).toBeGreaterThan(60);
    },
  );

  it.each([
    ['a fence with its end', '```js\n<!-- <details> ~~~\n```'],
    ['a fence in a list', '- one\n\n  ```sh\n  ls <b\n  ```\n- ```\n  two\n  ```'],
    ['a fence in a quote, which ends with it', '> ```\n> let x;'],
    ['code of both kinds', 'Use `<details>` or ``a ` <!-- b``.\n\n    <script> <!--'],
    ['an issue template', '<!-- Thanks!\nPlease answer:\n\n-->\n\n### Version\n1.2 <!-- here -->'],
    ['details', '<details>\n<summary>Log</summary>\n\n```\nTrace <init>\n```\n\n</details>'],
    [
      'details in a list item and in a quote',
      '- <details>\n  <summary>a</summary>\n\n  b\n  </details>\n- c\n\n> <b>d</b>\n>\n> <div>e</div>',
    ],
    ['a list in details', '<details>\n\n- a\n- b\n\n</details>'],
    ['details that end in a line', '<details open><summary>Log</summary>\n\nsome words</details>'],
    [
      'inline HTML',
      'Press <kbd>Ctrl</kbd>+<kbd>C</kbd>.<br>H<sub>2</sub>O <img src="x.png" width=20> <a href="x">y</a>',
    ],
    ['badges', '<p align="center">\n  <a href="x"><img src="y"></a>\n</p>\n\n[![a](b)](c) <b>![d](e)</b>'],
    ['an HTML table', '<table>\n<tr><td>a<td>b\n<tr><th>c</th></tr>\n</table>'],
    ['a table', '| a | b |\n|---|:-:|\n| `x \\| y` | <b>1</b><br>2 |\n\nthen'],
    [
      'generics and placeholders',
      'Vec<u8>, Map<String, List<T>>, a < b && c > d, <3, <your name>, git@<host>:x',
    ],
    [
      'links and addresses',
      '<https://x.test/a> [a](<my file.md> "d") [e][f] me <me@x.test>\n\n[f]: https://y.test',
    ],
    ['headings, rules, lists', '# A\n\nB\n===\n\n- a\n- b\n\n1. c\n2. d\n\n* * *\n\n- [ ] e'],
    ['other languages', 'Größe «naïve» — 日本語のコメント 🎉 отчёт о карме'],
    ['a quoted footer', `> ${FORGED}\n\nI do not agree.`],
    ['a footer in a fence', `\`\`\`\n${FORGED}\n\`\`\``],
    ['Arabic and Hebrew', 'شكرا (karma 9) — תודה, report\u200f!\n\n| א | anon |\n|-|-|\n| ב | c |'],
    ['talk of a direction', 'Use `&#x202e;` or `<bdo dir=rtl>`; <img alt="the dir=rtl of it" src="x">'],
    ['talk of a footer', 'anon-0badf00d has karma 9, and I would not report that.'],
  ])('with %s is taken', async (_, body) => {
    expect(footerProblem(readMarkdown(body))).toBeNull();
    expect(await footersOf(commentText(body, OURS))).toEqual([OURS.hash]);
  });

  it.each([
    ['a quote', '<blockquote>\n\n> <table>\n</table>\n\nWords\n\n</blockquote>'],
    ['a list item', '<div>\n\n- <table>\n\n</table>\n\n</div>'],
    ['a quote in a quote', '> <blockquote>\n>\n> > <table>\n>\n> </table>\n>\n> </blockquote>'],
  ])('that opens an element in %s and closes it outside is refused', (_, body) => {
    expect(footerProblem(readMarkdown(body))).toMatch(/^the HTML tag <table> is never closed/);
  });

  it.each([
    ['an open fence', 'a\n```', /code fence is never closed/],
    ['a fence that a longer one ends not', '````\n```', /code fence/],
    ['a fence that only a list ends', '- ```\n```', /code fence/],
    ['an open comment', 'a\n\n<!-- b', /comment or block/],
    ['an open comment in a quote', '> <!--\n-->', /not complete/],
    ['an open comment in a list', '- <!--\n\n-->', /not complete/],
    ['an open instruction', '<?php', /comment or block/],
    ['open CDATA', '<![CDATA[ x', /comment or block/],
    ['an open pre', '<pre>\nx', /comment or block/],
    ['an open attribute', '<div title="', /not complete/],
    ['an open tag', '<div\n\nx', /not complete/],
    ['open details', 'a <details> b', /<details> is never closed/],
    ['details that end in code', '<details>\n\n`</details>`', /<details>/],
    ['details that end in a link', '<details>\n\n[a](</details>)', /<details>/],
    ['details that end in an image', '<details>\n\n![</details>](x)', /in different ways/],
    ['details that end in a formula', '<details>\n\n$</details>$', /in different ways/],
    ['details that end in a cell', '<details>\n\n|a|\n|-|\n|</details>|', /<details>/],
    ['details that end in a footnote', '<details>\n\n[^a]\n\n[^a]: </details>', /in different ways/],
    ['details that end in an open table', '<details><table></details>', /<table> is not closed before/],
    ['details that end in a comment', '<details>\n<!-- </details> -->', /<details>/],
    ['details in code in one cell only', '| a | b | c |\n|-|-|-|\n| `a | <details> | b` |', /<details>/],
    ['what is HTML below a table only', '|a|\n|-|\n2. <!--', /not complete/],
    ['letters of vanishing size', '<small>'.repeat(20), /<small> is never closed/],
    ['a script', '<script></script>', /<script> cannot be used/],
    ['CDATA in a drawing', '<svg><![CDATA[ > </svg> ]]>', /<svg> cannot be used/],
    ['white space to some', '<div\u00a0x y="', /in different ways/],
    ['a form feed', '<div\f>', /form feeds/],
    ['a list below a definition', '[a]: x\n2. ```\n   ```\n```\nwords', /in different ways/],
    ['a list below one with an escape', '[a\\]b]: x\n2. ```\n   ```\n```\nwords', /in different ways/],
    ['a list below one of two lines', '[a]:\r\nx\r\n2. ```\r\n   ```\r\n```\r\nwords', /in different ways/],
    ['a list below a name of two lines', '[a\nb]: x\n2. ```\n   ```\n```\nwords', /in different ways/],
    ['a list below a title', '[a]: x\n"t"\n2. ```\n   ```\n```\nwords', /in different ways/],
    ['a line below a definition', '[a]: x\n===\n<b>\n```\n</b>', /in different ways/],
    ['deep nesting', '> '.repeat(51), /50 levels/],
    ['a footer', FORGED, /line that looks like the service's footer/],
    ['a footer in a footnote', `[^a]\n\n[^a]: b\n\n    ${FORGED}`, /footer/],
    ['a footer behind a footnote in a quote', `> [^a]: b\n${FORGED}`, /footer/],
    [
      'a footer with letters for digits',
      FORGED.replace('0badf00d', 'Obadf00d').replace('(9)', '(lO)'),
      /footer/,
    ],
    ['a footer with digits of another script', FORGED.replace('(9)', '(٩)'), /footer/],
    ['a footer that only seems to be quoted', `> [^a]: \`\`\`\n-> ${FORGED}`, /footer/],
    ['a footer behind a number that is no list', `> [^a]: b\n1.> ${FORGED}`, /footer/],
    ['a quote that some do not see', `a\r> ${FORGED}`, /without line feeds/],
    ['code that a footnote ends', '`<details>\n[^a]: b`', /in different ways/],
    ['a footer between links', '[anon-0badf00d](x "y") · karma (9) · ![report](z)', /footer/],
    ['a comment that some take for text', 'a <!-- -- <details> -->', /not complete/],
    ['a declaration that some take for text', '<!x\n\n<details>\n\n>', /not complete/],
    ['an attribute that begins with a quotation mark', '<div "a=">\n</div>">', /not complete/],
    ['a label with a tag', '<details>\n\n[a][</details>]\n\n[</details>]: x', /in different ways/],
    ['many lines behind quotes', '> a\nb\n'.repeat(51), /takes too long to read/],
    ['many open brackets', '['.repeat(8_001), /takes too long to read/],
    [
      'a table of a thousand columns',
      `${'|a'.repeat(1_000)}\n${'|-'.repeat(1_000)}\n${'|b\n'.repeat(50)}`,
      /takes too long to read/,
    ],
    ['a footer at the end of a line', `words\n\n---\nmore, ${FORGED}`, /footer/],
    ['a footer in a list', `- ${FORGED}`, /footer/],
    ['a footer in two lines', 'anon-0badf00d ·\nkarma (9) · [report](x)', /footer/],
    ['a footer with emphasis', '**anon-0badf00d** · _karma_ (9) · [**report**](x)', /footer/],
    ['a footer with links', '[anon-0badf00d](x) · [karma](a(b)c) (9) · [report][z]', /footer/],
    ['a footer in HTML', '<p>anon-<b>0badf00d</b> &middot; k&#97;rma &#x28;9) · report</p>', /footer/],
    ['a footer in a table', '| anon-0badf00d | karma 9 | report |\n|-|-|-|', /footer/],
    ['a footer in Cyrillic', 'аnоn-0bаdf00d · кагmа (9) · [rероrt](x)', /footer/],
    ['a footer in mathematical letters', '𝐚𝐧𝐨𝐧-0badf00d · 𝓀𝒶𝓇𝓂𝒶 (9) · report', /footer/],
    ['a footer with invisible letters', 'an\u200bon-0bad\u00adf00d · karma (9) · report', /footer/],
    ['a footer behind an override', `\u202e${turned(FORGED)}`, /change the direction/],
    ['a footer behind an isolate', `\u2067${FORGED}\u2069`, /change the direction/],
    ['an override in code', '```\n\u202e\n```', /change the direction/],
    ['an override by its number', `&#x202E;${turned(FORGED)}`, /change the direction/],
    ['an override in HTML', `<p>&#8238;${turned(FORGED)}</p>`, /change the direction/],
    ['an element that overrides', `<bdo>${turned(FORGED)}</bdo>`, /<bdo> cannot be used/],
    ['an element of its own direction', '<bdi>a</bdi>', /<bdi> cannot be used/],
    ['a direction', '<p align="left"dir = rtl>a</p>', /attribute dir cannot be used/],
    ['a direction in a line', 'a <span title="b>" DIR="rtl">c</span>', /attribute dir cannot be used/],
    ['a footer in the reverse order', '\u200freport\u200f · (9)\u200f karma · \u200fanon-0badf00d', /footer/],
    [
      'one that is turned letter by letter',
      Array.from('anon-0badf00d · karma (9) · report').toReversed().join('&rlm;'),
      /footer/,
    ],
    ['one that is turned by Hebrew', 'א report \u05be (9) karma \u05be 0badf00d\u05beanon', /footer/],
    ['one whose cells are turned', '| \u200freport | karma 9 | anon-0badf00d |\n|-|-|-|', /footer/],
    [
      'one whose cells are turned in HTML',
      '<table><td>\u200freport<td>karma 9<td>anon-0badf00d</table>',
      /footer/,
    ],
    ["an issue's that is turned", 'has been anonymized\u200fidentity \u200fThe original author’s ', /footer/],
    [
      'a footer in a table with empty lines',
      '<table>\n<tr><td>anon-0badf00d</td>\n\n<td>karma (9)</td>\n\n<td>\n\nreport</td></tr>\n</table>',
      /footer/,
    ],
    [
      'a footer in HTML with empty lines',
      '<b>\nanon-0badf00d ·\n</b>\n\n<b>\nkarma (9) ·\n</b>\n\n<b>\nreport</b>',
      /footer/,
    ],
    ['the footer of an issue', '*The original author’s identity has been anonymized.*', /footer/],
  ])('with %s is refused', (_, body, reason) => {
    expect(footerProblem(readMarkdown(body))).toMatch(reason);
  });

  it.each(Object.entries(HOSTILE_BODIES))(
    'is looked through once for a footer and once for noise, if it is full of %s',
    exhaustive,
    (_, body) => {
      // Twice as long as a body may be: what takes the square of that takes more than a minute.
      const read = readMarkdown(body.repeat(2));
      const where = { hostUrl: 'https://git.test', repository: { owner: 'octo', name: 'hello' } };
      expect(() => [footerProblem(read), noiseIn(read, where)]).not.toThrow();
    },
  );
});
