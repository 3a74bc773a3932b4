/**
 * Whether the service's footer stays visible below an author's words, and is the only one (contract, 2.5 and 2.6).
 *
 * The words are published as they are, so what would swallow the footer, or pass for one, is refused with the reason:
 * code fences, HTML comments and HTML elements that are left open, and lines in the form of a footer outside of quotes
 * and code blocks. Where renderers of Markdown disagree and the footer may depend on it, the text is refused, too.
 *
 * Pure; its work is linear in the text.
 */
import { type Tag, type TagProblem, tagsOfHtml, tagsOfText } from './html-tags.ts';
import { type ElementProblem, OpenElements } from './open-elements.ts';
import { cellsOf, type Leaf, Outline } from './outline.ts';
import { looksLikeFooter } from './forged-footer.ts';

export const FENCE_IS_OPEN = 'a code fence is never closed; close it, or it hides the footer';

/** The message for the author; null: the footer stays visible. @param body without NUL characters. */
export function footerProblem(body: string): string | null {
  const outline = new Outline();
  // White space to some programs.
  if (/[\v\f]/.test(body)) return 'body must not contain form feeds or vertical tabs';
  for (const line of body.split(/\r\n|\n|\r/)) outline.add(line);
  // As above the footer.
  outline.add('');
  if (outline.problem === 'too-deep') return 'body must not nest quotes and lists more than 50 levels deep';
  if (outline.problem !== null) return DISPUTED;
  if (outline.open === 'fence') return FENCE_IS_OPEN;
  if (outline.open === 'html')
    return 'an HTML comment or block is never closed; close it, or it hides the footer';
  return htmlProblem(outline.leaves) ?? (outline.leaves.some(isForged) ? FORGED : null);
}

const DISPUTED =
  'it depends on the program how this Markdown is read; write HTML in backticks, or put empty lines between the parts';
const FORGED =
  "body must not hold a line in the form of the service's footer; to quote one, begin the line with > or use a code block";

function isForged({ isQuoted, lines }: Leaf): boolean {
  return !isQuoted && looksLikeFooter(lines.join('\n'));
}

/**
 * Each quote and list item must close what it opens. Its own end is another element's: in an open `<table>`, a browser
 * ignores that, and the quote around the table stays open.
 */
function htmlProblem(leaves: readonly Leaf[]): string | null {
  const outermost = new OpenElements();
  const inner: { readonly container: object; readonly elements: OpenElements }[] = [];
  const endedFrom = (depth: number): string | null => {
    const [problem = null] = inner.splice(depth).flatMap(({ elements }) => elements.end() ?? []);
    return wordsOf(problem);
  };
  for (const leaf of leaves) {
    const same = inner.findIndex(({ container }, depth) => container !== leaf.within[depth]);
    const left = endedFrom(same < 0 ? inner.length : same);
    if (left !== null) return left;
    for (const container of leaf.within.slice(inner.length)) {
      inner.push({ container, elements: new OpenElements() });
    }
    const elements = inner.at(-1)?.elements ?? outermost;
    const text = leaf.lines.join('\n');
    if (leaf.mayBeTable) {
      // As a table, and as a paragraph: either way it must leave nothing open, and it closes nothing above it.
      for (const part of [text, ...cellsOf(leaf)]) {
        const alone = new OpenElements();
        const problem = problemOf(tagsOfText(part), alone) ?? wordsOf(alone.end());
        if (problem !== null) return problem;
      }
    } else {
      const problem = problemOf(leaf.kind === 'html' ? tagsOfHtml(text) : tagsOfText(text), elements);
      if (problem !== null) return problem;
    }
  }
  return endedFrom(0) ?? wordsOf(outermost.end());
}

function problemOf(tags: readonly Tag[] | TagProblem, elements: OpenElements): string | null {
  if (tags === 'disputed') return DISPUTED;
  if (tags === 'unfinished')
    return `an HTML tag or comment is not complete; complete it, or write it in backticks`;
  for (const tag of tags) {
    const problem = elements.add(tag);
    if (problem !== null) return wordsOf(problem);
  }
  return null;
}

/** The names are those of HTML: nothing of the author's is repeated. */
function wordsOf(problem: ElementProblem | null): string | null {
  if (problem === null) return null;
  const tag = `<${problem.name}>`;
  switch (problem.kind) {
    case 'unfit':
      return `the HTML tag ${tag} cannot be used here; write it in backticks`;
    case 'open':
      return `the HTML tag ${tag} is never closed; close it, or write it in backticks`;
    case 'crossed':
      return `the HTML tag ${tag} is not closed before the one around it; close it, or write it in backticks`;
  }
}
