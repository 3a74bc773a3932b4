/**
 * Finds the tags of a piece of HTML, and which elements they leave open. It is stricter than a
 * browser, so that it never misses an open element: tags must be complete, and closed in the
 * reverse order. Names that are not HTML's (`Vec<u8>`) open nothing.
 */

/**
 * Elements that are refused: their content is not Markdown, not HTML, not shown, or shown in
 * another order. Hosts do not agree on `search` and `source`.
 */
const UNFIT = namesIn(
  'applet base bdi bdo body frame frameset head html iframe link math meta noembed noframes noscript object plaintext script ' +
    'search select source style svg template textarea title xmp',
);
/** Elements that end with the element around them. */
const ENDED_BY_PARENT = namesIn('caption colgroup dd dt li optgroup option rp rt tbody td tfoot th thead tr');
/** Elements that need a closing tag. `p` is not among them: the line above the footer ends it. */
const CLOSED_BY_TAG = namesIn(
  'a abbr acronym address article aside audio b big blockquote button canvas center cite code data datalist ' +
    'del details dfn dialog dir div dl em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hgroup i ' +
    'ins kbd label legend listing main map mark marquee menu meter nav nobr ol output picture pre progress q ruby s samp ' +
    'section slot small span strike strong sub summary sup table time tt u ul var video',
);

function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** Matches a tag without `<` inside, as browsers do: quotes begin a value only behind `=`. */
const TAG = /<(\/?)([A-Za-z][^\s/<>]*)([\s/](?:[^<>"'=]|=(?:[ \t\n]*(?:"[^"<]*"|'[^'<]*'))?)*)?>/y;
const VALUE = /"[^"]*"|'[^']*'/g;
const DIRECTION = /[\s/"]dir\s*=/i;

interface Tag {
  readonly kind: 'tag';
  readonly name: string;
  readonly isClosing: boolean;
  /** Whether the tag sets the direction in which its words are shown. */
  readonly turns: boolean;
}
/** `unfinished`: a tag or a comment that has no end, so the rest may be a part of it. */
type HtmlPart = Tag | { readonly kind: 'text'; readonly text: string } | { readonly kind: 'unfinished' };

/** Splits HTML into tags and shown text. An unfinished part is followed by the rest, as text. */
export function* partsOf(html: string): Generator<HtmlPart> {
  let from = 0;
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', Math.max(from, at + 1))) {
    if (!/[A-Za-z/!?]/.test(html.charAt(at + 1))) continue;
    yield { kind: 'text', text: html.slice(from, at) };
    TAG.lastIndex = at;
    const [whole, slash, name = '', attributes = ''] = TAG.exec(html) ?? [];
    from = whole === undefined ? endOfComment(html, at) : at + whole.length;
    if (from === 0) {
      yield { kind: 'unfinished' };
      from = at;
      break;
    }
    if (whole === undefined) continue;
    const turns = DIRECTION.test(attributes.replaceAll(VALUE, '""'));
    yield { kind: 'tag', name: name.toLowerCase(), isClosing: slash === '/', turns };
  }
  yield { kind: 'text', text: html.slice(from) };
}

/**
 * Finds the end of a comment (HTML Standard, 13.2.5.43 and after); 0 if it has none, or if Markdown
 * ends it elsewhere.
 */
function endOfComment(html: string, at: number): number {
  if (!html.startsWith('<!--', at)) return 0;
  const [empty] = /^-?>/.exec(html.slice(at + 4, at + 6)) ?? [];
  if (empty !== undefined) return at + 4 + empty.length;
  const end = /--!?>/g;
  end.lastIndex = at + 4;
  return end.test(html) ? end.lastIndex : 0;
}

/** Answers whether it is a tag of an element that must be closed, or must not be there. */
export function isElement(part: HtmlPart): boolean {
  return part.kind === 'tag' && [UNFIT, ENDED_BY_PARENT, CLOSED_BY_TAG].some((names) => names.has(part.name));
}

export class OpenElements {
  readonly #open: string[] = [];
  readonly #counts = new Map<string, number>();

  /** Takes the next tag. Gives the message if it is wrong; else null. */
  add(tag: Tag): string | null {
    const { name, isClosing, turns } = tag;
    if (UNFIT.has(name)) return `the HTML tag <${name}> cannot be used here; write it in backticks`;
    if (turns) return 'the HTML attribute dir cannot be used here; write the tag in backticks';
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

  /** Gives the message if something is still open at the end; else null. */
  end(): string | null {
    const [name] = this.#open;
    return name ? `the HTML tag <${name}> is never closed; close it, or write it in backticks` : null;
  }
}
