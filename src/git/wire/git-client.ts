/**
 * Recognizes the Git client of a request, because some answers depend on it. Its name is never
 * kept, logged or passed on.
 */

/**
 * The kinds of clients that are told apart. `libgit2` is everything built on it. `other` is JGit,
 * go-git, dulwich, isomorphic-git or an unknown client.
 */
export type GitClient = 'git' | 'libgit2' | 'other';

/**
 * Tells the client by its user agent. Libraries begin with `git/`, too, such as `git/2.0 (libgit2
 * 1.9.0)`. Only Git itself has a version of three parts there, such as `git/2.39.5`.
 */
export function gitClientOf(userAgent: string): GitClient {
  if (/libgit2/i.test(userAgent)) return 'libgit2';
  return /^git\/\d+\.\d+\./.test(userAgent) ? 'git' : 'other';
}
