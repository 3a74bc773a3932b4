/** Rules for what a push changes in files: workflows, submodules, or nothing. */
import type { ChangedEntry } from '../../../edit/tree-comparison.ts';
import { told } from '../../../leaks/lines.ts';
import { WORKFLOW_HOME, WORKFLOWS } from '../../../policy/community-files.ts';
import { gateWords } from '../../../policy/gates.ts';
import { OPEN_POLICY, type Policy, policyFile, workflowSentence } from '../../../policy/policy.ts';
import { SHOWN_ID_LENGTH } from '../../../upstream/tree-reader.ts';
import { type Finding, say, warn, warnAt } from '../../../words/finding.ts';
import { oneLine } from '../../../words/host-text.ts';
import { fullName, type RepositoryName } from '../../../words/repository-name.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { Known } from '../known.ts';
import { changesNothing } from '../work.ts';

/** Compares with upstream only where there may be workflows or submodules. */
export async function changedFiles({
  place,
  pushed,
  searched,
  received: { pack },
  destination: { born, isBaseRefused },
}: Pick<Known, 'place' | 'pushed' | 'searched' | 'received' | 'destination'>): Promise<Finding[]> {
  const policy = place?.policy ?? OPEN_POLICY;
  const { hasSubmodules, hasWorkflows } = policy.community;
  const mayHaveModules = hasSubmodules || searched.hasGitlinks;
  const mayHaveWorkflows = hasWorkflows || searched.hasWorkflows || policy.refusesWorkflows;
  if (!mayHaveModules && !mayHaveWorkflows) return [];
  const how = { isAll: mayHaveModules, isRequired: policy.refusesWorkflows };
  const changed = (await place?.ask.entriesChanged(pushed, pack.spool, how)) ?? null;
  // Compared with its own base, it could perhaps be read.
  if (changed === null && isBaseRefused) return [];
  return [
    ...workflows(changed, born.repository, policy, mayHaveWorkflows),
    ...changelogGate(changed, born.repository, policy),
    ...(mayHaveModules ? submodules(changed) : []),
  ];
}

/** @param changed null: it could not be read. */
export function workflows(
  changed: readonly ChangedEntry[] | null,
  repository: RepositoryName,
  policy: Policy,
  mayHaveSome = policy.community.hasWorkflows,
): Finding[] {
  const {
    refusesWorkflows,
    community: { hasWorkflows },
  } = policy;
  const isWorkflow = ({ path, oid }: ChangedEntry) =>
    WORKFLOWS.test(path) || (hasWorkflows && oid === null && WORKFLOW_HOME.test(path));
  const paths = changed?.filter(isWorkflow).map(({ path }) => path);
  if (refusesWorkflows && paths?.length !== 0)
    return [
      new Refusal('workflows', 'the repository takes no changes of workflows', [
        `${fullName(repository)} takes no changes of workflows: ${policyFile(policy)} says so.`,
        paths === undefined
          ? 'The service could not check whether this push has any. Rebase onto the base branch, or push fewer commits at once.'
          : `Leave out ${oneLine(paths[0] ?? '')}, and push again.`,
      ]),
    ];
  const unread = 'The service could not check whether you change workflows.';
  if (paths === undefined) return mayHaveSome ? say('workflows', unread) : [];
  return paths.length === 0 ? [] : warnAt('workflows', paths, workflowSentence(paths));
}

/**
 * Warns that a workflow asks for a change of a file which the push leaves alone. Only the root is
 * always compared.
 * @param changed null: it could not be read.
 */
export function changelogGate(
  changed: readonly ChangedEntry[] | null,
  repository: RepositoryName,
  { community: { gates } }: Policy,
): Finding[] {
  const gate = gates.find(({ asks }) => asks === 'changelog');
  if (gate?.asks !== 'changelog') return [];
  const words = gateWords(gate, fullName(repository));
  if (changed === null || gate.file.includes('/'))
    return say('changelog-gate', `${words} The service has not checked whether yours does.`);
  const isChanged = changed.some(({ path, oid }) => path === gate.file && oid !== null);
  return isChanged ? [] : warn('changelog-gate', `${words} Yours does not.`);
}

/**
 * Warns of submodules: the ids of their commits leave unchanged, and nobody can get private ones.
 * To ask the host for such a commit would tell it the id.
 * @param changed null: it could not be read.
 */
export function submodules(changed: readonly ChangedEntry[] | null): Finding[] {
  if (changed === null)
    return say(
      'submodules',
      'This repository has submodules. The service could not check whether you change one.',
    );
  const modules = changed.filter(({ isSubmodule }) => isSubmodule);
  if (modules.length === 0) return [];
  const commits = modules.map(({ path, oid }) => `${oneLine(path)} at ${oid?.slice(0, SHOWN_ID_LENGTH)}`);
  return warnAt(
    'submodules',
    modules.map(({ path }) => path),
    ...told('This push changes submodules. It names these commits:', commits),
    'Publish them in the submodules too, or nobody can get them. Ids of your own commits can be recognised.',
  );
}

/** Says that the push ends with the files that it began with, which may be meant. */
export async function noChange({
  work,
  pushed: { entryCount },
  boundaryTree,
}: Pick<Known, 'work' | 'pushed' | 'boundaryTree'>): Promise<Finding[]> {
  const isEmpty = changesNothing(work, entryCount, await boundaryTree);
  return isEmpty ? say('no-change', 'This push changes no file.') : [];
}
