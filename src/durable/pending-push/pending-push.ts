/**
 * One push from the moment when it is to be published until shortly after its answer, by a keyed
 * hash of everything that it has sent and, unless it was delayed, of its network. If it dies, a
 * retry finds its pr_hash here, so that it opens no second pull request, and its date, so that the
 * commits get the same ids. After an hour it is cleaned up: a pull request that it has opened is
 * recorded then. A push that was answered is found for ten minutes if it has opened a pull request,
 * because a proxy may have swallowed the end of the answer.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import { type CodeHost, openRepositories } from '../../host/open.ts';
import type { HostPullRequest, Repository } from '../../host/code-host.ts';
import { isRefusedByHost } from '../../words/host-error.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { pullRequestOf } from '../../objects.ts';
import { workBranch } from '../../words/pr-hash.ts';
import { reachHost } from '../../host-access.ts';
import { earliest } from '../due-rows.ts';
import { keepOnly } from '../keep-only.ts';
import { Lease } from '../lease.ts';

const HOUR_MS = 60 * 60 * 1000;
/** The time after which a push that nobody has retried is over. */
const LIFE_MS = HOUR_MS;
/** How long after its answer a push that has opened a pull request is found. */
export const ANSWERED_MS = 10 * 60 * 1000;
/** How long, after `LIFE_MS`, to keep asking the host how far a push came. */
const CLEARING_MS = 24 * HOUR_MS;
const RETRY_MS = 10 * 60 * 1000;
/** The decisions that a push makes once, and its retries use again. */
export interface PushIntent {
  /** Names the pull request that it opens. */
  readonly prHash: string;
  /** Seconds since 1970: the date of its commits. */
  readonly committedAt: number;
}

interface Stored extends PushIntent {
  /** Milliseconds since 1970. */
  readonly until: number;
  /** The key of the code host. */
  readonly host: string;
  readonly target: RepositoryName;
  /** Its pull request is open and recorded, and its answer was sent. */
  readonly isAnswered?: true;
}

/** The answer to `begin`. `busy`: the same push is in progress. */
export type BeginAnswer = { readonly kind: 'busy' } | ({ readonly kind: 'begun' } & Begun);

interface Begun {
  readonly lease: number;
  /** The decisions of the first attempt; null: there was none, and nothing was proposed. */
  readonly intent: PushIntent | null;
  readonly isRepeated: boolean;
  /** Whether the earlier attempt has opened its pull request, and its answer was sent. */
  readonly isAnswered: boolean;
}

/** The trace that a push leaves for its retry. `answered`: its pull request, for a while. */
export type Left = 'nothing' | 'answered' | 'unanswered';

export class PendingPush extends DurableObject<Env> {
  /** The leases of pushes in progress, by their hashes. */
  readonly #leases = new Map<string, Lease>();

  /**
   * Begins or continues a push. Only one attempt at a time works on it.
   * @param hash of the push; on one machine all share an object
   * @param host the key of the code host
   * @param proposed the decisions unless it is a retry; null: nothing is stored
   */
  async begin(
    hash: string,
    host: string,
    target: RepositoryName,
    proposed: PushIntent | null,
    at: number,
  ): Promise<BeginAnswer> {
    const lease = this.#leaseOf(hash).take(at);
    if (lease === null) return { kind: 'busy' };
    const earlier = this.ctx.storage.kv.get<Stored>(hash);
    const isOver = earlier?.isAnswered === true && at >= earlier.until;
    if (earlier !== undefined && !isOver) {
      const { prHash, committedAt, isAnswered = false } = earlier;
      return { kind: 'begun', lease, intent: { prHash, committedAt }, isRepeated: true, isAnswered };
    }
    if (proposed !== null) await this.#store(hash, { ...proposed, host, target, until: at + LIFE_MS });
    return { kind: 'begun', lease, intent: proposed, isRepeated: false, isAnswered: false };
  }

  /** Stores another decision before anything is sent. */
  async decide(hash: string, lease: number, { prHash, committedAt }: PushIntent, at: number): Promise<void> {
    const stored = this.ctx.storage.kv.get<Stored>(hash);
    if (stored === undefined || !this.#leaseOf(hash).isHeldBy(lease)) return;
    const { host, target } = stored;
    await this.#store(hash, { prHash, committedAt, host, target, until: at + LIFE_MS });
  }

  /** Ends an attempt. */
  async end(hash: string, lease: number, left: Left, at: number): Promise<void> {
    if (!this.#leaseOf(hash).release(lease)) return;
    this.#leases.delete(hash);
    const stored = this.ctx.storage.kv.get<Stored>(hash);
    if (stored === undefined || left === 'unanswered') return;
    if (left === 'nothing') return this.#forget(hash);
    await this.#store(hash, { ...stored, until: at + ANSWERED_MS, isAnswered: true });
  }

  override async alarm(): Promise<void> {
    const now = Date.now();
    for (const [hash, stored] of this.#stored())
      if (stored.until <= now) await this.#clearUp(hash, stored, now);
    const next = earliest(...this.#stored().map(([, { until }]) => (until > now ? until : now + RETRY_MS)));
    if (next !== null) await this.ctx.storage.setAlarm(next);
  }

  async #store(hash: string, stored: Stored): Promise<void> {
    const { storage } = this.ctx;
    storage.kv.put(hash, stored);
    const planned = await storage.getAlarm();
    if (planned === null || stored.until < planned) await storage.setAlarm(stored.until);
  }

  async #clearUp(hash: string, stored: Stored, now: number): Promise<void> {
    // Do not clean up a push while it is being retried: the retry would lose its branch, or its
    // decisions.
    const lease = this.#leaseOf(hash).take(now);
    if (lease === null) return;
    const isOver = stored.isAnswered || now > stored.until + CLEARING_MS || (await this.#isClearedUp(stored));
    await this.end(hash, lease, isOver ? 'nothing' : 'unanswered', now);
  }

  #stored(): [string, Stored][] {
    return [...this.ctx.storage.kv.list<Stored>()];
  }

  #leaseOf(hash: string): Lease {
    const lease = this.#leases.get(hash) ?? new Lease();
    this.#leases.set(hash, lease);
    return lease;
  }

  /** Records what the push has opened, or removes its branch. False: try again later. */
  async #isClearedUp({ host: hostKey, target, prHash, committedAt }: Stored): Promise<boolean> {
    const reached = reachHost(this.env, hostKey);
    if (reached === null || reached.host.token === null) return false;
    try {
      const orphan = await findOrphan(openRepositories(reached.access), target, prHash);
      if (orphan === null) return true;
      const [{ owner, name: repo, id: repositoryId }, { number, url, fork, id, app }] = orphan;
      const place = { prHash, host: hostKey, owner, repo, number, url, fork };
      const record = {
        ...place,
        ...(id !== undefined && { id }),
        ...(app !== undefined && { app: app.number }),
      };
      await pullRequestOf(this.env, prHash).adopt(record, repositoryId, committedAt * 1000);
      return true;
    } catch {
      // The host or the object cannot be reached.
      return false;
    } finally {
      reached.http.closeIdle();
    }
  }

  /**
   * Deletes a push. A row that is only deleted stays readable in the file until the last push has
   * ended. That is accepted while others are under way: `keepOnly` could lose them if the machine
   * died then, and a retry would open another pull request.
   */
  async #forget(hash: string): Promise<void> {
    const { storage } = this.ctx;
    if (this.#stored().some(([other]) => other !== hash)) storage.kv.delete(hash);
    else await keepOnly(storage, [], null);
  }
}

/**
 * Finds what a dead push has opened, and where. If it is nothing, deletes its branch on the fork
 * and answers null.
 * @throws HostError, also if the repository is missing, because it may only be private for a while.
 */
async function findOrphan(
  host: CodeHost,
  target: RepositoryName,
  prHash: string,
): Promise<readonly [Repository, HostPullRequest] | null> {
  const [repository, { login }] = await Promise.all([host.repository(target), host.account()]);
  try {
    const branch = workBranch(prHash);
    const pullRequest = await host.findPullRequest(repository, { owner: login, branch });
    if (pullRequest !== null) return [repository, pullRequest];
    // The fork was made before anything was begun, and may have another name.
    if (host.flow === 'fork') await host.deleteBranch(await host.fork(repository), branch);
    return null;
  } catch (error) {
    // The branch is gone. While the host refuses the bot account, nobody knows.
    if (isRefusedByHost(error) && error.failure.whose !== 'ours') return null;
    throw error;
  }
}
