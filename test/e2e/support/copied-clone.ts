/**
 * Makes the folder that `git clone` makes, of a bare repository's own files: no program runs, and
 * nobody is asked. Only the index and the work tree are missing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyIntoFork, initBareRepository, readRef, readRefs } from '../../../sandbox/bare-repository.ts';
import { writeRef } from './loose-objects.ts';
import type { Upstream } from './upstream.ts';

export type Cloned = Pick<Upstream, 'path' | 'url'>;

/**
 * @param branch the one that is checked out; default: the repository's own.
 * @returns whether it is there.
 */
export function copyAsClone(
  { path, url }: Cloned,
  folder: string,
  branch: string = defaultBranch(path),
): boolean {
  initBareRepository(folder, branch);
  copyIntoFork(path, folder);
  const refs = [...readRefs(folder)].map(([ref, oid]) => `${oid} ${trackingRef(ref)}\n`);
  writeFileSync(join(folder, 'packed-refs'), refs.join(''));
  writeFileSync(join(folder, 'config'), configOf(url, branch));
  const tip = readRef(folder, trackingRef(`refs/heads/${branch}`));
  if (tip === undefined) return false;
  writeRef(folder, 'refs/remotes/origin/HEAD', `ref: ${trackingRef(`refs/heads/${defaultBranch(path)}`)}`);
  writeRef(folder, `refs/heads/${branch}`, tip);
  return true;
}

const defaultBranch = (path: string): string =>
  readFileSync(join(path, 'HEAD'), 'utf8').trim().replace('ref: refs/heads/', '');

const trackingRef = (ref: string): string => ref.replace(/^refs\/heads\//, 'refs/remotes/origin/');

function configOf(url: string, branch: string): string {
  return `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[remote "origin"]
\turl = ${url}
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "${branch}"]
\tremote = origin
\tmerge = refs/heads/${branch}
`;
}
