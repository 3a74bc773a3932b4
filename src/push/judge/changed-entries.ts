/** What is told of entries that a push changes: submodules and workflows. */
import { WORKFLOW_HOME, WORKFLOWS } from '../../policy/community-files.ts';
import { type Policy, POLICY_PATH, workflowSentence } from '../../policy/policy.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { oneLine } from '../../host-text.ts';
import type { ChangedEntry } from '../changes.ts';
import { Refusal } from '../reply/refusal.ts';
import { told } from './names/remarks.ts';

const SHOWN_ID_LENGTH = 12;

/**
 * Ids of submodules' commits leave unchanged, and if those commits are not public, nobody can get them. The host is not
 * asked whether they are: it would learn ids that may not become public.
 */
export function submoduleLines(changed: readonly ChangedEntry[] | null): readonly string[] {
  if (changed === null)
    return ['This repository has submodules. The service could not check whether you change one.'];
  const submodules = changed.flatMap(({ path, oid, isSubmodule }) =>
    isSubmodule ? [`${oneLine(path)} at ${oid?.slice(0, SHOWN_ID_LENGTH)}`] : [],
  );
  if (submodules.length === 0) return [];
  return [
    ...told('This push changes submodules. It names these commits:', submodules),
    'Publish them in the submodules too, or nobody can get them. Ids of your own commits can be recognised.',
  ];
}

/** @throws Refusal if the repository takes no changes of workflows. */
export function workflowLines(
  changed: readonly ChangedEntry[] | null,
  repository: RepositoryName,
  { refusesWorkflows, community: { hasWorkflows } }: Policy,
): readonly string[] {
  const isWorkflow = ({ path, oid }: ChangedEntry) =>
    WORKFLOWS.test(path) || (hasWorkflows && oid === null && WORKFLOW_HOME.test(path));
  const paths = changed?.filter(isWorkflow).map(({ path }) => path);
  if (refusesWorkflows && paths?.length !== 0) {
    throw new Refusal('workflows', 'the repository takes no changes of workflows', [
      `The ${POLICY_PATH} of ${fullName(repository)} says so.`,
      paths === undefined
        ? 'The service could not check whether this push has any. Push again later, or fewer files at once.'
        : `Leave out ${oneLine(paths[0] ?? '')}, in every commit, then push again.`,
    ]);
  }
  if (paths === undefined)
    return hasWorkflows ? ['The service could not check whether you change workflows.'] : [];
  return paths.length === 0 ? [] : [workflowSentence(paths)];
}
