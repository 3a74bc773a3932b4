/** Whether a repository has submodules. */
import { Recent } from '../isolate/recent.ts';
import { repositoryKey, type RepositoryName } from '../repository-name.ts';
import type { UpstreamHost } from './upstream-host.ts';

/** Only a warning depends on it. */
const PATIENCE_MS = 5_000;

const remembered = new Recent<boolean>({ lifeMs: 60 * 60_000, most: 1_000 });

/** False if the host does not say. Never rejects. */
export async function hasSubmodules(
  { repositories, transport, clock }: Pick<UpstreamHost, 'repositories' | 'transport' | 'clock'>,
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
