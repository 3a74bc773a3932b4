/**
 * Which refs a client lists (gitprotocol-v2, "ls-refs"), without the names of its branches.
 *
 * After `git push -u`, every `git fetch` and `git pull` names the tracked branch in a prefix. Upstream has no such
 * branch, so its name is the client's own, and often tells who they are. So names of branches and tags are not passed
 * on: all branches or all tags are listed, and the client takes what it wants. A prefix is only a hint to the host.
 */

/** Of all prefixes together: some 1,500. If there are more, everything is listed. */
export const MAX_PREFIX_BYTES = 64 * 1024;
const EVERYTHING = 'refs/';
/** These are too many to list all of them, and their names are only numbers. */
const OF_PULL_REQUEST = /^refs\/pull\/(?:\d{1,10}\/(?:head|merge)?)?$/;
const SPACES = ['refs/heads/', 'refs/tags/', 'refs/remotes/'] as const;

export class RefPrefixes {
  readonly #given = new Set<string>();
  #bytes = 0;
  #isOverLimit = false;

  /** @param prefix may be a part of a longer text, which is not kept. */
  add(prefix: string): void {
    if (this.#given.has(prefix)) return;
    this.#bytes += prefix.length;
    if (this.#bytes > MAX_PREFIX_BYTES) this.#isOverLimit = true;
    else this.#given.add(Buffer.from(prefix, 'latin1').toString('latin1'));
  }

  /** The prefixes that are passed on; none if the client gave none. */
  widened(): readonly string[] {
    if (this.#given.size === 0 && !this.#isOverLimit) return [];
    const widened = new Set([...this.#given].flatMap((prefix) => this.#widen(prefix) ?? []));
    if (this.#isOverLimit || widened.size === 0) return ['HEAD', EVERYTHING];
    return [...widened];
  }

  #widen(prefix: string): string | null {
    if (prefix === 'HEAD' || OF_PULL_REQUEST.test(prefix)) return prefix;
    const space = SPACES.find((start) => prefix.startsWith(start));
    if (space !== undefined) return space;
    // Git expands a short name to what it can mean: `fix`, `refs/fix`, `refs/tags/fix`, `refs/heads/fix` and so on.
    const isExpansion = prefix.startsWith(EVERYTHING) && this.#given.has(prefix.slice(EVERYTHING.length));
    return prefix.startsWith(EVERYTHING) && !isExpansion ? prefix : null;
  }
}
