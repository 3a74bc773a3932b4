/**
 * Widens the prefixes of the refs that a client lists (gitprotocol-v2, "ls-refs"). After `git push
 * -u`, every `git fetch` names the tracked branch, which often tells who the person is. So all
 * branches or all tags are listed instead, which Git allows because a prefix is only a hint.
 * Proved by test/git/wire/fetch-request.test.ts.
 */
import { ownText } from '../bytes.ts';

/** Maximum length of all prefixes together, some 1,500 of them. Above it, everything is listed. */
export const MAX_PREFIX_BYTES = 64 * 1024;
const EVERYTHING = 'refs/';
/**
 * Matches refs of pull requests. They are too many to list all of them, and their names contain
 * only numbers.
 */
const PULL_REQUEST_REF = /^refs\/pull\/(?:\d{1,10}\/(?:head|merge)?)?$/;
const BRANCHES = 'refs/heads/';
const SPACES = [BRANCHES, 'refs/tags/', 'refs/remotes/'] as const;

export class RefPrefixes {
  readonly #given = new Set<string>();
  #bytes = 0;
  #isOverLimit = false;

  /** Adds a prefix that the client has sent. A copy of it is kept. */
  add(prefix: string): void {
    if (this.#given.has(prefix)) return;
    this.#bytes += prefix.length;
    if (this.#bytes > MAX_PREFIX_BYTES) this.#isOverLimit = true;
    else this.#given.add(ownText(prefix));
  }

  /**
   * Returns the prefixes that are passed on, in alphabetical order. There are none if the client
   * gave none.
   */
  widened(): readonly string[] {
    if (this.#given.size === 0 && !this.#isOverLimit) return [];
    const widened = new Set([...this.#given].flatMap((prefix) => this.#widen(prefix) ?? []));
    if (this.#isOverLimit || widened.size === 0) return ['HEAD', EVERYTHING];
    // A clone, newer versions of Git, and the service before a push ask for HEAD, too.
    if (widened.has(BRANCHES)) widened.add('HEAD');
    return [...widened].toSorted();
  }

  #widen(prefix: string): string | null {
    if (prefix === 'HEAD' || PULL_REQUEST_REF.test(prefix)) return prefix;
    const space = SPACES.find((start) => prefix.startsWith(start));
    // Git also expands a whole name, for example to `refs/remotes/refs/heads/fix/HEAD`.
    const rest = prefix.slice(space?.length ?? prefix.length).replace(/\/HEAD$/, '');
    if (rest.startsWith(EVERYTHING) && this.#given.has(rest)) return null;
    if (space !== undefined) return space;
    // Git expands a short name to all that it can mean: `fix`, `refs/fix`, `refs/tags/fix`,
    // `refs/heads/fix` and so on.
    const isExpansion = prefix.startsWith(EVERYTHING) && this.#given.has(prefix.slice(EVERYTHING.length));
    return prefix.startsWith(EVERYTHING) && !isExpansion ? prefix : null;
  }
}
