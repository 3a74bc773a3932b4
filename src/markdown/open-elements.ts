/**
 * Which HTML elements are open after some tags. Stricter than a browser, so that it never misses an element that a
 * browser leaves open: tags must be closed in the reverse order. Names that are not HTML's (`Vec<u8>`) open nothing.
 */
import type { Tag } from './html-tags.ts';

/** What is in them is not Markdown, not HTML or not shown; the code host shows none of them. */
const UNFIT: ReadonlySet<string> = new Set(
  (
    'applet base body frame frameset head html iframe link math meta noembed noframes noscript object plaintext script ' +
    'select style svg template textarea title xmp'
  ).split(' '),
);
/** The end of what they lie in is their end. */
const ENDED_BY_PARENT: ReadonlySet<string> = new Set(
  'caption colgroup dd dt li optgroup option rp rt tbody td tfoot th thead tr'.split(' '),
);
/** Not `p`: the line above the footer ends it. */
const CLOSED_BY_TAG: ReadonlySet<string> = new Set(
  (
    'a abbr acronym address article aside audio b bdi bdo big blockquote button canvas center cite code data datalist ' +
    'del details dfn dialog dir div dl em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hgroup i ' +
    'ins kbd label legend listing main map mark marquee menu meter nav nobr ol output picture pre progress q ruby s samp ' +
    'search section slot small span strike strong sub summary sup table time tt u ul var video'
  ).split(' '),
);

export type ElementProblem = { readonly kind: 'unfit' | 'open' | 'crossed'; readonly name: string };

export class OpenElements {
  readonly #open: string[] = [];
  /** How many of each name are open. */
  readonly #counts = new Map<string, number>();

  /** @returns what is wrong with the tag; null: nothing. */
  add({ name, isClosing, isDoubtful }: Tag): ElementProblem | null {
    if (UNFIT.has(name)) return { kind: 'unfit', name };
    if (!CLOSED_BY_TAG.has(name) && !ENDED_BY_PARENT.has(name)) return null;
    if (!isClosing) {
      this.#open.push(name);
      this.#count(name, 1);
      return null;
    }
    if (isDoubtful || (this.#counts.get(name) ?? 0) === 0) return null;
    for (let last = this.#open.pop() ?? name; ; last = this.#open.pop() ?? name) {
      this.#count(last, -1);
      if (last === name) return null;
      if (!ENDED_BY_PARENT.has(last)) return { kind: 'crossed', name: last };
    }
  }

  #count(name: string, change: 1 | -1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + change);
  }

  /** What is left open. */
  end(): ElementProblem | null {
    const [name] = this.#open;
    return name === undefined ? null : { kind: 'open', name };
  }
}
