/**
 * Opens a host of a given kind. Only this file knows which class is behind each of these types.
 * Methods that ask the host reject with HostError (those of `ActivityHost` also with TypeError, for
 * fields of another shape), whose code says what the caller may conclude:
 *
 * - `refused`, `missing`, `moved`, `rate-limited`: the host has understood the request, and has
 *   done nothing.
 * - `unreachable`: nobody knows if it was done. The method may be called again with the same
 *   result, unless it is marked as **once**: then the caller first looks for what it does. Some of
 *   these methods do so themselves.
 *
 * A write to an upstream repository that was renamed goes to its new name, if that is public.
 * Proved by test/host/failure.test.ts and test/sandbox/host-contract.test.ts.
 */
import { RestActivity } from './rest/activity.ts';
import { AgitRepositories } from './rest/agit.ts';
import { ForkRepositories } from './rest/forks.ts';
import { RestMaintainers } from './rest/maintainers.ts';
import { RestPrivateReports } from './rest/private-reports.ts';
import { Rest, type RestAccess } from './rest/rest.ts';
import type { RestRepositories } from './rest/repositories.ts';
import { RestThreads } from './rest/threads.ts';

type Public<Host> = Pick<Host, keyof Host>;
/** Access to repositories, and to the bot's pull requests there. */
export type RepositoryHost = Public<RestRepositories>;
/** A host at which the bot pushes to a fork of its own, and opens the pull request from there. */
export type ForkHost = Public<ForkRepositories>;
/**
 * A host at which a push opens or updates the pull request (AGit flow), without fork and branch.
 */
export type AgitHost = Public<AgitRepositories>;
export type CodeHost = ForkHost | AgitHost;
/** Access to what the bot writes: comments on issues and pull requests, and issues. */
export type ThreadHost = Public<RestThreads>;
/** Access to what others do to the bot's pull requests, and to what is said on a thread. */
export type ActivityHost = Public<RestActivity>;
/** Access to the reports that only maintainers read. */
export type PrivateReportHost = Public<RestPrivateReports>;
/** Access to who may speak for a repository. */
export type MaintainerHost = Public<RestMaintainers>;

export function openRepositories(access: RestAccess): CodeHost {
  const rest = new Rest(access);
  return rest.differences.flow === 'fork' ? new ForkRepositories(rest) : new AgitRepositories(rest);
}

export function openThreads(access: RestAccess): ThreadHost {
  return new RestThreads(access);
}

/** Opens the access to private reports. @param access says who reports. */
export function openPrivateReports(access: RestAccess): PrivateReportHost {
  return new RestPrivateReports(access);
}

/**
 * Opens the access to activity.
 * @param beforeCall is called with each call, further pages included. If it throws, the call is not
 * made.
 */
export function openActivity(access: RestAccess, beforeCall: () => void): ActivityHost {
  return new RestActivity(access, beforeCall);
}

/** Opens the access to maintainers. `beforeCall`: as for `openActivity`. */
export function openMaintainers(access: RestAccess, beforeCall: () => void): MaintainerHost {
  return new RestMaintainers(access, beforeCall);
}
