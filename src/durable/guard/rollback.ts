/**
 * Closing the tracked pull requests: a few at a time, each reported, and what failed left for the next attempt.
 *
 * Pure but for what it is given to act with.
 */
import type { ClosedPullRequest } from '../../host/code-host.ts';
import { HostError } from '../../host-error.ts';
import type { TrackedPullRequest } from './tracked-pull-requests.ts';

/** A request to a Worker may have six connections open. */
const AT_ONCE = 4;

export interface RollbackWorld {
  /** Rejects with HostError. */
  close(pullRequest: TrackedPullRequest): Promise<ClosedPullRequest>;
  /** Notifies its subscriber. Rejects if the message cannot be stored. */
  tell(pullRequest: TrackedPullRequest, closed: ClosedPullRequest): Promise<void>;
}

export interface RollbackReport {
  readonly closed: readonly TrackedPullRequest[];
  readonly failed: readonly TrackedPullRequest[];
  /** Closed, but its subscriber could not be notified. Closing it again does no harm, and notifies. */
  readonly untold: readonly TrackedPullRequest[];
}

/** Never rejects. */
export async function rollBack(
  world: RollbackWorld,
  tracked: readonly TrackedPullRequest[],
): Promise<RollbackReport> {
  const report = {
    closed: [] as TrackedPullRequest[],
    failed: [] as TrackedPullRequest[],
    untold: [] as TrackedPullRequest[],
  };
  const waiting = [...tracked];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const outcome = await closeOne(world, next);
      if (outcome === 'slow-down') {
        // Further requests would only lengthen the host's rate limit.
        report.failed.push(next, ...waiting.splice(0));
      } else {
        report[outcome === 'failed' ? 'failed' : 'closed'].push(next);
        if (outcome === 'untold') report.untold.push(next);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return report;
}

type Outcome = 'closed' | 'untold' | 'failed' | 'slow-down';

async function closeOne(world: RollbackWorld, pullRequest: TrackedPullRequest): Promise<Outcome> {
  let closed: ClosedPullRequest;
  try {
    closed = await world.close(pullRequest);
  } catch (error) {
    return error instanceof HostError && error.code === 'rate-limited' ? 'slow-down' : 'failed';
  }
  return world.tell(pullRequest, closed).then(
    () => 'closed',
    () => 'untold',
  );
}
