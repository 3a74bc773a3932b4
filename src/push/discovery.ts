/**
 * Reference discovery for a push: upstream's branches and tags, and `.have` lines for its recent history.
 *
 * One request to the host, and one more for the history if its tip is new. The push that follows finds the listing in
 * the cache.
 */
import { selectHaves } from '../git/haves.ts';
import { encodeReceivePackAdvertisement } from '../git/ref-advertisement.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import type { Logger } from '../log.ts';
import type { PushHost } from './push-host.ts';
import { listUpstreamRefs } from './upstream-refs.ts';

/** @throws HostError if the repository is missing, private or out of reach. */
export async function discoverForPush(
  host: PushHost,
  repository: RepositoryName,
  logger: Logger,
): Promise<Uint8Array> {
  const { refs, head } = await listUpstreamRefs(host, repository);
  const tip = refs.find(({ name }) => name === head)?.oid;
  // A discovery without `.have` lines still works; a stale clone then sends more than it needs to.
  const listing =
    tip === undefined
      ? null
      : await host.lister.list(repository, { tips: [tip], without: [] }, 0).catch((error: unknown) => {
          logger.warn('the history could not be listed for discovery', { error });
          return null;
        });
  return encodeReceivePackAdvertisement(refs, selectHaves(listing?.newestFirst ?? []));
}
