/**
 * The tags in the HTML of a Markdown text. A browser must find the same ones, whatever Markdown makes of the rest;
 * where that is not certain, the text is `disputed`. Pure, and linear in the text.
 */
import { TAG, TAG_WITH_TAG } from './block-starts.ts';

export interface Tag {
  /** In lower case. */
  readonly name: string;
  readonly isClosing: boolean;
  /** A closing tag that perhaps is none: it may be part of a link, or of a formula. */
  readonly isDoubtful: boolean;
}

/** `unfinished`: a tag or a comment has no end, or is no HTML: what follows may become a part of it. */
export type TagProblem = 'disputed' | 'unfinished';

const ANY_TAG = /<[A-Za-z/!?]/;
/** White space to some programs, and none to others. */
export const DISPUTED_SPACE =
  /<\/?[A-Za-z][^<>]*[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;

const WHOLE_TAG = new RegExp(TAG, 'y');
const PARTIAL_TAG = new RegExp(TAG_WITH_TAG, 'y');
/** Without spaces and quotes it ends at `>`, whatever it holds. */
const PLAIN_TAG = /<(?<opened>[A-Za-z][^ \n/<>"']*)[^ \n<>"']*>/y;
/** HTML calls them comments, too, and ends them there. */
const BOGUS_COMMENT = /<[!?](?!--)[^>]*>/y;

/** The tags of an HTML block. */
export function tagsOfHtml(html: string): readonly Tag[] | TagProblem {
  if (DISPUTED_SPACE.test(html)) return 'disputed';
  const tags: Tag[] = [];
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    const found = matchAt(WHOLE_TAG, html, at) ?? matchAt(PLAIN_TAG, html, at);
    if (found !== null) tags.push(tagOf(found, false));
    const length =
      found?.[0].length ??
      (html.startsWith('<!--', at)
        ? commentLength(html, at)
        : matchAt(BOGUS_COMMENT, html, at)?.[0].length) ??
      (ANY_TAG.test(html.slice(at, at + 2)) ? null : 1);
    if (length === null) return 'unfinished';
    at += length;
  }
  return tags;
}

/** HTML Standard, 13.2.5.43 and after. Null: it has no end. */
function commentLength(html: string, at: number): number | null {
  const [empty] = /^-?>/.exec(html.slice(at + 4, at + 6)) ?? [];
  if (empty !== undefined) return 4 + empty.length;
  const end = /--!?>/g;
  end.lastIndex = at + 4;
  return end.test(html) ? end.lastIndex - at : null;
}

const ESCAPED = /\\[!-/:-@[-`{-~]/y;
const AUTOLINK = /<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\p{Cc} <>]*>/uy;
/** One that all versions of CommonMark take for a comment. */
const COMMENT = /<!--(?!-?>)(?:[^-]|-(?!-))*-->/y;
const LINK_TARGET = String.raw`(?:<[^<>\n\\]*>|(?!<)(?:\\.|[^ \n()\\]|\([^ \n()]*\))+)`;
const LINK_TITLE = String.raw`[ \n]+(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\((?:\\.|[^()\\])*\))[ \n]*`;
/** What follows the text of a link. There is one way only to divide white space, so that much of it costs no time. */
export const LINK_TAIL = new RegExp(
  String.raw`\]\((?:[ \n]*(?:${LINK_TARGET}(?:${LINK_TITLE}|[ \n]*))?|${LINK_TITLE})\)`,
  'sy',
);
const DISPUTED_LABEL = /\]\[[^\]]*[`<]/y;
const DEFINITION = /^\[(?:\\.|[^\]\\])*\]:/s;

/** The tags in the text of a paragraph, a heading or a cell of a table, where code is none. */
export function tagsOfText(text: string): readonly Tag[] | TagProblem {
  if (!ANY_TAG.test(text)) return [];
  if (DISPUTED_SPACE.test(text) || DEFINITION.test(text)) return 'disputed';
  const tags: Tag[] = [];
  const codeEnds = new CodeEnds(text);
  const [firstDollar, lastDollar] = [text.indexOf('$'), text.lastIndexOf('$')];
  const special = /[\\`<[\]]/g;
  let [imageDepth, tailEnd, isDoubtful] = [0, 0, false];
  for (let found = special.exec(text); found !== null; found = special.exec(text)) {
    const at = found.index;
    const mark = found[0];
    let end = at + 1;
    if (mark === '\\') {
      end = at + (matchAt(ESCAPED, text, at)?.[0].length ?? 1);
    } else if (mark === '`') {
      end = codeEnds.behind(at);
    } else if (mark === '<') {
      const tag = matchAt(WHOLE_TAG, text, at);
      if (tag !== null) {
        const isInFormula = firstDollar >= 0 && firstDollar < at && at < lastDollar;
        tags.push(tagOf(tag, isDoubtful || isInFormula || imageDepth > 0 || at < tailEnd));
      } else if (matchAt(PARTIAL_TAG, text, at) !== null) {
        return 'disputed';
      }
      const whole = tag ?? matchAt(AUTOLINK, text, at) ?? matchAt(COMMENT, text, at);
      end = at + (whole?.[0].length ?? 1);
      if (whole === null && '!?'.includes(text[at + 1] ?? ' ')) {
        if (text.includes('`', at)) return 'disputed';
        isDoubtful = true;
      }
      if (at < tailEnd && end > tailEnd) return 'disputed';
    } else if (at >= tailEnd) {
      if (mark === ']') {
        const tail = matchAt(LINK_TAIL, text, at)?.[0] ?? null;
        if (tail !== null && /[`[\]]/.test(tail.slice(1))) return 'disputed';
        if (matchAt(DISPUTED_LABEL, text, at) !== null) return 'disputed';
        if (tail === null && text[at + 1] === '(') {
          if (text.includes('`', at)) return 'disputed';
          isDoubtful = true;
        }
        if (tail !== null) tailEnd = at + tail.length;
        imageDepth = Math.max(0, imageDepth - 1);
      } else if (mark === '[') {
        if (imageDepth > 0 || text[at - 1] === '!') imageDepth += 1;
      }
    }
    special.lastIndex = end;
  }
  return tags;
}

/**
 * The text of a paragraph, a heading or a cell without its code spans; all of it where it is not certain what is code.
 */
export function withoutCode(text: string): string {
  if (!text.includes('`') || DEFINITION.test(text) || !Array.isArray(tagsOfText(text))) return text;
  const codeEnds = new CodeEnds(text);
  const special = /\\|`+|</g;
  let [shown, from] = ['', 0];
  for (let found = special.exec(text); found !== null; found = special.exec(text)) {
    const { 0: mark, index: at } = found;
    let end = at + mark.length;
    if (mark === '\\') {
      end = at + (matchAt(ESCAPED, text, at)?.[0].length ?? 1);
    } else if (mark === '<') {
      const whole = matchAt(WHOLE_TAG, text, at) ?? matchAt(AUTOLINK, text, at) ?? matchAt(COMMENT, text, at);
      end = at + (whole?.[0].length ?? 1);
    } else {
      const behind = codeEnds.behind(at);
      special.lastIndex = behind;
      if (behind === end) continue;
      end = behind;
      shown += `${text.slice(from, at)} `;
      from = end;
    }
    special.lastIndex = end;
  }
  return shown + text.slice(from);
}

/** Where code spans end: at the next run of as many backticks. */
class CodeEnds {
  readonly #text: string;
  /** By length, where its runs begin; in order. */
  readonly #runs = new Map<number, number[]>();
  readonly #seen = new Map<number, number>();

  constructor(text: string) {
    this.#text = text;
    for (const { 0: run, index } of text.matchAll(/`+/g)) {
      const starts = this.#runs.get(run.length) ?? [];
      starts.push(index);
      this.#runs.set(run.length, starts);
    }
  }

  /** Behind the code span that begins at `at`, or behind its backticks if they begin none. Asked in ascending order. */
  behind(at: number): number {
    const [run = ''] = matchAt(/`+/y, this.#text, at) ?? [];
    const starts = this.#runs.get(run.length) ?? [];
    let next = this.#seen.get(run.length) ?? 0;
    while (next < starts.length && (starts[next] as number) <= at) next += 1;
    this.#seen.set(run.length, next);
    return (starts[next] ?? at) + run.length;
  }
}

function tagOf({ groups = {} }: RegExpExecArray, isDoubtful: boolean): Tag {
  const { opened, closed } = groups;
  return { name: (opened ?? closed ?? '').toLowerCase(), isClosing: closed !== undefined, isDoubtful };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
