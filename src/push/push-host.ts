/** The world as a push meets it: everything with a side effect comes in through here. */
import type { Clock } from '../clock.ts';
import type { PendingPush } from '../durable/pending-push.ts';
import type { PullRequest } from '../durable/pull-request.ts';
import type { GitHub } from '../host/github.ts';
import type { GitTransport } from '../host/git-transport.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import type { KnownPolicy } from '../policy/policies.ts';
import type { Admission } from './admission.ts';
import type { HistoryLister } from './history-lister.ts';

/** As much of it as is needed to know upstream's history. */
export interface HistoryHost {
  readonly transport: GitTransport;
  readonly lister: HistoryLister;
  readonly clock: Clock;
}

export interface PushHost extends HistoryHost {
  readonly github: GitHub;
  readonly admission: Admission;
  /** Opens the connection that a step will want, so that its round trips are over by then. Never rejects. */
  connectAhead(step: 'push' | 'pull-request'): Promise<void>;
  /** The bot account's name: the author of everything. */
  botLogin(): Promise<string>;
  /** What the repository accepts. Never rejects. */
  policy(repository: RepositoryName): Promise<KnownPolicy>;
  /** The key of all hashes of what is a person's. */
  secret(): Promise<string>;
  /** The object of a push, by its hash. */
  pendingPush(hash: string): ObjectOf<PendingPush, 'begin' | 'end'>;
  /** The object of a pull request. */
  pullRequest(prHash: string): ObjectOf<PullRequest, 'claim' | 'release' | 'record' | 'tell'>;
}

/** A Durable Object as its stub offers it. Calls reject if it is out of reach. */
type ObjectOf<T, Methods extends keyof T> = Pick<T, Methods>;
