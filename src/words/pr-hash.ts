/** The public name of a pull request, and of its branch in the bot's fork (contract, 2.7). */

/** Matches every hash that is accepted; `newPrHash` makes 12 characters. */
export const PR_HASH_PATTERN = /^[0-9a-f]{8,40}$/;

/**
 * Makes a hash with at least one letter: JGit takes `PR hash: 859747725008` for a progress count
 * that is too large, and breaks off.
 */
export function newPrHash(): string {
  const hash = Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('hex');
  return /[a-f]/.test(hash) ? hash : newPrHash();
}

export function pullRequestPath(prHash: string): string {
  return `/v1/pr/${prHash}`;
}

/** Names the branch in the bot's fork. */
export function workBranch(prHash: string): string {
  return `anon-${prHash}`;
}

/** Gives the hash in a branch's name; null if it is no branch of the service. */
export function prHashOf(branch: string): string | null {
  const prHash = branch.startsWith('anon-') ? branch.slice('anon-'.length) : '';
  return PR_HASH_PATTERN.test(prHash) ? prHash : null;
}
