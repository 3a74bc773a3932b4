/** Upstream's files and folders that the pushed ones are deltas of. */
import type { Oid } from '../../git/oid.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import type { PushRun } from '../push-run.ts';

/** The fork is made ready meanwhile, which takes about as long. */
const PATIENCE_MS = 5_000;

/**
 * The objects, or none: they only help to find a name, and a push does not fail because they cannot be had. One
 * request. Never rejects.
 * @param sizes of the objects by their ids.
 */
export async function readBases(
  { host, logger }: Pick<PushRun, 'logger'> & { readonly host: Pick<PushRun['host'], 'transport' | 'clock'> },
  repository: RepositoryName,
  sizes: ReadonlyMap<Oid, number>,
): Promise<Iterable<KeptObject>> {
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const read = host.transport.readObjects(repository, { wants: [...sizes.keys()] }, bytes);
  const reading = read.catch((error: unknown) => {
    logger.warn('the bases of deltas could not be read', { error });
    return null;
  });
  const objects = await Promise.race([reading, host.clock.sleep(PATIENCE_MS)]);
  return objects?.values() ?? [];
}
