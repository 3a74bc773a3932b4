/**
 * Refuses what a token without the scope `workflow` may not do: move a branch of a fork to commits
 * that change workflows (cli/cli#7574). The answer to a sync says why; an update of the ref is
 * answered with 404.
 */
import { runGit } from '../git-command.ts';
import type { Host } from '../host.ts';
import { workflowWords } from '../known-answers.ts';
import type { Repository } from '../records.ts';
import { notFound, Refusal } from './api-call.ts';

const FOLDER = '.github/workflows/';

/**
 * Checks a move of a branch.
 * @param path a repository that has both commits.
 * @throws Refusal if the host would refuse.
 */
export async function requireWorkflowScope(
  host: Host,
  source: Repository,
  from: string,
  to: string,
  call: 'merge-upstream' | 'ref',
): Promise<void> {
  if (host.botScopes.includes('workflow')) return;
  const diff = await runGit(host.pathOf(source), ['diff', '--name-only', from, to, '--', FOLDER]);
  const [file] = diff.stdout.toString().split('\n');
  if (file === undefined || file === '') return;
  if (call === 'ref') throw notFound();
  throw new Refusal(422, workflowWords(file));
}
