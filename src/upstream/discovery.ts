/**
 * Answers the reference discovery of a push: upstream's branches and tags, and `.have` lines for
 * its recent history. It takes two requests to the host, like a fetch that finds nothing new, and
 * usually one more for the history if none was listed lately. The push that follows finds the refs
 * in the cache, unless the list is long.
 * Proved by test/e2e/push/discovery.test.ts.
 */
import type { Oid } from '../git/objects/oid.ts';
import { encodeReceivePackAdvertisement, type Ref, selectHaves } from '../git/wire/ref-advertisement.ts';
import { repositoryKey, type RepositoryName } from '../words/repository-name.ts';
import type { Logger } from '../log.ts';
import { Recent } from '../isolate/recent.ts';
import { openHistory } from './known-ids.ts';
import { defaultBranchOf, discoveredRefs, type HistoryHost, listUpstreamRefs } from './upstream-refs.ts';

/**
 * The haves of repositories, some 5 MB. An older listing serves a stale clone as well; only a push
 * needs a new one.
 */
const recentHaves = new Recent<readonly Oid[]>({ lifeMs: 10 * 60_000, most: 400 });

/**
 * Makes the advertisement.
 * @throws HostError if the repository is missing, private or out of reach.
 */
export async function discoverForPush(
  host: HistoryHost,
  repository: RepositoryName,
  logger: Logger,
): Promise<Uint8Array> {
  const list = await listUpstreamRefs(host, repository);
  // Without `.have` lines, a discovery still works, but a stale clone sends more than it needs to.
  const haves = await havesOf(host, repository, defaultBranchOf(list)).catch((error: unknown) => {
    logger.warn('the history could not be listed for discovery', { error });
    return [];
  });
  return encodeReceivePackAdvertisement(list.refs, haves);
}

/** Lists upstream's newer history for the push that will probably follow. Never rejects. */
export async function listAhead(host: HistoryHost, target: RepositoryName): Promise<void> {
  // If this fails, the push lists the history itself, and reports errors.
  await discoveredRefs(host, target)
    .then((list) => openHistory(host, list))
    .catch(() => {});
}

/**
 * Selects the commits for `.have` lines.
 * @throws HostError
 */
async function havesOf(
  { lister, transport, clock }: HistoryHost,
  repository: RepositoryName,
  main: Ref | null,
): Promise<readonly Oid[]> {
  if (main === null) return [];
  const part = { tips: [main.oid], without: [] };
  const key = repositoryKey(transport.hostName, repository);
  const known = await lister.listed(part);
  const recent = known === null ? recentHaves.get(key, clock.now()) : null;
  if (recent !== null) return recent;
  const listing = known ?? (await lister.list(repository, part, 0));
  const haves = selectHaves(listing?.newestFirst ?? []);
  recentHaves.set(key, haves, clock.now());
  return haves;
}
