/** Everything outside that a push uses: all side effects go through this interface. */
import type { PendingPush } from '../durable/pending-push/pending-push.ts';
import type { PullRequest } from '../durable/pull-request/pull-request.ts';
import type { RepositoryName } from '../repository-name.ts';
import type { KnownPolicy } from '../policy/policies.ts';
import type { Spool } from '../spool/spool.ts';
import type { UpstreamHost } from '../upstream/upstream-host.ts';
import type { Admission } from './admission.ts';
import type { HeldStore } from './hold/held-store.ts';

export interface PushHost extends UpstreamHost {
  /** Its part of the service's paths and records. */
  readonly hostKey: string;
  readonly admission: Admission;
  /** For what a push sends besides its commits. */
  openSpool(): Spool;
  /** Opens the connection for a later step, so that the step does not wait for the handshake. Never rejects. */
  connectAhead(step: 'push' | 'pull-request'): Promise<void>;
  /** The bot account's name: the author of everything. */
  botLogin(): Promise<string>;
  /** The policy of the repository. Never rejects. */
  policy(repository: RepositoryName): Promise<KnownPolicy>;
  /** The key of all hashes of personal data. */
  secret(): Promise<string>;
  /** The object of a push, by its hash. */
  pendingPush(hash: string): ObjectOf<PendingPush, 'begin' | 'isHeld' | 'end'>;
  /** False: no push has recorded this pr_hash, as far as that is listed. Never rejects. */
  mayBeRecorded(prHash: string): Promise<boolean>;
  /**
   * The open pull request that was recorded last with the same work; null if there is none, or nobody knows. Never
   * rejects. @param work keyed hash of the commits without their author and dates.
   */
  openWith(
    repository: RepositoryName,
    work: string,
  ): Promise<{ readonly prHash: string; readonly url: string } | null>;
  /** Pushes that are published later. */
  readonly holds: HeldStore;
  /** Whether the service has ever opened a pull request there; false if nobody knows, so that the operator sees it. */
  isKnownRepository(repository: RepositoryName): Promise<boolean>;
  /** The object of a pull request. */
  pullRequest(prHash: string): ObjectOf<PullRequest, 'claim' | 'release' | 'record' | 'tell'>;
}

/** The interface of a Durable Object's stub. Calls reject if the object cannot be reached. */
type ObjectOf<T, Methods extends keyof T> = Pick<T, Methods>;
