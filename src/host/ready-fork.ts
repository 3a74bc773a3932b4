/**
 * The bot's fork, ready to be pushed to. A new one's objects come later than the host's answer. An
 * old one does not follow upstream: without a sync, it lacks the bases of a thin pack and the
 * parents of new commits.
 * Proved by test/host/fork-gone.test.ts and test/e2e/push/push-fork.test.ts.
 */
import type { Oid } from '../git/objects/oid.ts';
import type { Ref } from '../git/wire/ref-advertisement.ts';
import { HostError, hostFailureOf } from '../words/host-error.ts';
import { Recent } from '../isolate/recent.ts';
import type { Clock } from '../isolate/clock.ts';
import { prHashOf } from '../words/pr-hash.ts';
import { fullName, repositoryKey, type RepositoryName } from '../words/repository-name.ts';
import type { Repository, Source } from './code-host.ts';
import type { GitTransport } from './git/git-transport.ts';
import type { CodeHost, ForkHost } from './open.ts';

/** How long a new fork's objects may take to appear. */
const FORK_WAIT_MS = 60_000;
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 2_000;
/** Some 1,000 forks, if a push stands on a branch or two. */
const MOST_FORK_BYTES = 1024 * 1024;
const TIP_BYTES = 200;

export interface ReadyFork {
  /** What it is a fork of. */
  readonly repository: RepositoryName;
  readonly fork: RepositoryName;
  /** Tips of HEAD and of the branches that were asked for, as far as the fork has them. */
  readonly tips: Map<string, Oid>;
}

/**
 * By repository. Asking for a fork is a limited write; with its tips, a push needs none if upstream
 * is unchanged.
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

/** Under which a fork is remembered: as the one for new pull requests, or as that of old ones. */
function keyOfFork(host: OnHost, repository: RepositoryName, fork: RepositoryName): string {
  const key = keyOf(host, repository);
  return knownForks.get(key)?.fork.name === fork.name ? key : `${key} ${fork.name}`;
}

const hasAll = (tips: ReadonlyMap<string, Oid>, names: readonly string[]): boolean =>
  names.every((name) => tips.has(name));

/** The fork that this isolate remembers; undefined if there is none. */
export function knownFork(host: OnHost, repository: RepositoryName): RepositoryName | undefined {
  return knownForks.get(keyOf(host, repository))?.fork;
}

/** Forgets a fork that is gone. */
export function forgetFork(host: OnHost, repository: RepositoryName): void {
  knownForks.delete(keyOf(host, repository));
}

/** Forgets where the branches of a fork are: after a failed push, that is not certain. */
export function forgetTips(host: OnHost, { repository, fork }: ReadyFork): void {
  // Another push may still use the old list.
  knownForks.set(keyOfFork(host, repository, fork), { fork, tips: new Map() });
}

/**
 * Whether a step failed because the fork was deleted or renamed. Git does not always tell, so REST
 * is asked.
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
 * Whether a fork is none of the repository's any more: the host then takes no pull request from it.
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

function isElsewhere(error: unknown): boolean {
  return error instanceof HostError && (error.code === 'missing' || error.code === 'moved');
}

/**
 * The fork that a pull request was opened from. For new ones the host may have another by now, as
 * when upstream has left its network.
 * @throws HostError `missing`: it is gone
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
 * Makes sure that the fork has its objects.
 * @param takeFork before a fork is asked for.
 * @param upstream the push's bases there.
 * @throws HostError, also if late; what `takeFork` throws
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
  /** It may exist: nobody can tell without asking for it. */
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
 * Lists the tips of the fork. Where its HEAD names no branch, as that of upstream may, another
 * branch stands for it. Null if the fork has no objects yet, or does not exist (any more).
 * @param prefixes of the refs that are listed.
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

/** Where a ref is; null: it is not there. */
export async function branchTip(
  { transport }: Pick<Host, 'transport'>,
  { repository, refName }: Source,
): Promise<Oid | null> {
  const { refs } = await transport.listRefs(repository, [refName], 'bot');
  return refs.find(({ name }) => name === refName)?.oid ?? null;
}

/** Brings branches of the fork to upstream's tips, one after the other. @throws HostError */
export async function syncFork(
  forks: ForkHost,
  { repository, fork, tips }: ReadyFork,
  upstream: readonly Ref[],
): Promise<void> {
  for (const { name, oid } of upstream) {
    const branch = { repository, name: name.slice('refs/heads/'.length), tip: oid };
    // Upstream may have a branch with the name of one of ours, which is somebody's pull request.
    if (tips.get(name) === oid || prHashOf(branch.name) !== null) continue;
    if (tips.has(name)) await forks.syncBranch(fork, branch);
    else await forks.addBranch(fork, branch, tips.get('HEAD') as Oid);
    tips.set(name, oid);
  }
}
