/**
 * Whether the service's footer stays visible below an author's words, and is the only one
 * (contract, 2.5 and 2.6). Refused with the reason: code fences, HTML comments and elements that
 * are left open, lines in the form of a footer outside of quotes and code fences, what shows
 * letters in another order than they are written, and what programs read differently, if the footer
 * may depend on it.
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
const TURNING_CHARACTERS =
  'must not contain characters that change the direction of what follows, such as U+202E; leave them out';
const TURNED = `body ${TURNING_CHARACTERS}`;
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

/** Embeddings, overrides and isolates (Unicode Standard Annex 9, section 2). */
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/;
/**
 * Blocks of scripts that are written from right to left, their punctuation and the mark that nobody
 * sees. Behind one, a line may show its Latin words in the reverse order.
 */
const RIGHT_TO_LEFT = String.raw`\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}`;
const MAY_TURN = new RegExp(`[${RIGHT_TO_LEFT}]`, 'u');
/** What keeps such words apart: cells, too. */
const TURNING = new RegExp(`[${RIGHT_TO_LEFT}|]`, 'u');

/** `anon` and a hash stand before the karma. Letters that look like digits are taken for them. */
const AUTHOR_LENGTH = 12;
const KARMA = /karma[\dbilosz]*report/g;
/** As it is shown without its digits, which may stand elsewhere than they are shown. */
const TURNED_FOOTER = /anon[a-z]{0,8}karma[a-z]{0,3}report/;
const ISSUE_FOOTER =
  /thisissueisananonymouscontributionmadevia|theoriginalauthorsidentityhasbeenanonymi[sz]ed/;

/** The footer, if it is seen. */
const SEEN_LAST = ['hr', 'paragraph_open', 'inline', 'paragraph_close'];

/**
 * What must close what it opens: an end outside is another element's, and a browser may ignore it.
 */
const CONTAINER = /^(?:blockquote|list_item|t[hd])_(open|close)$/;
/**
 * What is left in a text where programs may find the end of a link, an image, code or a comment
 * elsewhere.
 */
const LOOSE_END = /`|!\[|\]\(|\]\[|<[!?]/;
/** One that all versions of CommonMark take for a comment. */
const COMMENT = /^<!--(?!-?>)(?:[^-]|-[^-])*-->$/;
/** The line below the header of a table; more lines than a renderer takes for one. */
const DELIMITER_ROW = /^(?=.*-)(?=.*[|:])[|: \t-]+$/m;

/** The mark of a quote, maybe in list items: a list's own mark has a space behind it. */
const QUOTED_LINE = /^(?:[ \t]|[*+-][ \t]|\d{1,9}[.)][ \t])*>/;

/**
 * The message for the author; null: the footer stays visible below the text, which holds no NUL
 * character.
 */
export function footerProblem({ text, tokens }: Markdown): string | null {
  if (/[\v\f]|\r(?!\n)/.test(text)) return DISPUTED_BREAKS;
  if (DIRECTION_CONTROLS.test(text)) return TURNED;
  if (tokens === null) return SLOW;
  const last = tokens.slice(-SEEN_LAST.length);
  if (last.some(({ type, level }, index) => type !== SEEN_LAST[index] || level > 1)) {
    return tokens.at(-1)?.type === 'fence' ? FENCE_IS_OPEN : HTML_IS_OPEN;
  }
  if (tokens.some(turns)) return TURNED;
  return htmlProblem(tokens) ?? (holdsFooter(tokens, text.split('\n')) ? FORGED : null);
}

/**
 * The message for the author of a title that shows its letters in another order; null: it does not.
 */
export function titleProblem(title: string): string | null {
  return DIRECTION_CONTROLS.test(title) ? `title ${TURNING_CHARACTERS}` : null;
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

/**
 * Whether something outside of quotes and code fences looks like a footer.
 * @param lines of the text.
 */
function holdsFooter(tokens: readonly Token[], lines: readonly string[]): boolean {
  const texts = [...unquoted(tokens, lines)];
  // A piece of HTML ends at an empty line, but its table goes on, and so may its line.
  const whole = texts.map(([shown]) => shown).join('');
  return [...texts, [whole]].some((readings) => readings.some(looksLikeFooter));
}

/** Whether a direction is overridden by the number or the name of a character. */
function turns({ type, content, children }: Token): boolean {
  const shown = type === 'html_block' ? withCharacters(content) : type === 'inline' ? inLine(children) : '';
  return DIRECTION_CONTROLS.test(shown);
}

/**
 * How each block may be read: first as it is shown, then as programs show it that see other links
 * and comments.
 */
function* unquoted(tokens: readonly Token[], lines: readonly string[]): Generator<readonly string[]> {
  let quotes = 0;
  for (const { type, content, children, map } of tokens) {
    if (type === 'blockquote_open') quotes += 1;
    if (type === 'blockquote_close') quotes -= 1;
    const [start, end] = map ?? [0, 0];
    // Behind a footnote in a quote, a line without a mark is outside of it.
    if (quotes > 0 && lines.slice(start, end).every((line) => QUOTED_LINE.test(line))) continue;
    const isTable = type === 'table_open';
    // A footnote may be indented.
    if (!isTable && type !== 'inline' && type !== 'html_block' && type !== 'code_block') continue;
    const text = isTable ? lines.slice(start, end).join('') : content;
    const inside = withCharacters(shownIn(text));
    const line = inLine(children);
    // The cells of a table come one by one, too.
    const shown = isTable ? '' : type === 'inline' ? line : inside;
    yield [...new Set([shown, text, inside, withCharacters(shownIn(line))])];
  }
}

/** The words of a paragraph, without its tags. */
function inLine(children: Token['children']): string {
  return (children ?? []).map((child) => (child.type === 'html_inline' ? '' : child.content)).join('');
}

/** The words of a piece of HTML, with a mark where a tag may begin another cell. */
function shownIn(html: string): string {
  return Array.from(partsOf(html), (part) => (part.kind === 'text' ? part.text : '|')).join('');
}

/**
 * However it is written. Linear.
 * @param shown the words of one paragraph, or of one piece of HTML.
 */
function looksLikeFooter(shown: string): boolean {
  const known = new Map<string, string>();
  const latinOf = (character: string): string => {
    const latin = known.get(character) ?? asLatin(character);
    known.set(character, latin);
    return latin;
  };
  const lettersOf = (text: string): string =>
    text
      .replaceAll(/[^\0-\x7f]/gu, latinOf)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '');
  const letters = lettersOf(shown);
  const isComment = Array.from(letters.matchAll(KARMA)).some(
    ({ index }) => index >= AUTHOR_LENGTH && letters.startsWith('anon', index - AUTHOR_LENGTH),
  );
  if (isComment || ISSUE_FOOTER.test(letters)) return true;
  if (!MAY_TURN.test(shown)) return false;
  const turned = lettersOf(shown.split(TURNING).toReversed().join('')).replaceAll(/\d+/g, '');
  return TURNED_FOOTER.test(turned) || ISSUE_FOOTER.test(turned);
}

/**
 * Each character for itself: to normalise many accents at once takes the square of their number.
 */
function asLatin(character: string): string {
  return Array.from(character.normalize('NFKD'), (letter) => LOOKALIKES.get(letter) ?? letter).join('');
}
