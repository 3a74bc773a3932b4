/** Who speaks, by the names that real clients give themselves. */
import { expect, it } from 'vitest';
import { gitClientOf } from '../../../src/git/wire/git-client.ts';

it.each([
  ['git/2.39.5', 'git'],
  ['git/2.47.1.windows.2', 'git'],
  ['git/2.39.5.(Apple.Git-154)', 'git'],
  ['git/2.50.0-Linux', 'git'],
  ['git/2.0 (libgit2 1.9.0)', 'libgit2'],
  ['JGit/7.1.0.202411261347-r', 'other'],
  ['git/dulwich/0.22.7', 'other'],
  ['git/isomorphic-git@1.44.11', 'other'],
  ['go-git/5.x', 'other'],
  ['git/1.0', 'other'],
  ['', 'other'],
])('%s is %s', (userAgent, client) => {
  expect(gitClientOf(userAgent)).toBe(client);
});
