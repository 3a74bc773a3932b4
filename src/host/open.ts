/**
 * Opens a host of a given kind: only this file knows which class stands behind each. All outside
 * this folder speaks to a host through these types and `GitTransport`. All methods reject with
 * HostError; its code says what the caller may conclude:
 * - `refused`, `missing`, `moved`, `rate-limited`: the host has understood, and has done nothing.
 * - `unreachable`: nobody knows whether it was done. A method may be called again, with the same
 *   result, unless it is
 *   marked as **once**: what that does must be looked for first, which some of these methods do
 *   themselves.
 * A write to a repository that was renamed goes to its new name, if that is public.
 * Proved by test/host/failure.test.ts and test/sandbox/host-contract.test.ts.
 */
import { RestActivity } from './rest/activity.ts';
import { AgitRepositories } from './rest/agit.ts';
import { ForkRepositories } from './rest/forks.ts';
import { Rest, type RestAccess } from './rest/rest.ts';
import type { RestRepositories } from './rest/repositories.ts';
import { RestThreads } from './rest/threads.ts';

type Public<Host> = Pick<Host, keyof Host>;
/** Repositories, and the bot's pull requests there. */
export type RepositoryHost = Public<RestRepositories>;
/** The bot pushes to a fork of its own, and opens the pull request from there. */
export type ForkHost = Public<ForkRepositories>;
/** A push opens or updates the pull request (AGit flow): there is no fork, and no branch. */
export type AgitHost = Public<AgitRepositories>;
export type CodeHost = ForkHost | AgitHost;
/** What the bot writes: comments on issues and pull requests, and issues. */
export type ThreadHost = Public<RestThreads>;
/** What others do to the bot's pull requests, and what is said on a thread. */
export type ActivityHost = Public<RestActivity>;

export function openRepositories(access: RestAccess): CodeHost {
  const rest = new Rest(access);
  return rest.differences.way === 'fork' ? new ForkRepositories(rest) : new AgitRepositories(rest);
}

export function openThreads(access: RestAccess): ThreadHost {
  return new RestThreads(access);
}

/**
 * @param beforeCall is told of each call, further pages included; what it throws comes instead of
 * the call.
 */
export function openActivity(access: RestAccess, beforeCall: () => void): ActivityHost {
  return new RestActivity(access, beforeCall);
}
