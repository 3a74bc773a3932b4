/**
 * Submodules whose commits a push changes. Their ids leave unchanged. The service cannot know whether those commits are
 * public, and if they are not, nobody can fetch them. So the person is warned.
 *
 * A pack seldom shows such a change: the folder is usually sent as a delta with 20 new bytes and no name. So if the
 * repository has submodules, the host is asked what the pull request changes.
 */
import { repositoryKey, type RepositoryName } from '../../repository-name.ts';
import { hostText } from '../../host-error.ts';
import type { PushHost } from '../push-host.ts';
import type { PushRun } from '../push-run.ts';
import { Recent } from '../../isolate/recent.ts';

const LIFE_MS = 60 * 60_000;
const MAX_REPOSITORIES = 1_000;
/** Do not wait longer for a warning: the pull request's hash comes after it. */
const PATIENCE_MS = 5_000;
const MAX_SHOWN = 10;
const SHOWN_ID_LENGTH = 12;

const NOT_CHECKED = ['This repository has submodules. The service could not check whether you changed one.'];

const remembered = new Recent<boolean>({ lifeMs: LIFE_MS, most: MAX_REPOSITORIES });

/** Whether a repository has submodules; false if the host does not say. Never rejects. */
export async function hasSubmodules(
  { repositories, transport, clock }: Pick<PushHost, 'repositories' | 'transport' | 'clock'>,
  repository: RepositoryName,
): Promise<boolean> {
  const key = repositoryKey(transport.hostName, repository);
  const known = remembered.get(key, clock.now());
  if (known !== null) return known;
  try {
    const file = await Promise.race([repositories.file(repository, '.gitmodules'), clock.sleep(PATIENCE_MS)]);
    if (file === undefined) return false;
    const has = file.kind !== 'missing';
    remembered.set(key, has, clock.now());
    return has;
  } catch {
    return false;
  }
}

/** Lines for the person; none if no submodule is changed. Never rejects. */
export async function submoduleWarning(
  { host, logger }: Pick<PushRun, 'host' | 'logger'>,
  repository: RepositoryName,
  number: number,
): Promise<readonly string[]> {
  try {
    const asked = host.repositories.changedSubmodules(repository, number);
    const changed = await Promise.race([asked, host.clock.sleep(PATIENCE_MS)]);
    if (changed === undefined) return NOT_CHECKED;
    return warningOf(changed.map(({ path, oid }) => `${hostText(path)} at ${oid.slice(0, SHOWN_ID_LENGTH)}`));
  } catch (error) {
    logger.warn('the submodules of a pull request could not be compared', { error });
    return NOT_CHECKED;
  }
}

function warningOf(submodules: readonly string[]): readonly string[] {
  if (submodules.length === 0) return [];
  const more = submodules.length - MAX_SHOWN;
  return [
    'This pull request changes submodules. It names these commits:',
    ...submodules.slice(0, MAX_SHOWN).map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    'Publish them in the submodules too, or nobody can get them. Ids of your own commits can be recognised.',
  ];
}
