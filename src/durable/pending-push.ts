/**
 * One push from its first bytes until its answer was sent, identified by the hash of what is pushed and where to.
 *
 * If a push dies before its answer was sent, the person pushes again. The retry finds its pr_hash here, so that it
 * opens no second pull request, and its date, so that the commits get the same ids. After the answer, the push is
 * forgotten: pushing the same commit once more opens a new pull request. A push that nobody retries within an hour is
 * cleaned up, and a pull request that it opened is recorded.
 */
import { DurableObject } from 'cloudflare:workers';
import { hostWithKey, MAIN_HOST } from '../config/hosts.ts';
import { parseConfig } from '../config.ts';
import type { Env } from '../env.ts';
import { openRepositories } from '../host/open.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import { HttpClient } from '../outgoing/http-client.ts';
import { findOrphan } from '../push/pull-request/adoption.ts';
import { openHostAccess } from './host-access.ts';
import { Lease } from './lease.ts';

const HOUR_MS = 60 * 60 * 1000;
/** After this time, a push that nobody has retried is over. */
const LIFE_MS = HOUR_MS;
/** How long, after that, to keep asking the host how far it came. */
const CLEARING_MS = 24 * HOUR_MS;
const RETRY_MS = 10 * 60 * 1000;

/** What a push decides once, and its retries reuse. */
export interface PushIntent {
  /** Of the pull request that it opens. */
  readonly prHash: string;
  /** Seconds since 1970: the date of its commits. */
  readonly committedAt: number;
}

interface StoredIntent extends PushIntent {
  /** The key of the code host; absent: the only one that there was. */
  readonly host?: string;
  readonly target: RepositoryName;
  /** Milliseconds since 1970. */
  readonly until: number;
}

export type BegunPush =
  /** The same push is in progress. */
  | { readonly kind: 'busy' }
  | {
      readonly kind: 'begun';
      readonly lease: number;
      readonly intent: PushIntent;
      readonly isRepeated: boolean;
    };

export class PendingPush extends DurableObject<Env> {
  readonly #lease = new Lease();

  /**
   * @param host the key of the code host. @param proposed what the push decides unless it is a retry.
   * @param at milliseconds since 1970.
   */
  async begin(host: string, target: RepositoryName, proposed: PushIntent, at: number): Promise<BegunPush> {
    const lease = this.#lease.take(at);
    if (lease === null) return { kind: 'busy' };
    const earlier = this.#stored();
    if (earlier !== undefined && at < earlier.until) {
      const { prHash, committedAt } = earlier;
      return { kind: 'begun', lease, intent: { prHash, committedAt }, isRepeated: true };
    }
    const stored: StoredIntent = { ...proposed, host, target, until: at + LIFE_MS };
    this.ctx.storage.kv.put('intent', stored);
    await this.ctx.storage.setAlarm(stored.until);
    return { kind: 'begun', lease, intent: proposed, isRepeated: false };
  }

  /** @param isAnswered true: the answer was sent, and the push is over. False: it may be retried. */
  async end(lease: number, isAnswered: boolean): Promise<void> {
    const isLast = this.#lease.release(lease);
    if (isAnswered && isLast) await this.#forget();
  }

  override async alarm(): Promise<void> {
    const now = Date.now();
    // Do not clean up a push while it is being retried: the retry would lose its branch, or its decisions.
    const lease = this.#lease.take(now);
    if (lease === null) return this.ctx.storage.setAlarm(now + RETRY_MS);
    const stored = this.#stored();
    const isOver =
      stored === undefined || now > stored.until + CLEARING_MS || (await this.#isClearedUp(stored, now));
    await this.end(lease, isOver);
    if (!isOver) await this.ctx.storage.setAlarm(now + RETRY_MS);
  }

  #stored(): StoredIntent | undefined {
    return this.ctx.storage.kv.get<StoredIntent>('intent');
  }

  /** False if it has to be tried again. */
  async #isClearedUp(
    { host: hostKey = MAIN_HOST, target, prHash }: StoredIntent,
    now: number,
  ): Promise<boolean> {
    const result = parseConfig({ ...this.env });
    if (result.kind === 'invalid') return false;
    const host = hostWithKey(result.config, hostKey);
    if (host === undefined || host.token === null) return false;
    const http = new HttpClient(result.config.outgoingFetchHosts);
    const repositories = openRepositories(openHostAccess(this.env, result.config, host, http));
    try {
      const orphan = await findOrphan(repositories, target, prHash);
      if (orphan === null) return true;
      const { owner, name: repo } = orphan.repository;
      const { number, url } = orphan.pullRequest;
      const object = this.env.PULL_REQUESTS.get(this.env.PULL_REQUESTS.idFromName(prHash));
      await object.adopt({ prHash, host: hostKey, owner, repo, number, url }, now);
      return true;
    } catch {
      // The host or the object cannot be reached.
      return false;
    }
  }

  async #forget(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }
}
