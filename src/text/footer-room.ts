/**
 * Makes sure that the service's footer stays visible below an author's words, and that it is the
 * only one (contract, 2.5 and 2.6). It refuses, with the reason: code fences, HTML comments and
 * elements that are left open; lines that look like a footer, outside of quotes and code fences;
 * what shows letters in another order than they are written; and Markdown that programs read in
 * different ways, if the footer may depend on it.
 */
import type { Token } from 'markdown-it';
import { isElement, OpenElements, partsOf } from './html-elements.ts';
import { holdsDefinition, isAmbiguous, type Markdown, MOST_CONTAINERS, withCharacters } from './markdown.ts';

export const FENCE_IS_OPEN = 'a code fence is never closed; close it, or it hides the footer';
const HTML_IS_OPEN = 'an HTML comment or block is never closed; close it, or it hides the footer';
const UNFINISHED = 'an HTML tag or comment is not complete; complete it, or write it in backticks';
const DISPUTED =
  'programs read this Markdown in different ways; write HTML in backticks, or put empty lines between the parts';
/** The refusal of characters that end a line in some programs only. */
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

/** Matches embeddings, overrides and isolates (Unicode Standard Annex 9, section 2). */
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/;
/**
 * Ranges of scripts that are written from right to left, with their punctuation and the invisible
 * mark. After such a character, a line may show its Latin words in the reverse order.
 */
const RIGHT_TO_LEFT = String.raw`\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}`;
const MAY_TURN = new RegExp(`[${RIGHT_TO_LEFT}]`, 'u');
/** Matches what separates words whose order may be reversed, including borders of table cells. */
const TURNING = new RegExp(`[${RIGHT_TO_LEFT}|]`, 'u');

/** The length of `anon` and a hash, which stand before the karma. */
const AUTHOR_LENGTH = 12;
/** Matches the karma; letters that look like digits count as digits. */
const KARMA = /karma[\dbilosz]*report/g;
/** Matches a footer without its digits, which may be shown elsewhere than they stand. */
const TURNED_FOOTER = /anon[a-z]{0,8}karma[a-z]{0,3}report/;
const ISSUE_FOOTER =
  /thisissueisananonymouscontributionmadevia|theoriginalauthorsidentityhasbeenanonymi[sz]ed/;

/** The types of the last tokens if the footer below the text is visible. */
const SEEN_LAST = ['hr', 'paragraph_open', 'inline', 'paragraph_close'];

/**
 * Matches the tokens of containers. An element must be closed in the container in which it was
 * opened, because a browser may ignore an end elsewhere.
 */
const CONTAINER = /^(?:blockquote|list_item|t[hd])_(open|close)$/;
/**
 * Matches remains in a text that show that programs may end a link, image, code or comment
 * elsewhere.
 */
const LOOSE_END = /`|!\[|\]\(|\]\[|<[!?]/;
/** Matches what every version of CommonMark takes for a comment. */
const COMMENT = /^<!--(?!-?>)(?:[^-]|-[^-])*-->$/;
/** Matches the line below a table's header. It matches more than any program takes for one. */
const DELIMITER_ROW = /^(?=.*-)(?=.*[|:])[|: \t-]+$/m;

/** Matches a line that begins with the mark of a quote, perhaps within list items. */
const QUOTED_LINE = /^(?:[ \t]|[*+-][ \t]|\d{1,9}[.)][ \t])*>/;

/**
 * Gives the message for the author; null if the footer stays visible below the text. The text must
 * not contain NUL characters.
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

/** Gives the message for the author of a title that shows letters in another order; else null. */
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
  // A heading's underline belongs to its text here.
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

/** Answers whether programs may see different tags in a paragraph. */
function isDisputed(text: string, children: readonly Token[]): boolean {
  const holdsFormula = text.indexOf('$') < text.lastIndexOf('$');
  if (holdsFormula || holdsDefinition(text) || DELIMITER_ROW.test(text)) return true;
  return children.some(({ type, content }) =>
    type === 'text' ? LOOSE_END.test(content) : type === 'image' && content.includes('<'),
  );
}

/** Answers whether anything outside of quotes and code fences looks like a footer. */
function holdsFooter(tokens: readonly Token[], lines: readonly string[]): boolean {
  const texts = [...unquoted(tokens, lines)];
  // A piece of HTML ends at an empty line, but its table, and so a line of it, may go on.
  const whole = texts.map(([shown]) => shown).join('');
  return [...texts, [whole]].some((readings) => readings.some(looksLikeFooter));
}

/** Answers whether a character's number or name overrides the direction. */
function turns({ type, content, children }: Token): boolean {
  const shown = type === 'html_block' ? withCharacters(content) : type === 'inline' ? inLine(children) : '';
  return DIRECTION_CONTROLS.test(shown);
}

/**
 * Gives the ways in which each block outside of quotes may be read: first as it is shown, then as
 * programs show it that see other links and comments.
 */
function* unquoted(tokens: readonly Token[], lines: readonly string[]): Generator<readonly string[]> {
  let quotes = 0;
  for (const { type, content, children, map } of tokens) {
    if (type === 'blockquote_open') quotes += 1;
    if (type === 'blockquote_close') quotes -= 1;
    const [start, end] = map ?? [0, 0];
    // After a footnote in a quote, a line without the quote's mark is outside of the quote.
    if (quotes > 0 && lines.slice(start, end).every((line) => QUOTED_LINE.test(line))) continue;
    const isTable = type === 'table_open';
    // Code blocks count, because an indented footnote looks like one.
    if (!isTable && type !== 'inline' && type !== 'html_block' && type !== 'code_block') continue;
    const text = isTable ? lines.slice(start, end).join('') : content;
    const inside = withCharacters(shownIn(text));
    const line = inLine(children);
    // The cells of a table follow as blocks of their own.
    const shown = isTable ? '' : type === 'inline' ? line : inside;
    yield [...new Set([shown, text, inside, withCharacters(shownIn(line))])];
  }
}

/** Joins the words of a paragraph, without its tags. */
function inLine(children: Token['children']): string {
  return (children ?? []).map((child) => (child.type === 'html_inline' ? '' : child.content)).join('');
}

/** Joins the words of a piece of HTML, with `|` in place of tags, which may begin another cell. */
function shownIn(html: string): string {
  return Array.from(partsOf(html), (part) => (part.kind === 'text' ? part.text : '|')).join('');
}

/**
 * Answers whether the words look like a footer, also with lookalike letters. Linear.
 * @param shown the words of one block, or of all.
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

/** Takes one character at a time, because normalising many accents at once takes quadratic time. */
function asLatin(character: string): string {
  return Array.from(character.normalize('NFKD'), (letter) => LOOKALIKES.get(letter) ?? letter).join('');
}
