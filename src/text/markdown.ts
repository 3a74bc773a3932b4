/**
 * Reads Markdown with markdown-it. What hosts may read in another way is refused (footer-room.ts),
 * or counted as if it were shown (noise.ts).
 */
import MarkdownIt, { type Token } from 'markdown-it';

/**
 * The deepest nesting that is allowed. markdown-it must read deeper, as it drops what is too deep.
 */
export const MOST_CONTAINERS = 50;
const MAX_NESTING = 4 * MOST_CONTAINERS;
/** Bounds lines that continue a quote without its mark: each may make markdown-it read it again. */
const MOST_LAZY_LINES = 50;
/** Bounds open brackets: for each, markdown-it reads the rest of the paragraph. */
const MOST_OPEN_BRACKETS = 8_000;
/**
 * Bounds tokens: markdown-it fills up the rows of a table, so that one with hundreds of columns has
 * far more cells than characters.
 */
const MOST_TOKENS = 100_000;
const MARKS = /^[\s>*+\d.)-]*/;

/**
 * Leaves link definitions as text, because their ends are costly to find, and because some hosts
 * have footnotes. Emphasis does not matter here.
 */
const markdown = new MarkdownIt({ html: true, maxNesting: MAX_NESTING }).disable([
  'reference',
  'emphasis',
  'strikethrough',
]);

/** Counts down the tokens that may be made of one text, or of several. */
export type TokenBudget = Record<'tokensLeft', number>;

class TooManyTokens extends Error {}

/** Takes each token from the budget, which markdown-it hands through as the environment. */
class BoundedState extends markdown.block.State {
  override push(...token: Parameters<InstanceType<typeof markdown.block.State>['push']>): Token {
    const budget = this.env as unknown as TokenBudget;
    if (budget.tokensLeft-- <= 0) throw new TooManyTokens();
    return super.push(...token);
  }
}

/** @returns null if reading the text could take long, or the budget is spent. */
function tokensOf(parser: typeof markdown, text: string, budget: TokenBudget): Token[] | null {
  try {
    return isSlow(text) ? null : parser.parse(text, budget);
  } catch (error) {
    if (error instanceof TooManyTokens) return null;
    throw error;
  }
}

export interface Markdown {
  readonly text: string;
  /** The tokens of the text with a footer below; null if reading them could take long. */
  readonly tokens: readonly Token[] | null;
}

/** A stand-in that begins as the service's footers do. */
const FOOTER = '\n\n---\nfooter';

/** Reads a text once for all questions about it. */
export function readMarkdown(text: string): Markdown {
  return { text, tokens: tokensOf(markdown, text + FOOTER, { tokensLeft: MOST_TOKENS }) };
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

/** Replaces numbers and names of characters (`&#64;`, `&amp;`) by the characters. */
export function withCharacters(html: string): string {
  return markdown.utils.unescapeAll(html);
}

/** Matches tags with characters that are white space in some programs only. */
const DISPUTED_SPACE =
  /<\/?[A-Za-z][^<>]*[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;
/** Matches a line that would begin a block if it were not within a paragraph. */
const BLOCK = /\n[ \t>]*(?:[<=]|(?:[*+]|-+|\d+[.)])[ \t\n])/;
const BRACKET = /^[ \t>*+\d.)-]*\[/m;

/**
 * Answers whether programs may read the text in different ways: some remove definitions before
 * they look for blocks, and some take other characters for white space.
 */
export function isAmbiguous(text: string): boolean {
  const paragraphs = text.replaceAll(/\r\n?/g, '\n').split(/\n[ \t>]*\n/);
  return DISPUTED_SPACE.test(text) || paragraphs.some(holdsBlockBelowDefinition);
}

/** Looks behind the first definition, which may have several lines. */
function holdsBlockBelowDefinition(paragraph: string): boolean {
  const at = paragraph.search(BRACKET);
  return at >= 0 && BLOCK.test(paragraph.slice(paragraph.indexOf(']:', at)));
}

/**
 * Answers whether a line begins like a link definition or a footnote, which are not shown where
 * they stand.
 */
export function holdsDefinition(text: string): boolean {
  return /^\[.*\]:/m.test(text);
}

/** Renders previews. As in comments of hosts, a line break in the text is shown as one. */
const preview = new MarkdownIt({ html: false, breaks: true, maxNesting: MAX_NESTING }).disable('reference');
markdown.block.State = BoundedState;
preview.block.State = BoundedState;
const { escapeHtml } = preview.utils;

/** Elements that a preview may have besides those of RULES. Headings become `h3`. */
const ELEMENTS = new Set(
  'p h3 strong em s blockquote ul ol li table thead tbody tr th td a hr br'.split(' '),
);
/** The attribute that an element may have, and the form of its value. */
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
 * Renders a text nearly as hosts do. Only the elements and attributes above get into the HTML: tags
 * in the text are shown as they are typed, a picture by its description, and nothing is loaded.
 * Linear in the text. A text that is beyond the budget is shown as it is typed.
 */
export function renderedMarkdown(text: string, budget: TokenBudget = { tokensLeft: MOST_TOKENS }): string {
  return tokensOf(preview, text, budget)?.map(shown).join('') ?? `<pre>${escapeHtml(text)}</pre>`;
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
