/**
 * The block structure of a Markdown text by the rules of CommonMark 0.31: which of its parts are HTML, which are text,
 * and which are code, that is, neither. Link definitions and tables count as text.
 *
 * Pure; its work is linear in the text, if lines within lines (quotes in lists in quotes) count as the depth that they
 * have.
 */
import {
  type Fence,
  endsFence,
  fenceStart,
  htmlStart,
  isDelimiterRow,
  isHeading,
  isThematicBreak,
  isUnderline,
  listItem,
} from './block-starts.ts';

/** Deeper nesting is refused: each line is compared with all that it lies in. */
const MOST_CONTAINERS = 50;
/** From so many spaces on a line begins no block but code. */
const CODE_INDENT = 4;

export interface Leaf {
  readonly kind: 'text' | 'html';
  /** The quotes and list items that it lies in, the outermost first. Each is the same object for all that it holds. */
  readonly within: readonly object[];
  /** Without their indentation, and without the marks of quotes and lists. */
  readonly lines: string[];
  /** It lies in a block quote, and each line of it is marked so. */
  isQuoted: boolean;
  /** A line of it looks like the second one of a table (an extension of CommonMark). */
  mayBeTable: boolean;
}

/** If it is a table. */
export function cellsOf({ lines }: Leaf): string[] {
  return lines.flatMap((line) => line.split(/(?<!\\)\|/));
}

/** `disputed`: renderers do not agree how to read it. */
export type OutlineProblem = 'disputed' | 'too-deep';

type Container =
  { readonly kind: 'quote' } | { readonly kind: 'item'; readonly width: number; isEmpty: boolean };

type Open =
  | { readonly kind: 'text'; readonly leaf: Leaf }
  | { readonly kind: 'html'; readonly leaf: Leaf; readonly end: string | null }
  | { readonly kind: 'fence'; readonly fence: Fence };

export class Outline {
  readonly leaves: Leaf[] = [];
  problem: OutlineProblem | null = null;
  #containers: Container[] = [];
  #open: Open | null = null;

  /** @param line without its line break. */
  add(line: string): void {
    if (this.problem !== null) return;
    const text = withoutTabs(line);
    const { at, depth } = this.#matched(text);
    if (this.problem !== null) return;
    if (depth === this.#containers.length && this.#isContinued(text.slice(at))) return;
    this.#begin(text, at, depth);
  }

  /** What goes on in the next line, whatever that is. */
  get open(): 'fence' | 'html' | null {
    const kind = this.#open?.kind ?? null;
    return kind === 'text' ? null : kind;
  }

  /** How many of the open containers the line lies in, and where its own text begins. */
  #matched(text: string): { at: number; depth: number } {
    let at = 0;
    let depth = 0;
    for (const container of this.#containers) {
      const indent = indentAt(text, at);
      const isBlank = at + indent === text.length;
      if (container.kind === 'quote') {
        if (text[at + indent] !== '>') break;
        // CommonMark ends the quote here, and not every renderer does.
        if (indent >= CODE_INDENT) this.#refuse('disputed');
        at += indent + 1;
        if (text[at] === ' ') at += 1;
      } else if (isBlank) {
        if (container.isEmpty) break;
      } else {
        if (indent < container.width) break;
        at += container.width;
      }
      depth += 1;
    }
    return { at, depth };
  }

  /** Gives the line to the open fence or HTML; false if there is none. */
  #isContinued(line: string): boolean {
    const open = this.#open;
    const indent = indentAt(line, 0);
    const text = line.slice(indent);
    if (open?.kind === 'fence') {
      if (indent < CODE_INDENT && endsFence(text, open.fence)) this.#open = null;
      return true;
    }
    if (open?.kind !== 'html') return false;
    if (open.end === null && text === '') this.#open = null;
    else this.#addHtml(open, text);
    return true;
  }

  /** Opens what the line opens: containers, and what is in the last of them. */
  #begin(line: string, from: number, matched: number): void {
    let [at, depth] = [from, matched];
    // A paragraph goes on in a line that opens nothing, even where the line does not lie in the paragraph's containers.
    let paragraph = this.#open?.kind === 'text' ? this.#open.leaf : null;
    for (;;) {
      const indent = indentAt(line, at);
      const text = line.slice(at + indent);
      if (text === '') return this.#close(depth);
      const isInside = paragraph !== null && depth === this.#containers.length;
      if (indent >= CODE_INDENT) {
        if (paragraph !== null) return this.#continue(paragraph, text, false);
        this.#close(depth);
        return this.#fill();
      }
      const item = isThematicBreak(text) || (isInside && isUnderline(text)) ? null : listItem(text);
      const isItem = item !== null && (item.mayInterrupt || !isInside);
      if (!isItem && !text.startsWith('>')) {
        return this.#beginLeaf(text, { paragraph, isInside, depth, isDisputed: item !== null });
      }
      this.#close(depth);
      this.#fill();
      paragraph = null;
      if (isItem) {
        this.#containers.push({ kind: 'item', width: indent + item.width, isEmpty: item.isEmpty });
        at = Math.min(line.length, at + indent + item.width);
      } else {
        this.#containers.push({ kind: 'quote' });
        at += indent + (text[1] === ' ' ? 2 : 1);
      }
      depth = this.#containers.length;
      if (depth > MOST_CONTAINERS) return this.#refuse('too-deep');
    }
  }

  /** @param isDisputed: it is read in another way below a table. */
  #beginLeaf(
    text: string,
    {
      paragraph,
      isInside,
      depth,
      isDisputed,
    }: {
      readonly paragraph: Leaf | null;
      readonly isInside: boolean;
      readonly depth: number;
      readonly isDisputed: boolean;
    },
  ): void {
    const fence = fenceStart(text);
    const html = htmlStart(text);
    if (html?.kind === 'disputed') return this.#refuse('disputed');
    if (html !== null && (html.mayInterrupt || paragraph === null)) {
      this.#close(depth);
      const open = { kind: 'html', leaf: this.#addLeaf('html'), end: html.end } as const;
      this.#open = open;
      return this.#addHtml(open, text);
    }
    if (fence !== null) {
      this.#close(depth);
      this.#fill();
      this.#open = { kind: 'fence', fence };
    } else if (isInside && isUnderline(text)) {
      // A paragraph of nothing but link definitions has no underline.
      if (paragraph?.lines[0]?.startsWith('[') === true) return this.#refuse('disputed');
      this.#open = null;
    } else if (isThematicBreak(text) || isHeading(text)) {
      this.#close(depth);
      this.#addLeaf('text').lines.push(text);
    } else if (paragraph !== null) {
      this.#continue(paragraph, text, isInside && !isDisputed && html === null);
    } else {
      this.#close(depth);
      const leaf = this.#addLeaf('text');
      leaf.lines.push(text);
      this.#open = { kind: 'text', leaf };
    }
  }

  /** @param isPlain if not, the line goes on with a paragraph, but not with a table or in every renderer's quote. */
  #continue(paragraph: Leaf, text: string, isPlain: boolean): void {
    if (paragraph.mayBeTable && !isPlain) return this.#refuse('disputed');
    if (!isPlain) paragraph.isQuoted = false;
    paragraph.lines.push(text);
    paragraph.mayBeTable ||= isDelimiterRow(text);
  }

  #addHtml({ leaf, end }: Extract<Open, { kind: 'html' }>, text: string): void {
    leaf.lines.push(text);
    if (end !== null && text.toLowerCase().includes(end.toLowerCase())) this.#open = null;
  }

  #addLeaf(kind: Leaf['kind']): Leaf {
    this.#fill();
    const isQuoted = this.#containers.some((container) => container.kind === 'quote');
    const leaf = { kind, within: [...this.#containers], lines: [], isQuoted, mayBeTable: false };
    this.leaves.push(leaf);
    return leaf;
  }

  /** The innermost container holds something. */
  #fill(): void {
    const last = this.#containers.at(-1);
    if (last?.kind === 'item') last.isEmpty = false;
  }

  /** Ends what is open below so many containers. */
  #close(depth: number): void {
    this.#containers.length = depth;
    this.#open = null;
  }

  #refuse(problem: OutlineProblem): void {
    this.problem = problem;
  }
}

function indentAt(text: string, at: number): number {
  let end = at;
  while (text[end] === ' ') end += 1;
  return end - at;
}

/** Tabs reach to the next column that is a multiple of four. */
function withoutTabs(line: string): string {
  if (!line.includes('\t')) return line;
  let text = '';
  for (const part of line.split(/(\t)/)) text += part === '\t' ? ' '.repeat(4 - (text.length % 4)) : part;
  return text;
}
