/**
 * Entries of folders that the person, or the repository, should know of if a push changes them: submodules and workflows.
 *
 * The ids of submodules' commits leave unchanged, and if those commits are not public, nobody can get them. The host is
 * not asked whether they are: it would learn ids that may not become public.
 */
import { WORKFLOW_HOME, WORKFLOWS } from '../../policy/community-files.ts';
import type { KnownPolicy } from '../../policy/policies.ts';
import { POLICY_PATH, workflowSentence } from '../../policy/policy.ts';
import type { Publishable } from '../verdict/verdict.ts';
import { type ChangedEntry, changedEntries } from '../changes.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { oneLine } from '../../host-text.ts';
import type { Spool } from '../../spool/spool.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';

const PATIENCE_MS = 5_000;
/** From a spool that is not in memory, each costs a request. */
const MAX_READS = 32;
const MAX_SHOWN = 10;
const SHOWN_ID_LENGTH = 12;

/** The entries of a push. */
export type ComparedPack = Pick<Spool, 'read' | 'byteLength' | 'isInMemory'>;

/** Null: nobody knows. @param isAll whether all folders are compared, or those of workflows alone. Never rejects. */
export async function entriesChanged(
  { host, logger }: Pick<PushRun, 'host' | 'logger'>,
  {
    repository,
    commits,
    ground,
  }: { readonly repository: RepositoryName } & Pick<Publishable, 'commits' | 'ground'>,
  spool: ComparedPack,
  isAll: boolean,
): Promise<readonly ChangedEntry[] | null> {
  const pack = {
    read: (start: number) => spool.read(start),
    byteLength: spool.byteLength,
    maxReads: spool.isInMemory ? Infinity : MAX_READS,
  };
  const comparing = changedEntries(
    { commits, ground, pack },
    (request, maxBytes) => host.transport.readObjects(repository, request, maxBytes),
    host.memory,
    (folder) => isAll || WORKFLOW_HOME.test(folder) || WORKFLOWS.test(folder),
  ).catch((error: unknown) => {
    logger.warn('the folders of a push could not be compared', { error });
    return null;
  });
  return (await Promise.race([comparing, host.clock.sleep(PATIENCE_MS)])) ?? null;
}

/** Lines for the person; none if there are none. */
export function submoduleLines(changed: readonly ChangedEntry[] | null): readonly string[] {
  if (changed === null)
    return ['This repository has submodules. The service could not check whether you change one.'];
  const submodules = changed.flatMap(({ path, oid, isSubmodule }) =>
    isSubmodule ? [`  ${oneLine(path)} at ${oid?.slice(0, SHOWN_ID_LENGTH)}`] : [],
  );
  if (submodules.length === 0) return [];
  const more = submodules.length - MAX_SHOWN;
  return [
    'This push changes submodules. It names these commits:',
    ...submodules.slice(0, MAX_SHOWN),
    ...(more > 0 ? [`  and ${more} more`] : []),
    'Publish them in the submodules too, or nobody can get them. Ids of your own commits can be recognised.',
  ];
}

/** A line for the person; none if the push changes no workflow. @throws Refusal if the repository takes none. */
export function workflowLines(
  changed: readonly ChangedEntry[] | null,
  { repository, policy }: { readonly repository: RepositoryName; readonly policy: KnownPolicy },
): readonly string[] {
  const hasWorkflows = policy?.community.hasWorkflows === true;
  const paths = changed
    ?.filter(
      ({ path, oid }) => WORKFLOWS.test(path) || (hasWorkflows && oid === null && WORKFLOW_HOME.test(path)),
    )
    .map(({ path }) => path);
  if (policy?.refusesWorkflows && paths?.length !== 0) {
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
