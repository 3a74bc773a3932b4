/**
 * What a Markdown text consists of, read by markdown-it. Hosts read nearly the same; what they may read in another way
 * is refused by whoever asks (footer-room.ts), or counts in both ways (noise.ts).
 */
import MarkdownIt, { type Token } from 'markdown-it';

/** Deeper nesting is refused. markdown-it leaves out what lies too deep, so it must read deeper. */
export const MOST_CONTAINERS = 50;
const MAX_NESTING = 4 * MOST_CONTAINERS;
/**
 * Lines that go on with a quote without its mark. For each of them, markdown-it may look through all lines of that quote
 * again.
 */
const MOST_LAZY_LINES = 50;
const MARKS = /^[\s>*+\d.)-]*/;

/**
 * Link definitions stay text, because markdown-it looks for their ends again and again, and hosts have footnotes in the
 * same form. Emphasis changes nothing that is asked here.
 */
const markdown = new MarkdownIt({ html: true, maxNesting: MAX_NESTING }).disable([
  'reference',
  'emphasis',
  'strikethrough',
]);

/** The tokens of a text; null: reading it could take long. Cost: linear in the text. */
export function tokensOf(text: string): readonly Token[] | null {
  let [depth, lazyLines] = [0, 0];
  for (const line of text.split(/[\r\n]/)) {
    const marks = MARKS.exec(line)?.[0].split('>').length ?? 0;
    if (marks < depth && line.trim() !== '') lazyLines++;
    depth = marks;
  }
  return lazyLines > MOST_LAZY_LINES ? null : markdown.parse(text, {});
}

/** What is written in a piece of HTML with numbers or names of characters. */
export function withCharacters(html: string): string {
  return markdown.utils.unescapeAll(html);
}

/** White space to some programs, and none to others. */
export const DISPUTED_SPACE =
  /<\/?[A-Za-z][^<>]*[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;

/** Whether a paragraph begins with what is a link definition or a footnote, and not shown where it stands. */
export function beginsWithDefinition(text: string): boolean {
  return text.startsWith('[') && text.includes(']:');
}
