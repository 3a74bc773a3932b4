/**
 * Whether the service's footer stays visible below an author's words, and is the only one (contract, 2.5 and 2.6).
 * Refused with the reason: code fences, HTML comments and elements that are left open, lines in the form of a footer
 * outside of quotes and code fences, and what programs read differently, if the footer may depend on it.
 */
import type { Token } from 'markdown-it';
import { isElement, OpenElements, partsOf } from './html-elements.ts';
import { holdsDefinition, isAmbiguous, type Markdown, MOST_CONTAINERS, withCharacters } from './markdown.ts';

export const FENCE_IS_OPEN = 'a code fence is never closed; close it, or it hides the footer';
const HTML_IS_OPEN = 'an HTML comment or block is never closed; close it, or it hides the footer';
const UNFINISHED = 'an HTML tag or comment is not complete; complete it, or write it in backticks';
const DISPUTED =
  'programs read this Markdown in different ways; write HTML in backticks, or put empty lines between the parts';
/** They end a line to some programs. */
const DISPUTED_BREAKS =
  'body must not contain form feeds, vertical tabs, or carriage returns without line feeds';
const SLOW =
  'this Markdown takes too long to read; put an empty line behind each quote, close brackets, and split large tables';
const TOO_DEEP = `body must not nest quotes and lists more than ${MOST_CONTAINERS} levels deep`;
const FORGED =
  "body must not contain a line that looks like the service's footer; to quote one, begin the line with > or use a code fence";

/** Letters of other scripts that look like those of our footers. */
const LOOKALIKES = new Map(
  'аaαaоoοoеeєeсcϲcрpρpкkκkмmгrтtτtіiіiιiѕsуyνvԁdһhհhɡgոnпnмmАaΑaΒbВbЕeΕeНhΗhІiΙiКkΚkМmΜmΝnОoΟoРpΡpСcТtΤt'
    .match(/../gu)
    ?.map((pair) => Array.from(pair) as [letter: string, latin: string]),
);

/** `anon` and a hash stand before the karma. Letters that look like digits are taken for them. */
const AUTHOR_LENGTH = 12;
const KARMA = /karma[\dbilosz]*report/g;
const ISSUE_FOOTER =
  /thisissueisananonymouscontributionmadevia|theoriginalauthorsidentityhasbeenanonymi[sz]ed/;

/** The footer, if it is seen. */
const SEEN_LAST = ['hr', 'paragraph_open', 'inline', 'paragraph_close'];

/** What must close what it opens: an end outside is another element's, and a browser may ignore it. */
const CONTAINER = /^(?:blockquote|list_item|t[hd])_(open|close)$/;
/** What is left in a text where programs may find the end of a link, an image, code or a comment elsewhere. */
const LOOSE_END = /`|!\[|\]\(|\]\[|<[!?]/;
/** One that all versions of CommonMark take for a comment. */
const COMMENT = /^<!--(?!-?>)(?:[^-]|-[^-])*-->$/;
/** The line below the header of a table; more lines than a renderer takes for one. */
const DELIMITER_ROW = /^(?=.*-)(?=.*[|:])[|: \t-]+$/m;

/** The mark of a quote, maybe in list items: a list's own mark has a space behind it. */
const QUOTED_LINE = /^(?:[ \t]|[*+-][ \t]|\d{1,9}[.)][ \t])*>/;

/** The message for the author; null: the footer stays visible below the text, which holds no NUL character. */
export function footerProblem({ text, tokens }: Markdown): string | null {
  if (/[\v\f]|\r(?!\n)/.test(text)) return DISPUTED_BREAKS;
  if (tokens === null) return SLOW;
  const last = tokens.slice(-SEEN_LAST.length);
  if (last.some(({ type, level }, index) => type !== SEEN_LAST[index] || level > 1)) {
    return tokens.at(-1)?.type === 'fence' ? FENCE_IS_OPEN : HTML_IS_OPEN;
  }
  return htmlProblem(tokens) ?? (holdsFooter(tokens, text.split('\n')) ? FORGED : null);
}

function htmlProblem(tokens: readonly Token[]): string | null {
  const open = [new OpenElements()];
  for (const [at, { type }] of tokens.entries()) {
    const [, change] = CONTAINER.exec(type) ?? [];
    if (change === 'open' && open.push(new OpenElements()) > MOST_CONTAINERS) return TOO_DEEP;
    const inside = open.at(-1) as OpenElements;
    const problem = change === 'close' ? open.pop()?.end() : problemOf(tokens, at, inside);
    if (problem) return problem;
  }
  return open[0]?.end() ?? null;
}

function problemOf(tokens: readonly Token[], at: number, open: OpenElements): string | null {
  const { type, content, children } = tokens[at] as Token;
  if (type !== 'html_block' && type !== 'inline') return null;
  // With the line below a heading.
  if (isAmbiguous(`${content}\n${tokens[at - 1]?.markup}`)) return DISPUTED;
  const inline = children ?? [];
  const tags = inline.filter((child) => child.type === 'html_inline').map((child) => child.content);
  if (isDisputed(content, inline) && [...partsOf(content)].some(isElement)) return DISPUTED;
  for (const html of type === 'html_block' ? [content] : tags) {
    if (type === 'inline' && html.startsWith('<!') && !COMMENT.test(html)) return UNFINISHED;
    for (const part of partsOf(html)) {
      if (part.kind === 'unfinished') return UNFINISHED;
      const problem = part.kind === 'tag' ? open.add(part) : null;
      if (problem !== null) return problem;
    }
  }
  return null;
}

/** Whether programs may see other tags in a paragraph. */
function isDisputed(text: string, children: readonly Token[]): boolean {
  const holdsFormula = text.indexOf('$') < text.lastIndexOf('$');
  if (holdsFormula || holdsDefinition(text) || DELIMITER_ROW.test(text)) return true;
  return children.some(({ type, content }) =>
    type === 'text' ? LOOSE_END.test(content) : type === 'image' && content.includes('<'),
  );
}

/** Whether a line outside of quotes and code fences looks like a footer. @param lines of the text. */
function holdsFooter(tokens: readonly Token[], lines: readonly string[]): boolean {
  let quotes = 0;
  return tokens.some(({ type, content, children, map }) => {
    if (type === 'blockquote_open') quotes += 1;
    if (type === 'blockquote_close') quotes -= 1;
    const [start, end] = map ?? [0, 0];
    // Behind a footnote in a quote, a line without a mark is outside of it.
    if (quotes > 0 && lines.slice(start, end).every((line) => QUOTED_LINE.test(line))) return false;
    // As it is shown, and as programs show it that see other links, comments and tables. A footnote may be indented.
    const texts = ['inline', 'html_block', 'code_block'].includes(type) ? [content] : [];
    if (type === 'inline')
      texts.push(
        (children ?? []).map((child) => (child.type === 'html_inline' ? '' : child.content)).join(''),
      );
    if (type === 'table_open') texts.push(lines.slice(start, end).join(''));
    const shown = texts.flatMap((text) => [text, withCharacters(shownIn(text))]);
    return [...new Set(shown)].some(looksLikeFooter);
  });
}

function shownIn(html: string): string {
  return Array.from(partsOf(html), (part) => (part.kind === 'text' ? part.text : '')).join('');
}

/** However it is written. Linear. @param shown the words of one paragraph, or of one piece of HTML. */
function looksLikeFooter(shown: string): boolean {
  const known = new Map<string, string>();
  const latinOf = (character: string): string => {
    const latin = known.get(character) ?? asLatin(character);
    known.set(character, latin);
    return latin;
  };
  const latin = shown.replaceAll(/[^\0-\x7f]/gu, latinOf).toLowerCase();
  const letters = latin.replaceAll(/[^a-z0-9]+/g, '');
  const isComment = Array.from(letters.matchAll(KARMA)).some(
    ({ index }) => index >= AUTHOR_LENGTH && letters.startsWith('anon', index - AUTHOR_LENGTH),
  );
  return isComment || ISSUE_FOOTER.test(letters);
}

/** Each character for itself: to normalise many accents at once takes the square of their number. */
function asLatin(character: string): string {
  return Array.from(character.normalize('NFKD'), (letter) => LOOKALIKES.get(letter) ?? letter).join('');
}
