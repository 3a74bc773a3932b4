/** The repositories that rows share, each made once in a run: upstream's, and a client's that is ahead of it. */
import { CodeHistory } from './code-history.ts';
import { fastImport } from './fast-import.ts';
import { clientOf, git, type Pack, packOfPush } from './git.ts';
import { branchOfBytes, branchOfCommits, mainLine } from './histories.ts';
import { WARM_UP } from './rig.ts';
import type { Workspace } from './workspace.ts';

export interface Repositories {
  /** Bare; what upstream has. */
  readonly source: string;
  /** Bare; has `WARM_UP` and whatever branches are pushed. */
  readonly client: string;
}

const CODE_COMMITS = 10_000;
/** The branch of `codeRepository`. */
export const CODE_BRANCH = 'work';

async function emptyRepository(folder: string): Promise<string> {
  await git(folder, ['init', '--quiet', '--bare', '--initial-branch=main']);
  return folder;
}

function warmUp(): Iterable<string> {
  return branchOfCommits(WARM_UP, 1, 999_999);
}

/** A line of so many commits, without branches of its own. */
export function lineOfCommits(workspace: Workspace, commits: number): Promise<Repositories> {
  return workspace.once(`a line of ${commits} commits`, async () => {
    const source = await emptyRepository(workspace.folder('line'));
    await fastImport(source, mainLine(commits));
    const client = await clientOf(source, workspace.folder('line-client'));
    await fastImport(client, warmUp());
    return { source, client };
  });
}

/** A short line of commits, and a branch of one commit and so many megabytes. */
export async function megabytesAhead(
  workspace: Workspace,
  megabytes: number,
): Promise<Repositories & { branch: string }> {
  const repositories = await lineOfCommits(workspace, 10);
  const branch = `megabytes-${megabytes}`;
  await workspace.once(branch, () => fastImport(repositories.client, branchOfBytes(branch, megabytes)));
  return { ...repositories, branch };
}

/** Some 70,000 objects and 40 MB of code ahead of upstream, and the pack that a push of them sends. */
export function codeRepository(workspace: Workspace): Promise<Repositories & { pack: Pack }> {
  return workspace.once('a repository of code', async () => {
    const history = new CodeHistory();
    const source = await emptyRepository(workspace.folder('code'));
    await fastImport(source, history.base());
    const client = await clientOf(source, workspace.folder('code-client'));
    await fastImport(client, warmUp());
    await fastImport(client, history.pushed(CODE_BRANCH, CODE_COMMITS));
    await git(client, ['repack', '-a', '-d', '-l', '--quiet']);
    const pack = await packOfPush(client, CODE_BRANCH, `${workspace.folder('pack')}/code.pack`);
    return { source, client, pack };
  });
}
