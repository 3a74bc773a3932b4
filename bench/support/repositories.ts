/**
 * Repositories that rows share, each made once in a run: upstream's, and a client's that is ahead
 * of it.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CodeHistory } from './code-history.ts';
import { fastImport } from './fast-import.ts';
import { clientOf, git, type Pack, packOfPush } from './git.ts';
import { branchOfBytes, branchOfCommits, branchOfCommitsOnly, mainLine } from './histories.ts';
import { WARM_UP } from './rig.ts';
import type { Workspace } from './workspace.ts';

export interface Repositories {
  /** Bare repository of upstream. */
  readonly source: string;
  /** Bare repository of the client, with `WARM_UP` and the branches to push. */
  readonly client: string;
}

const CODE_COMMITS = 12_500;
/** Branch of `codeRepository`. */
export const CODE_BRANCH = 'work';

export async function emptyRepository(folder: string): Promise<string> {
  await git(folder, ['init', '--quiet', '--bare', '--initial-branch=main']);
  return folder;
}

function warmUp(): Iterable<string> {
  return branchOfCommits(WARM_UP, 1, 999_999);
}

/** Makes a line of so many commits, without branches of its own. */
export function lineOfCommits(workspace: Workspace, commits: number): Promise<Repositories> {
  return workspace.once(`a line of ${commits} commits`, async () => {
    const source = await emptyRepository(workspace.folder('line'));
    await fastImport(source, mainLine(commits));
    const client = await clientOf(source, workspace.folder('line-client'));
    await fastImport(client, warmUp());
    return { source, client };
  });
}

export interface BranchAhead extends Repositories {
  readonly branch: string;
}

/** Makes a short line of commits, and a branch of one commit and so many megabytes. */
export function megabytesAhead(workspace: Workspace, megabytes: number): Promise<BranchAhead> {
  const branch = `megabytes-${megabytes}`;
  return branchAhead(workspace, branch, () => branchOfBytes(branch, megabytes));
}

/** Makes a short line of commits, and a branch of so many commits and nothing else. */
export function commitsAhead(workspace: Workspace, commits: number): Promise<BranchAhead> {
  const branch = `commits-${commits}`;
  return branchAhead(workspace, branch, () => branchOfCommitsOnly(branch, commits));
}

/** Makes a short line of commits, and a branch of so many commits with a message of one word. */
export function tinyCommitsAhead(workspace: Workspace, commits: number): Promise<BranchAhead> {
  const branch = `tiny-${commits}`;
  return branchAhead(workspace, branch, () => branchOfCommitsOnly(branch, commits, 1));
}

/** Makes a line of so many commits of the last day. */
export function busyLine(workspace: Workspace, commits: number): Promise<string> {
  return workspace.once(`a line of ${commits} commits of the last day`, async () => {
    const source = await emptyRepository(workspace.folder('busy'));
    await fastImport(source, mainLine(10));
    await fastImport(source, branchOfCommitsOnly('busy', commits));
    await git(source, ['branch', '--quiet', '--force', 'main', 'busy']);
    return source;
  });
}

/**
 * Makes a short line of commits with so many branches.
 * @param nameLength least length of their names.
 */
export function manyRefs(workspace: Workspace, refs: number, nameLength = 0): Promise<string> {
  const what = `${refs} refs of ${nameLength}`;
  return workspace.once(what, async () => {
    const source = await emptyRepository(workspace.folder(what.replaceAll(' ', '-')));
    await fastImport(source, mainLine(10));
    const tip = (await git(source, ['rev-parse', 'main'])).trim();
    const names = Array.from(
      { length: refs },
      (_, ref) => `refs/heads/user-${ref % 97}/change-${String(ref).padStart(nameLength, '0')}`,
    );
    const lines = names.map((name) => `${tip} ${name}\n`);
    await writeFile(join(source, 'packed-refs'), `# pack-refs with: peeled \n${lines.join('')}`);
    return source;
  });
}

async function branchAhead(
  workspace: Workspace,
  branch: string,
  history: () => Iterable<string>,
): Promise<BranchAhead> {
  const repositories = await lineOfCommits(workspace, 10);
  await workspace.once(branch, () => fastImport(repositories.client, history()));
  return { ...repositories, branch };
}

export interface CodeRepository extends Repositories {
  /** Pack that a push of `CODE_BRANCH` sends. */
  readonly pack: Pack;
}

/** Makes some 70,000 objects and 40 MB of code ahead of upstream. */
export function codeRepository(workspace: Workspace): Promise<CodeRepository> {
  return workspace.once('a repository of code', async () => {
    const history = new CodeHistory();
    const source = await emptyRepository(workspace.folder('code'));
    await fastImport(source, history.base());
    const client = await clientOf(source, workspace.folder('code-client'));
    await fastImport(client, warmUp());
    await fastImport(client, history.pushed(CODE_BRANCH, CODE_COMMITS), 6);
    await git(client, ['repack', '-a', '-d', '-l', '--quiet']);
    return {
      source,
      client,
      pack: await packOfPush(client, CODE_BRANCH, join(workspace.folder('packs'), 'push.pack')),
    };
  });
}
