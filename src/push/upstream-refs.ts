/**
 * Upstream's refs, listed once for a discovery and the push that follows it.
 *
 * A client discovers and pushes within a second or two, and decides what to send by what it discovered: that list is
 * the right one for its push, too, and a request to the host is saved. Another isolate simply lists again.
 */
import type { RefList } from '../git/protocol-v2.ts';
import { MovedError } from '../host/host-error.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import type { PushHost } from './push-host.ts';

/** Just these, not the thousands of refs that the host keeps for pull requests. */
const PREFIXES = ['HEAD', 'refs/heads/', 'refs/tags/'];

const LIFE_MS = 10_000;
/** Together at most some 20 MB. */
const MAX_LISTS = 100;
const MAX_REFS_REMEMBERED = 2_000;

export interface DiscoveredRefs extends RefList {
  /** Under its current name. */
  readonly repository: RepositoryName;
}

const remembered = new Map<string, { readonly list: RefList; readonly at: number }>();

function keyOf(host: Pick<PushHost, 'transport'>, repository: RepositoryName): string {
  return `${host.transport.hostName}/${fullName(repository)}`.toLowerCase();
}

/** Lists afresh, and remembers. @throws HostError */
export async function listUpstreamRefs(
  host: Pick<PushHost, 'transport' | 'clock'>,
  repository: RepositoryName,
): Promise<RefList> {
  const list = await host.transport.listRefs(repository, PREFIXES, 'upstream');
  if (list.refs.length <= MAX_REFS_REMEMBERED) {
    if (remembered.size >= MAX_LISTS) remembered.clear();
    remembered.set(keyOf(host, repository), { list, at: host.clock.now() });
  }
  return list;
}

/**
 * What the discovery before this push saw, or else a fresh list. A discovery is redirected when the repository has
 * moved; but some clients (isomorphic-git) push to the old name all the same, so a push follows by itself.
 * @throws HostError
 */
export async function discoveredRefs(
  host: Pick<PushHost, 'transport' | 'clock'>,
  repository: RepositoryName,
): Promise<DiscoveredRefs> {
  try {
    const list = recall(host, repository) ?? (await listUpstreamRefs(host, repository));
    return { ...list, repository };
  } catch (error) {
    if (!(error instanceof MovedError)) throw error;
    const list = recall(host, error.to) ?? (await listUpstreamRefs(host, error.to));
    return { ...list, repository: error.to };
  }
}

function recall(host: Pick<PushHost, 'transport' | 'clock'>, repository: RepositoryName): RefList | null {
  const entry = remembered.get(keyOf(host, repository));
  const isFresh = entry !== undefined && host.clock.now() - entry.at < LIFE_MS;
  return isFresh ? entry.list : null;
}
