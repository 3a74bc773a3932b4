/**
 * Lists upstream's refs. A push soon after its discovery finds the same list, because the client
 * has decided from it what to send.
 */
import { REF_BYTES, type RefList } from '../git/wire/protocol-v2.ts';
import type { Ref } from '../git/wire/ref-advertisement.ts';
import { repositoryKey, type RepositoryName } from '../words/repository-name.ts';
import type { GitTransport, ListedRefs } from '../host/git/git-transport.ts';
import { followMoves } from '../host/redirect.ts';
import type { Clock } from '../isolate/clock.ts';
import type { MemoryHold } from '../isolate/memory-budget.ts';
import { Recent } from '../isolate/recent.ts';
import { SharedAnswers } from '../isolate/shared-answers.ts';
import type { HistoryLister } from './history-lister.ts';

/** The ports for upstream's refs and history: only Git. */
export interface HistoryHost {
  /** The memory of this request. */
  readonly memory: MemoryHold;
  readonly transport: GitTransport;
  readonly lister: HistoryLister;
  readonly clock: Clock;
}

const HEADS = 'refs/heads/';
const TAGS = 'refs/tags/';
/** The refs that are listed. Hosts keep thousands of others for pull requests. */
const UPSTREAM_PREFIXES = ['HEAD', HEADS, TAGS];

const MOST_BYTES = 8 * 1024 * 1024;
const remembered = new Recent<ListedRefs>({ lifeMs: 10_000, most: MOST_BYTES, weightOf: bytesOfRefs });

/**
 * Returns the branch of HEAD, which may be missing in a list that was cut.
 * @returns null if there is none, or it has no commit yet.
 */
export function defaultBranchOf({ head, headTip }: RefList): Ref | null {
  return head?.startsWith('refs/heads/') === true && headTip !== null ? { name: head, oid: headTip } : null;
}

/**
 * Asks the host for one branch that may be missing in a list that was cut.
 * @returns null if there is none.
 * @throws HostError
 */
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

export interface DiscoveredRefs extends ListedRefs {
  /** The repository under its current name. */
  readonly repository: RepositoryName;
}

/**
 * Lists the refs afresh, and caches a list that is not long. The host sees the same requests as for
 * a fetch that finds nothing new.
 * @param beforeWait is called before it waits for memory.
 * @throws HostError
 */
export async function listUpstreamRefs(
  host: RefsHost,
  repository: RepositoryName,
  beforeWait?: () => void,
): Promise<ListedRefs> {
  await host.transport.discover(repository);
  const list = await host.transport.listRefs(repository, UPSTREAM_PREFIXES, 'upstream', beforeWait);
  const key = repositoryKey(host.transport.hostName, repository);
  if (isLong(list)) remembered.delete(key);
  else remembered.set(key, list, host.clock.now());
  return list;
}

/** Tells if a list is too long to be cached: it would push out those of all other repositories. */
function isLong(list: RefList): boolean {
  return bytesOfRefs(list) > MOST_BYTES / 16;
}

/**
 * Returns the list of the discovery before this push, or else a fresh one. If the repository has
 * moved, its discovery is redirected, but some clients (isomorphic-git) still push to the old name.
 * So a push follows the move itself.
 * @param beforeWait is called before it waits for memory.
 * @throws HostError
 */
export async function discoveredRefs(
  host: RefsHost,
  repository: RepositoryName,
  beforeWait?: () => void,
): Promise<DiscoveredRefs> {
  const { repository: current, answer } = await followMoves(repository, async (name) => {
    const known = remembered.get(repositoryKey(host.transport.hostName, name), host.clock.now());
    return known ?? listUpstreamRefs(host, name, beforeWait);
  });
  return { ...answer, repository: current };
}

interface FetchRefs {
  readonly list: DiscoveredRefs;
  readonly isLong: boolean;
}

/** Memory of a ref without a name: its id as text, and its position in the list. */
const UNNAMED_REF_BYTES = 100;
/**
 * Long lists for fetches. Each is requested at most once a minute, because a fetch with a made-up
 * id costs its sender nothing.
 */
const longLists = new SharedAnswers<FetchRefs>({
  lifeMs: 60_000,
  mostBytes: MOST_BYTES / 2,
  bytesOf: ({ list }) => UNNAMED_REF_BYTES * list.refs.length,
});

/**
 * Lists the refs for a fetch. In a long list, each name is reduced to `refs/heads/` or
 * `refs/tags/`.
 * @throws HostError
 */
export async function refsForFetch(host: RefsHost, repository: RepositoryName): Promise<DiscoveredRefs> {
  const ask = async (beforeWait: () => void): Promise<FetchRefs> => {
    const list = await discoveredRefs(host, repository, beforeWait);
    return isLong(list) ? { list: withoutNames(list), isLong: true } : { list, isLong: false };
  };
  const key = repositoryKey(host.transport.hostName, repository);
  return (await longLists.read(key, host.clock, ask, (refs) => refs.isLong)).list;
}

function withoutNames(list: DiscoveredRefs): DiscoveredRefs {
  const refs = list.refs.map(({ name, oid }) => ({ name: name.startsWith(HEADS) ? HEADS : TAGS, oid }));
  return { ...list, refs };
}

function bytesOfRefs({ refs }: RefList): number {
  return refs.reduce((sum, { name }) => sum + REF_BYTES + 2 * name.length, REF_BYTES);
}
