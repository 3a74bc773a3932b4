/** Upstream's files and folders that the pushed ones are deltas of. */
import type { Oid } from '../git/objects/oid.ts';
import type { KeptObject } from '../git/pack/kept-objects.ts';
import type { RepositoryName } from '../repository-name.ts';
import type { Logger } from '../log.ts';
import type { HistoryHost } from './upstream-host.ts';

/** Without them, a push goes on, and says that it was not searched completely. */
const PATIENCE_MS = 5_000;

/**
 * The objects, or none: they only help to find a name, and a push does not fail because they cannot be had. One
 * request. Never rejects.
 * @param sizes of the objects by their ids.
 */
export async function readBases(
  { host, logger }: { readonly host: Pick<HistoryHost, 'transport' | 'clock'>; readonly logger: Logger },
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
