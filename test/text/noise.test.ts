/**
 * Which texts would disturb many people: by example, by a renderer of Markdown that is not ours,
 * and for any text.
 */
import * as fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { readMarkdown } from '../../src/text/markdown.ts';
import { noiseIn, noiseProblem } from '../../src/text/noise.ts';
import { runs } from '../support/runs.ts';
import { hostileMarkdown } from './support/hostile-markdown.ts';

const WHERE = { hostUrl: 'https://git.test', repository: { owner: 'octo', name: 'hello' } };
const PEOPLE = 'mentions more than 5 people or teams';
const OTHERS = 'refers to more than 5 issues, pull requests or commits of other repositories';

const noise = (text: string): string | null => noiseIn(readMarkdown(text), WHERE);
const problem = (title: string, body: string): string | null =>
  noiseProblem({ title: readMarkdown(title), body: readMarkdown(body) }, WHERE);
/** So many different ones. */
const times = (count: number, one: (index: number) => string, between = ' '): string =>
  Array.from({ length: count }, (_, index) => one(index)).join(between);
const six = (one: (index: number) => string, between?: string): string => times(6, one, between);

describe('a text that mentions six', () => {
  it.each<[what: string, text: string]>([
    ['people', six((n) => `@user${n}`)],
    ['people in sentences', six((n) => `(@user-${n}), "@User${n}": thanks!`)],
    ['people with dots behind them', six((n) => `@user${n}.`)],
    ['people in emphasis', six((n) => `_@user${n}_ **@user${n}**`)],
    ['people behind other letters', six((n) => `é@user${n}`)],
    ['teams', six((n) => `@octo/team-${n}`)],
    ['people in a list in a quote', six((n) => `> - @user${n}`, '\n')],
    ['people deeper than a renderer looks', `${'>'.repeat(250)} ${six((n) => `@user${n}`)}`],
    ['people in a heading', `# ${six((n) => `@user${n}`)}`],
    ['people in HTML', `<div>\n${six((n) => `@user${n}`)}\n</div>`],
    ['people in a table', `| a | b |\n|---|---|\n${six((n) => `| @user${n} | b |`, '\n')}`],
    [
      'people between marks of code in different cells',
      `|a|b|c|\n|-|-|-|\n| \` | ${six((n) => `@u${n}`)} | \` |`,
    ],
    ['people behind an escape', six((n) => `\\@user${n}`)],
    ['people who differ behind an escape', six((n) => `@user\\-${n}`)],
    ['people by numbers of characters', six((n) => `&#64;&#x75;ser${n} &commat;user${n}`)],
    ['people behind marks that begin no code', `\\\`${six((n) => `@user${n}`)}\``],
    ['people behind a mark without an end', `\`\`${six((n) => `@user${n}`)}\``],
    ['people behind the end of a fence', `\`\`\`\n\`\`\`\n${six((n) => `@user${n}`)}`],
    ['people below a paragraph, indented', `Thanks\n    ${six((n) => `@user${n}`)}`],
    [
      'people between marks that belong to HTML',
      `<a title="\`">${six((n) => `@u${n}`)}</a> <a title="\`"></a>`,
    ],
    ['people between marks that belong to a definition', `[\`]: /x\n${six((n) => `@u${n}`)} \``],
    ['people behind a tag that only some programs see', `<details\u00a0x>\n> \n\`${six((n) => `@u${n}`)}\``],
    ['people in code whose beginning is a value', `<div>\n<a title="\n\n\`\`\`\n${six((n) => `@u${n}`)}`],
    ['people behind a tag below a definition', `[a]: x\n<b>\n\`\`\`\n${six((n) => `@u${n}`)}`],
    ['people behind one with another line end', `[a]: x\r\n<b>\r\n\`\`\`\r\n${six((n) => `@u${n}`)}`],
    ['people behind one with an escape', `[a\\]b]: x\n<b>\n\`\`\`\n${six((n) => `@u${n}`)}`],
    ['people behind one of two lines', `[a]:\nx\n<b>\n\`\`\`\n${six((n) => `@u${n}`)}`],
    ['people behind a name of two lines', `[a\nb]: x\n<b>\n\`\`\`\n${six((n) => `@u${n}`)}`],
    ['people in a script', `<script>\n\n\`\`\`\n${six((n) => `@u${n}`)}`],
    ['people behind an address', six((n) => `https://a.test/x)@user${n}`)],
    ['people behind what is no address', six((n) => `https://@user${n}`)],
  ])('%s is noise', (_, text) => {
    expect(noise(text)).toBe(PEOPLE);
  });
});

describe('a text that refers to six', () => {
  it.each<[what: string, text: string]>([
    ['issues', six((n) => `other/repo#${n}`)],
    ['pull requests of a Forgejo', six((n) => `other/repo!${n}`)],
    ['commits', six((n) => `other/repo@abc123${n}`)],
    ['links to issues', six((n) => `https://git.test/other/repo/issues/${n}`)],
    ['links to pull requests', six((n) => `[x](https://www.git.test/other/repo/pull/${n}/files)`)],
    ['links to commits', six((n) => `<http://GIT.test/other/repo/commit/abc123${n}>`)],
    ['links in HTML', six((n) => `<a href="https://git.test/o/r/pulls/${n}">x</a>`, '\n\n')],
    ['links in definitions', six((n) => `[${n}]: https://git.test/o/r/issues/${n}`, '\n')],
    ['of several repositories', six((n) => `octo/hello${n}#1`)],
  ])('%s is noise', (_, text) => {
    expect(noise(text)).toBe(OTHERS);
  });
});

describe('a text is no noise', () => {
  it.each<[what: string, text: string]>([
    ['with five people', times(5, (n) => `@user${n}`)],
    ['with one person many times', times(99, (n) => (n % 2 === 0 ? '@User' : '@user'))],
    ['with five references', times(5, (n) => `other/repo#${n}`)],
    [
      'with one reference in every form',
      times(9, () => 'o/r#1 https://git.test/O/R/issues/1 https://git.test/o/r/pull/1'),
    ],
    [
      'with many references to the same repository',
      times(99, (n) => `#${n} Octo/Hello#${n} https://git.test/octo/hello/issues/${n}`),
    ],
    [
      'with many links elsewhere',
      times(99, (n) => `https://git.test/other/repo/tree/${n} https://other.test/o/r/issues/${n}`),
    ],
    ['with addresses', times(99, (n) => `user${n}@a${n}.test a_@b${n} mailto:x@y${n}.test`)],
    ['with @ in links', times(99, (n) => `https://a.test/@user${n} [x](https://a.test/@user${n})`)],
    ['with @ and no name', '@ @- @_ @@ a @'.repeat(9)],
    ['with code spans', six((n) => `\`@user${n} other/repo#${n}\` \`\` \` @u${n} \`\``)],
    ['with code over two lines', `\`${six((n) => `@user${n}`, '\n')}\``],
    ['with a fence', `\`\`\`js\n${six((n) => `@user${n}`, '\n')}\n\`\`\``],
    ['with a fence without an end', `~~~\n${six((n) => `@user${n}`, '\n')}`],
    ['with indented code', `Like this:\n\n    ${six((n) => `@user${n}`)}`],
    ['with code in a table', `| a |\n|---|\n${six((n) => `| \`@user${n}\` |`, '\n')}`],
  ])('%s', (_, text) => {
    expect(noise(text)).toBeNull();
  });

  it('if its title and its body have five each', () => {
    const five = times(5, (n) => `@user${n}`);
    expect(problem(five, five.replaceAll('user', 'other'))).toBeNull();
    expect(problem(five, `${five} @x`)).toBe(`body ${PEOPLE}; leave some out, or write them in backticks`);
  });
});

describe('any text', () => {
  const markdown = new MarkdownIt({ html: true });

  it('that a renderer shows with six people outside code is noise', async () => {
    const names = fc.constantFrom(...Array.from({ length: 9 }, (_, index) => `@u${index}`));
    const words = fc.array(names, { minLength: 6, maxLength: 9 }).map((all) => ` ${all.join(' ')} `);
    const text = fc
      .array(fc.oneof(hostileMarkdown, words, fc.constantFrom('\n', '`', '``', '|')), { maxLength: 6 })
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(text, async (body) => {
        const shown = await withoutCode(markdown.render(body));
        const mentioned = new Set(
          [...shown.matchAll(/(?<![a-z0-9_])@u\d(?![a-z0-9_])/g)].map(([name]) => name),
        );
        if (mentioned.size > 5) expect(noise(body)).not.toBeNull();
      }),
      runs(100),
    );
  });

  it('gets more noisy with more words around it, unless they make it code', () => {
    const plain = fc.stringMatching(/^[a-z @#/.-]{0,60}$/);
    fc.assert(
      fc.property(plain, plain, (before, behind) => {
        const text = six((n) => `@user${n}`);
        expect(noise(`x${before}\n\n${text}\n\n${behind}`)).not.toBeNull();
      }),
      runs(100),
    );
  });
});

/** The text that a browser shows outside of code. */
async function withoutCode(html: string): Promise<string> {
  let [depth, seen] = [0, ''];
  const rewriter = new HTMLRewriter()
    .on('code', {
      element(element) {
        depth += 1;
        seen += ' ';
        element.onEndTag(() => void (depth -= 1));
      },
    })
    .onDocument({
      text(chunk) {
        if (depth === 0) seen += chunk.text;
      },
    });
  await rewriter.transform(new Response(`<main>${html}</main>`)).text();
  return seen;
}
