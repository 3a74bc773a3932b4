/**
 * A Markdown text as a host shows it, as HTML for a preview. Only the elements and attributes that stand here get into
 * it: HTML in the text is shown as it is typed, a picture by its description, and nothing is loaded.
 */
import MarkdownIt, { type Token } from 'markdown-it';
import { MAX_NESTING } from './markdown.ts';

/** Comments break their lines where their authors do. Definitions of links stay text: see markdown.ts. */
const markdown = new MarkdownIt({ html: false, breaks: true, maxNesting: MAX_NESTING }).disable('reference');
const { escapeHtml } = markdown.utils;

/** With the attribute that each may have. Headings of a text stand below those of the page. */
const ELEMENTS: ReadonlyMap<string, string | null> = new Map([
  ...'p h3 strong em s blockquote ul li table thead tbody tr th td hr br'
    .split(' ')
    .map((tag) => [tag, null] as const),
  ['ol', 'start'],
  ['a', 'href'],
]);
const ATTRIBUTES: Readonly<Record<string, RegExp>> = { start: /^\d+$/, href: /^(?:https?:\/\/|mailto:)/i };

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

/** Linear in the text, which `readMarkdown` has taken. */
export function renderedMarkdown(text: string): string {
  return markdown.parse(text, {}).map(shown).join('');
}

function shown(token: Token): string {
  if (token.type === 'inline') return (token.children ?? []).map(shown).join('');
  return RULES[token.type]?.(token) ?? element(token);
}

function element({ tag, nesting, hidden, attrs }: Token): string {
  const name = /^h\d$/.test(tag) ? 'h3' : tag;
  const allowed = ELEMENTS.get(name);
  if (allowed === undefined || hidden) return '';
  if (nesting < 0) return `</${name}>`;
  const value =
    allowed === null ? '' : String(attrs?.find(([attribute]) => attribute === allowed)?.[1] ?? '');
  const isFit = allowed !== null && ATTRIBUTES[allowed]?.test(value) === true;
  return isFit ? `<${name} ${allowed}="${escapeHtml(value)}">` : `<${name}>`;
}
