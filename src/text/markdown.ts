/**
 * Markdown as markdown-it reads it. What hosts may read otherwise is refused (footer-room.ts) or
 * counts (noise.ts).
 */
import MarkdownIt, { type Token } from 'markdown-it';

/** Deeper nesting is refused. markdown-it leaves out what lies too deep, so it must read deeper. */
export const MOST_CONTAINERS = 50;
const MAX_NESTING = 4 * MOST_CONTAINERS;
/**
 * For each line that goes on with a quote without its mark, markdown-it may look through all of
 * that quote again.
 */
const MOST_LAZY_LINES = 50;
/** For each open bracket, it looks through the rest of the paragraph. */
const MOST_OPEN_BRACKETS = 8_000;
/**
 * It fills up rows: a table of thousands of columns has many times as many cells as its text has
 * characters.
 */
const MOST_TOKENS = 100_000;
const MARKS = /^[\s>*+\d.)-]*/;

/**
 * Link definitions stay text: their ends cost much to find, and hosts have footnotes. Emphasis
 * changes no answer.
 */
const markdown = new MarkdownIt({ html: true, maxNesting: MAX_NESTING }).disable([
  'reference',
  'emphasis',
  'strikethrough',
]);

export interface Markdown {
  readonly text: string;
  /** Of the text with a footer below; null: reading it could take long. */
  readonly tokens: readonly Token[] | null;
}

/** Begins as our footers do. */
const FOOTER = '\n\n---\nfooter';

/** Reads a text, once for all that is asked of it. */
export function readMarkdown(text: string): Markdown {
  if (isSlow(text)) return { text, tokens: null };
  const tokens = markdown.parse(text + FOOTER, {});
  return { text, tokens: tokens.length > MOST_TOKENS ? null : tokens };
}

function isSlow(text: string): boolean {
  let [quotes, lazyLines, brackets] = [0, 0, 0];
  for (const line of text.split(/[\r\n]/)) {
    const isBlank = line.trim() === '';
    const marks = MARKS.exec(line)?.[0].split('>').length ?? 0;
    if (marks < quotes && !isBlank) lazyLines += 1;
    quotes = marks;
    if (isBlank) brackets = 0;
    for (const [bracket] of line.matchAll(/[[\]]/g)) {
      brackets = bracket === '[' ? brackets + 1 : Math.max(0, brackets - 1);
    }
    if (lazyLines > MOST_LAZY_LINES || brackets > MOST_OPEN_BRACKETS) return true;
  }
  return false;
}

/** What is written in a piece of HTML with numbers or names of characters. */
export function withCharacters(html: string): string {
  return markdown.utils.unescapeAll(html);
}

/** White space to some programs, and none to others. */
const DISPUTED_SPACE =
  /<\/?[A-Za-z][^<>]*[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;
/** Begins a block, but not within a paragraph. */
const BLOCK = /\n[ \t>]*(?:[<=]|(?:[*+]|-+|\d+[.)])[ \t\n])/;
const BRACKET = /^[ \t>*+\d.)-]*\[/m;

/**
 * Whether programs read it in different ways: some take definitions away before they look for
 * blocks.
 */
export function isAmbiguous(text: string): boolean {
  const paragraphs = text.replaceAll(/\r\n?/g, '\n').split(/\n[ \t>]*\n/);
  return DISPUTED_SPACE.test(text) || paragraphs.some(holdsBlockBelowDefinition);
}

/** A definition may have several lines. */
function holdsBlockBelowDefinition(paragraph: string): boolean {
  const at = paragraph.search(BRACKET);
  return at >= 0 && BLOCK.test(paragraph.slice(paragraph.indexOf(']:', at)));
}

/**
 * Whether a line of a paragraph begins as a link definition or a footnote does, which is not shown
 * where it stands.
 */
export function holdsDefinition(text: string): boolean {
  return /^\[.*\]:/m.test(text);
}

/** Comments break their lines where their authors do. */
const preview = new MarkdownIt({ html: false, breaks: true, maxNesting: MAX_NESTING }).disable('reference');
const { escapeHtml } = preview.utils;

/**
 * Of a preview, and the attribute that two of them may have. Headings of a text stand below those
 * of the page.
 */
const ELEMENTS = new Set(
  'p h3 strong em s blockquote ul ol li table thead tbody tr th td a hr br'.split(' '),
);
const ATTRIBUTES: Readonly<Record<string, readonly [name: string, form: RegExp]>> = {
  ol: ['start', /^\d+$/],
  a: ['href', /^(?:https?:\/\/|mailto:)/i],
};

const contentOf = ({ content }: Token): string => escapeHtml(content);
const block = (token: Token): string => `<pre><code>${contentOf(token)}</code></pre>\n`;
const RULES: Readonly<Record<string, (token: Token) => string>> = {
  text: contentOf,
  code_inline: (token) => `<code>${contentOf(token)}</code>`,
  code_block: block,
  fence: block,
  image: (token) => `[Picture: ${contentOf(token)}]`,
  softbreak: () => '<br>\n',
};

/**
 * A text as a host shows it, as HTML. Only the elements and attributes above get into it: HTML in
 * the text is shown as it is typed, a picture by its description, and nothing is loaded. Linear in
 * the text, which `readMarkdown` has taken.
 */
export function renderedMarkdown(text: string): string {
  return preview.parse(text, {}).map(shown).join('');
}

function shown(token: Token): string {
  if (token.type === 'inline') return (token.children ?? []).map(shown).join('');
  return RULES[token.type]?.(token) ?? element(token);
}

function element({ tag, nesting, hidden, attrs }: Token): string {
  const name = /^h\d$/.test(tag) ? 'h3' : tag;
  if (!ELEMENTS.has(name) || hidden) return '';
  if (nesting < 0) return `</${name}>`;
  const [attribute, form] = ATTRIBUTES[name] ?? [];
  const value = String(attrs?.find(([key]) => key === attribute)?.[1] ?? '');
  return form?.test(value) ? `<${name} ${attribute}="${escapeHtml(value)}">` : `<${name}>`;
}
