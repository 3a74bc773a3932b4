/** Upstream's refs, listed once for a discovery and its push: from that list, a client decides what to send. */
import { REF_BYTES, type RefList } from '../git/wire/protocol-v2.ts';
import type { Ref } from '../git/wire/ref-advertisement.ts';
import { repositoryKey, type RepositoryName } from '../repository-name.ts';
import type { GitTransport } from '../host/git/git-transport.ts';
import { followMoves } from '../host/redirect.ts';
import type { Clock } from '../isolate/clock.ts';
import type { MemoryHold } from '../isolate/memory-budget.ts';
import { Recent } from '../isolate/recent.ts';
import type { HistoryLister } from './history-lister.ts';

/** What is needed from outside for upstream's refs and history: Git only. */
export interface HistoryHost {
  /** What this request holds of the isolate's memory. */
  readonly memory: MemoryHold;
  readonly transport: GitTransport;
  readonly lister: HistoryLister;
  readonly clock: Clock;
}

/** Only these, not the thousands of refs that the host keeps for pull requests. */
const UPSTREAM_PREFIXES = ['HEAD', 'refs/heads/', 'refs/tags/'];

const MOST_BYTES = 8 * 1024 * 1024;
const remembered = new Recent<RefList>({ lifeMs: 10_000, most: MOST_BYTES, weightOf: bytesOfRefs });

/** The branch of HEAD; null if there is none, or it has no commit yet. A list that was cut need not contain it. */
export function defaultBranchOf({ head, headTip }: RefList): Ref | null {
  return head?.startsWith('refs/heads/') === true && headTip !== null ? { name: head, oid: headTip } : null;
}

/** Asks the host for one branch that may be missing in a list that was cut; null: there is none. @throws HostError */
export async function findUpstreamBranch(
  host: Pick<HistoryHost, 'transport'>,
  repository: RepositoryName,
  branch: string,
): Promise<Ref | null> {
  const name = `refs/heads/${branch}`;
  const { refs } = await host.transport.listRefs(repository, [name], 'upstream');
  return refs.find((ref) => ref.name === name) ?? null;
}

type RefsHost = Pick<HistoryHost, 'transport' | 'clock'>;

export interface DiscoveredRefs extends RefList {
  /** Under its current name. */
  readonly repository: RepositoryName;
}

/** Lists afresh, and remembers. @throws HostError */
export async function listUpstreamRefs(host: RefsHost, repository: RepositoryName): Promise<RefList> {
  const list = await host.transport.listRefs(repository, UPSTREAM_PREFIXES, 'upstream');
  const key = repositoryKey(host.transport.hostName, repository);
  // A longer one is asked for again, so that one repository does not drop those of all others.
  if (bytesOfRefs(list) <= MOST_BYTES / 16) remembered.set(key, list, host.clock.now());
  else remembered.delete(key);
  return list;
}

/**
 * The list of the discovery before this push, or else a fresh one. If the repository has moved, a discovery is
 * redirected. But some clients (isomorphic-git) still push to the old name, so a push follows the move itself.
 * @throws HostError
 */
export async function discoveredRefs(host: RefsHost, repository: RepositoryName): Promise<DiscoveredRefs> {
  const { repository: current, answer } = await followMoves(repository, async (name) => {
    const known = remembered.get(repositoryKey(host.transport.hostName, name), host.clock.now());
    return known ?? listUpstreamRefs(host, name);
  });
  return { ...answer, repository: current };
}

function bytesOfRefs({ refs }: RefList): number {
  return refs.reduce((sum, { name }) => sum + REF_BYTES + 2 * name.length, REF_BYTES);
}
