/** Everything outside that a push uses: all side effects go through this interface. */
import type { Clock } from '../clock.ts';
import type { PendingPush } from '../durable/pending-push.ts';
import type { PullRequest } from '../durable/pull-request.ts';
import type { RepositoryHost } from '../host/code-host.ts';
import type { GitTransport } from '../host/git/git-transport.ts';
import type { MemoryHold } from '../memory-budget.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import type { KnownPolicy } from '../policy/policies.ts';
import type { Admission } from './admission.ts';
import type { HistoryLister } from './upstream/history-lister.ts';

/** The part of it that is needed for upstream's history. */
export interface HistoryHost {
  /** What this request holds of the isolate's memory. */
  readonly memory: MemoryHold;
  readonly transport: GitTransport;
  readonly lister: HistoryLister;
  readonly clock: Clock;
}

export interface PushHost extends HistoryHost {
  /** Its part of the service's paths and records. */
  readonly hostKey: string;
  readonly repositories: RepositoryHost;
  readonly admission: Admission;
  /** Opens the connection for a later step, so that the step does not wait for the handshake. Never rejects. */
  connectAhead(step: 'push' | 'pull-request'): Promise<void>;
  /** The bot account's name: the author of everything. */
  botLogin(): Promise<string>;
  /** The policy of the repository. Never rejects. */
  policy(repository: RepositoryName): Promise<KnownPolicy>;
  /** The key of all hashes of personal data. */
  secret(): Promise<string>;
  /** The object of a push, by its hash. */
  pendingPush(hash: string): ObjectOf<PendingPush, 'begin' | 'end'>;
  /** False: no push has recorded this pr_hash, as far as that is listed. Never rejects. */
  mayBeRecorded(prHash: string): Promise<boolean>;
  /** The object of a pull request. */
  pullRequest(prHash: string): ObjectOf<PullRequest, 'claim' | 'release' | 'record' | 'tell'>;
}

/** The interface of a Durable Object's stub. Calls reject if the object cannot be reached. */
type ObjectOf<T, Methods extends keyof T> = Pick<T, Methods>;
