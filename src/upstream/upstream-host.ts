/** What is needed from outside in order to know upstream. */
import type { RepositoryHost } from '../host/code-host.ts';
import type { GitTransport } from '../host/git/git-transport.ts';
import type { Clock } from '../isolate/clock.ts';
import type { MemoryHold } from '../isolate/memory-budget.ts';
import type { HistoryLister } from './history-lister.ts';

/** For upstream's refs and history: Git only. */
export interface HistoryHost {
  /** What this request holds of the isolate's memory. */
  readonly memory: MemoryHold;
  readonly transport: GitTransport;
  readonly lister: HistoryLister;
  readonly clock: Clock;
}

export interface UpstreamHost extends HistoryHost {
  readonly repositories: RepositoryHost;
}
