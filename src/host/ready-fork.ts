/**
 * Prepares the bot's fork for a push. The objects of a new fork appear after the host's answer. An
 * old fork does not follow upstream: without a sync, it lacks the bases of a thin pack and the
 * parents of new commits.
 * Proved by test/host/fork-gone.test.ts and test/e2e/push/push-fork.test.ts.
 */
import type { Oid } from '../git/objects/oid.ts';
import { branchName, type Ref } from '../git/wire/ref-advertisement.ts';
import { HostError, hostFailureOf } from '../words/host-error.ts';
import { Recent } from '../isolate/recent.ts';
import type { Clock } from '../isolate/clock.ts';
import { prHashOf } from '../words/pr-hash.ts';
import { fullName, repositoryKey, type RepositoryName } from '../words/repository-name.ts';
import type { Repository, Source } from './code-host.ts';
import type { GitTransport } from './git/git-transport.ts';
import type { CodeHost, ForkHost } from './open.ts';

/** Maximum time until a new fork's objects appear. */
const FORK_WAIT_MS = 60_000;
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 2_000;
/** Memory for known forks: some 1,000, if a push is based on a branch or two. */
const MOST_FORK_BYTES = 1024 * 1024;
const TIP_BYTES = 200;

export interface ReadyFork {
  /** The upstream repository. */
  readonly repository: RepositoryName;
  readonly fork: RepositoryName;
  /** The tips of HEAD and of the branches that were asked for, as far as the fork has them. */
  readonly tips: Map<string, Oid>;
}

/**
 * Forks by repository. Asking for a fork is a rate-limited write. If the tips are known and
 * upstream is unchanged, a push needs no request about its fork.
 */
const knownForks = new Recent<{ readonly fork: RepositoryName; readonly tips: Map<string, Oid> }>({
  most: MOST_FORK_BYTES,
  weightOf: ({ tips }) => [...tips.keys()].reduce((sum, name) => sum + TIP_BYTES + 2 * name.length, 500),
});

type OnHost = { readonly transport: Pick<GitTransport, 'hostName'> };

interface Host {
  readonly transport: Pick<GitTransport, 'hostName' | 'listRefs'>;
  readonly repositories: Pick<CodeHost, 'repository'>;
  readonly clock: Clock;
}

const keyOf = ({ transport }: OnHost, repository: RepositoryName): string =>
  repositoryKey(transport.hostName, repository);

/**
 * Makes the key of a fork: that of the fork for new pull requests, or one of its own for an older
 * fork.
 */
function keyOfFork(host: OnHost, repository: RepositoryName, fork: RepositoryName): string {
  const key = keyOf(host, repository);
  return knownForks.get(key)?.fork.name === fork.name ? key : `${key} ${fork.name}`;
}

const hasAll = (tips: ReadonlyMap<string, Oid>, names: readonly string[]): boolean =>
  names.every((name) => tips.has(name));

/** Returns the fork that this isolate remembers. */
export function knownFork(host: OnHost, repository: RepositoryName): RepositoryName | undefined {
  return knownForks.get(keyOf(host, repository))?.fork;
}

/** Forgets a fork that is gone. */
export function forgetFork(host: OnHost, repository: RepositoryName): void {
  knownForks.delete(keyOf(host, repository));
}

/** Forgets the tips of a fork, which are not certain after a failed push. */
export function forgetTips(host: OnHost, { repository, fork }: ReadyFork): void {
  // Keep the old map as it is, because another push may still use it.
  knownForks.set(keyOfFork(host, repository, fork), { fork, tips: new Map() });
}

/**
 * Tells if a step failed because the fork was deleted or renamed. Git does not always say so, so
 * REST is asked.
 */
export async function isForkGone(
  { repositories }: Pick<Host, 'repositories'>,
  fork: RepositoryName,
  error: unknown,
): Promise<boolean> {
  const cause = error instanceof HostError || !(error instanceof Error) ? error : error.cause;
  const { status, lasts } = hostFailureOf(cause);
  const mayBeGone = status !== null && (status >= 500 || [401, 403, 404].includes(status));
  if (!isElsewhere(cause) && (!mayBeGone || lasts === 'until')) return false;
  return repositories.repository(fork).then((found) => fullName(found) !== fullName(fork), isElsewhere);
}

/**
 * Tells if a fork has left the network of the repository. The host then takes no pull request from
 * it.
 */
export async function isDetached(
  { repositories }: Pick<Host, 'repositories'>,
  { networkId }: Repository,
  fork: RepositoryName,
): Promise<boolean> {
  return repositories.repository(fork).then(
    (found) => found.networkId !== networkId,
    () => false,
  );
}

/** Tells if a repository is missing or was renamed. */
function isElsewhere(error: unknown): boolean {
  return error instanceof HostError && (error.code === 'missing' || error.code === 'moved');
}

/**
 * Finds the fork that a pull request was opened from. It may not be the one for new pull requests,
 * for example if upstream has left its network.
 * @throws HostError `missing` if it is gone.
 */
export async function recordedFork(
  host: Host,
  repository: RepositoryName,
  fork: RepositoryName,
  upstream: readonly Ref[],
): Promise<ReadyFork> {
  const key = keyOfFork(host, repository, fork);
  const names = upstream.map(({ name }) => name);
  const known = knownForks.get(key);
  if (known !== null && hasAll(known.tips, names)) return { repository, ...known };
  const list = (prefixes: readonly string[]) => listForkTips(host, fork, names, prefixes);
  const tips = (await list(names)) ?? (await list(['refs/heads/']));
  if (tips === null) throw new HostError('missing', `${fullName(fork)} is not there any more.`);
  knownForks.set(key, { fork, tips });
  return { repository, fork, tips };
}

/**
 * Makes sure that there is a fork with its objects.
 * @param takeFork is called before a fork is requested.
 * @param upstream has the branches that the push is based on.
 * @throws HostError, also if the objects are late, and what `takeFork` throws.
 */
export async function ensureFork(
  host: Host,
  forks: ForkHost,
  takeFork: () => Promise<void>,
  repository: Repository,
  upstream: readonly Ref[],
): Promise<ReadyFork> {
  const key = keyOf(host, repository);
  const names = upstream.map(({ name }) => name);
  const known = knownForks.get(key);
  if (known !== null && hasAll(known.tips, names)) return { repository, ...known };
  /** Requests a fork. Whether there is one can only be found out in this way. */
  const make = async (): Promise<RepositoryName> => {
    await takeFork();
    return forks.fork(repository);
  };
  const deadline = host.clock.now() + FORK_WAIT_MS;
  let fork = known?.fork ?? (await make());
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(2 * pollMs, LONGEST_POLL_MS)) {
    // An older fork may have neither these branches nor a HEAD that names one.
    const tips = await listForkTips(host, fork, names, pollMs < LONGEST_POLL_MS ? names : ['refs/heads/']);
    if (tips !== null) {
      knownForks.set(key, { fork, tips });
      return { repository, fork, tips };
    }
    // The remembered fork is gone.
    if (knownForks.delete(key)) fork = await make();
    if (host.clock.now() + pollMs > deadline)
      throw new HostError('unreachable', 'The fork was made, but its objects did not arrive in time.');
    await host.clock.sleep(pollMs);
  }
}

/**
 * Lists the tips of the fork. If its HEAD names no branch, as that of upstream may, another branch
 * stands for it.
 * @param prefixes are of the refs that are listed.
 * @returns null if the fork has none of these refs yet, or does not exist under this name.
 */
async function listForkTips(
  host: Host,
  fork: RepositoryName,
  wanted: readonly string[],
  prefixes: readonly string[],
): Promise<Map<string, Oid> | null> {
  try {
    const { refs, headTip } = await host.transport.listRefs(fork, ['HEAD', ...prefixes], 'bot');
    const listed = refs.filter(({ name }) => wanted.includes(name));
    const head = headTip ?? listed[0]?.oid ?? refs[0]?.oid;
    if (head === undefined) return null;
    return new Map([['HEAD', head], ...listed.map(({ name, oid }) => [name, oid] as const)]);
  } catch (error) {
    if (isElsewhere(error)) return null;
    throw error;
  }
}

/** Returns the commit of a ref, or null if there is no such ref. */
export async function branchTip(
  { transport }: Pick<Host, 'transport'>,
  { repository, refName }: Source,
): Promise<Oid | null> {
  const { refs } = await transport.listRefs(repository, [refName], 'bot');
  return refs.find(({ name }) => name === refName)?.oid ?? null;
}

/**
 * Brings branches of the fork to upstream's tips, one after the other.
 * @throws HostError
 */
export async function syncFork(
  forks: ForkHost,
  { repository, fork, tips }: ReadyFork,
  upstream: readonly Ref[],
): Promise<void> {
  for (const ref of upstream) {
    const { name, oid } = ref;
    const branch = { repository, name: branchName(ref), tip: oid };
    // A branch that is named like the bot's own is somebody's pull request, although upstream may
    // have it, too.
    if (tips.get(name) === oid || prHashOf(branch.name) !== null) continue;
    if (tips.has(name)) await forks.syncBranch(fork, branch);
    else await forks.addBranch(fork, branch, tips.get('HEAD') as Oid);
    tips.set(name, oid);
  }
}
