/**
 * Which Git client makes the request, as some answers depend on it. Its name is never kept, logged
 * or passed on.
 */

/**
 * `libgit2`: anything built on it. `other`: JGit, go-git, dulwich, isomorphic-git, or an unknown
 * client.
 */
export type GitClient = 'git' | 'libgit2' | 'other';

/**
 * Libraries begin with `git/` too: `git/2.0 (libgit2 1.9.0)`. Only git has a longer version there,
 * as `git/2.39.5`.
 */
export function gitClientOf(userAgent: string): GitClient {
  if (/libgit2/i.test(userAgent)) return 'libgit2';
  return /^git\/\d+\.\d+\./.test(userAgent) ? 'git' : 'other';
}
