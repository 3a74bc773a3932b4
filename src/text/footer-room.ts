/**
 * Whether the service's footer stays visible below an author's words, and is the only one (contract, 2.5 and 2.6).
 * Refused with the reason: code fences, HTML comments and elements that are left open, lines in the form of a footer
 * outside of quotes and code fences, and what programs read differently, if the footer may depend on it.
 */
import type { Token } from 'markdown-it';
import {
  DISPUTED_SPACE,
  holdsDefinition,
  type Markdown,
  MOST_CONTAINERS,
  withCharacters,
} from './markdown.ts';

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
  for (const token of tokens) {
    const [, change] = CONTAINER.exec(token.type) ?? [];
    if (change === 'open' && open.push(new OpenElements()) > MOST_CONTAINERS) return TOO_DEEP;
    const problem = change === 'close' ? open.pop()?.end() : problemOf(token, open.at(-1) as OpenElements);
    if (problem) return problem;
  }
  return open[0]?.end() ?? null;
}

function problemOf({ type, content, children }: Token, open: OpenElements): string | null {
  if (type !== 'html_block' && type !== 'inline') return null;
  if (DISPUTED_SPACE.test(content)) return DISPUTED;
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

// What HTML leaves open. Stricter than a browser, so that it never misses an element that a browser leaves open: tags must
// be complete, and closed in the reverse order. Names that are not HTML's (`Vec<u8>`) open nothing.

/** What is in them is not Markdown, not HTML or not shown; hosts do not agree on `search` and `source`. */
const UNFIT = namesIn(
  'applet base body frame frameset head html iframe link math meta noembed noframes noscript object plaintext script ' +
    'search select source style svg template textarea title xmp',
);
/** The end of what they lie in is their end. */
const ENDED_BY_PARENT = namesIn('caption colgroup dd dt li optgroup option rp rt tbody td tfoot th thead tr');
/** Not `p`: the line above the footer ends it. */
const CLOSED_BY_TAG = namesIn(
  'a abbr acronym address article aside audio b bdi bdo big blockquote button canvas center cite code data datalist ' +
    'del details dfn dialog dir div dl em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hgroup i ' +
    'ins kbd label legend listing main map mark marquee menu meter nav nobr ol output picture pre progress q ruby s samp ' +
    'section slot small span strike strong sub summary sup table time tt u ul var video',
);

function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** One without `<` inside, as browsers read it: a quotation mark begins a value behind `=` only. */
const TAG = /<(\/?)([A-Za-z][^\s/<>]*)(?:[\s/](?:[^<>"'=]|=(?:[ \t\n]*(?:"[^"<]*"|'[^'<]*'))?)*)?>/y;

type Tag = { readonly kind: 'tag'; readonly name: string; readonly isClosing: boolean };
/** `text`: what is shown of it. `unfinished`: a tag or comment has no end, so the rest may be a part of it. */
type HtmlPart = Tag | { readonly kind: 'text'; readonly text: string } | { readonly kind: 'unfinished' };

/** The parts of a piece of HTML. What is not finished is followed by the rest, as text. */
function* partsOf(html: string): Generator<HtmlPart> {
  let from = 0;
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', Math.max(from, at + 1))) {
    if (!/[A-Za-z/!?]/.test(html.charAt(at + 1))) continue;
    yield { kind: 'text', text: html.slice(from, at) };
    TAG.lastIndex = at;
    const [whole, slash, name = ''] = TAG.exec(html) ?? [];
    from = whole === undefined ? endOfComment(html, at) : at + whole.length;
    if (from === 0) {
      yield { kind: 'unfinished' };
      from = at;
      break;
    }
    if (whole !== undefined) yield { kind: 'tag', name: name.toLowerCase(), isClosing: slash === '/' };
  }
  yield { kind: 'text', text: html.slice(from) };
}

/** HTML Standard, 13.2.5.43 and after. 0: it has no end, or is one of those that Markdown ends elsewhere. */
function endOfComment(html: string, at: number): number {
  if (!html.startsWith('<!--', at)) return 0;
  const [empty] = /^-?>/.exec(html.slice(at + 4, at + 6)) ?? [];
  if (empty !== undefined) return at + 4 + empty.length;
  const end = /--!?>/g;
  end.lastIndex = at + 4;
  return end.test(html) ? end.lastIndex : 0;
}

/** Whether it is a tag that must be closed, or may not be there. */
function isElement(part: HtmlPart): boolean {
  return part.kind === 'tag' && [UNFIT, ENDED_BY_PARENT, CLOSED_BY_TAG].some((names) => names.has(part.name));
}

class OpenElements {
  readonly #open: string[] = [];
  readonly #counts = new Map<string, number>();

  /** What is wrong with the tag; null: nothing. */
  add(tag: Tag): string | null {
    const { name, isClosing } = tag;
    if (UNFIT.has(name)) return `the HTML tag <${name}> cannot be used here; write it in backticks`;
    if (!isElement(tag)) return null;
    if (!isClosing) {
      this.#open.push(name);
      this.#count(name, 1);
      return null;
    }
    if ((this.#counts.get(name) ?? 0) === 0) return null;
    for (let last = this.#open.pop() ?? name; ; last = this.#open.pop() ?? name) {
      this.#count(last, -1);
      if (last === name) return null;
      if (!ENDED_BY_PARENT.has(last)) {
        return `the HTML tag <${last}> is not closed before the one around it; close it, or write it in backticks`;
      }
    }
  }

  #count(name: string, change: 1 | -1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + change);
  }

  /** What is wrong if nothing follows; null: nothing. */
  end(): string | null {
    const [name] = this.#open;
    return name ? `the HTML tag <${name}> is never closed; close it, or write it in backticks` : null;
  }
}
