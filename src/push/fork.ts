/**
 * The bot's fork, ready to be pushed to: it exists, its objects have arrived, and the branches that the push stands on
 * are where upstream has them.
 *
 * Forking on the host is asynchronous: the answer comes at once, the objects later. And a fork that exists stays where
 * it was when it was made: without a sync, the bases of a thin pack and the parents of new commits are missing there.
 */
import { type Oid, ZERO_OID } from '../git/oid.ts';
import type { Ref } from '../git/ref-advertisement.ts';
import { HostError } from '../host/host-error.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import type { PushHost } from './push-host.ts';

/** How long a new fork's objects may take to appear. */
const FORK_WAIT_MS = 60_000;
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 2_000;

/** Names of forks by repository, for this isolate: asking for a fork that exists is a write, and writes are counted. */
const knownForks = new Map<string, RepositoryName>();
const MAX_KNOWN_FORKS = 1_000;

export interface ReadyFork {
  readonly fork: RepositoryName;
  /** Where the working branch is now; the zero id if it does not exist. */
  readonly workBranchTip: Oid;
  readonly branches: readonly Ref[];
}

/**
 * Makes sure that the fork exists and has its objects.
 * @param branches names whose tips are wanted in the answer.
 * @throws HostError if the host does not fork, or not in time.
 */
export async function ensureFork(
  host: PushHost,
  repository: RepositoryName,
  branches: readonly string[],
  workBranch: string,
): Promise<ReadyFork> {
  const key = `${host.transport.hostName}/${fullName(repository)}`.toLowerCase();
  const deadline = host.clock.now() + FORK_WAIT_MS;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(2 * pollMs, LONGEST_POLL_MS)) {
    const fork = knownForks.get(key) ?? (await host.github.fork(repository));
    const list = await listForkRefs(host, fork, [...branches, workBranch]);
    if (list !== null) {
      if (knownForks.size >= MAX_KNOWN_FORKS) knownForks.clear();
      knownForks.set(key, fork);
      const tipOf = (name: string) => list.find((ref) => ref.name === `refs/heads/${name}`)?.oid;
      return {
        fork,
        workBranchTip: tipOf(workBranch) ?? ZERO_OID,
        branches: list.filter(({ name }) => name !== `refs/heads/${workBranch}`),
      };
    }
    knownForks.delete(key);
    if (host.clock.now() + pollMs > deadline) {
      throw new HostError('unreachable', 'The fork was made, but its objects did not arrive in time.');
    }
    await host.clock.sleep(pollMs);
  }
}

/** Null while the fork has no objects, or is not there (any more). */
async function listForkRefs(
  host: PushHost,
  fork: RepositoryName,
  branches: readonly string[],
): Promise<readonly Ref[] | null> {
  const wanted = branches.map((name) => `refs/heads/${name}`);
  try {
    const { refs, isBorn } = await host.transport.listRefs(fork, ['HEAD', ...wanted], 'bot');
    return isBorn ? refs.filter(({ name }) => wanted.includes(name)) : null;
  } catch (error) {
    if (error instanceof HostError && error.code === 'missing') return null;
    throw error;
  }
}

/**
 * Brings branches of the fork to upstream's tips, one after the other.
 * @param upstream branches with upstream's tips.
 */
export async function syncFork(host: PushHost, ready: ReadyFork, upstream: readonly Ref[]): Promise<void> {
  for (const { name, oid } of upstream) {
    const present = ready.branches.find((ref) => ref.name === name);
    if (present?.oid === oid) continue;
    const branch = name.slice('refs/heads/'.length);
    await host.github.syncBranch(ready.fork, branch, oid, present !== undefined);
  }
}
