/** The world as a push meets it: everything with a side effect comes in through here. */
import type { Clock } from '../clock.ts';
import type { PullRequestEvent, PullRequestRecord } from '../durable/pull-request.ts';
import type { GitHub } from '../host/github.ts';
import type { GitTransport } from '../host/git-transport.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import type { KnownPolicy } from '../policy/policies.ts';
import type { HistoryLister } from './upstream-history.ts';

export interface PushHost {
  readonly github: GitHub;
  readonly transport: GitTransport;
  readonly lister: HistoryLister;
  readonly clock: Clock;
  /** The bot account's name: the author of everything. */
  botLogin(): Promise<string>;
  /** What the repository accepts. Never rejects. */
  policy(repository: RepositoryName): Promise<KnownPolicy>;
  /** Keeps the pull request, and tells its topic and the ledger. Rejects if it could not be kept. */
  record(pullRequest: PullRequestRecord, event: PullRequestEvent): Promise<void>;
}
