/** Opens a host of a given kind: the only place that knows what stands behind each. */
import type { Clock } from '../clock.ts';
import type { ActivityCall, ActivityHost, RepositoryHost, ThreadHost } from './code-host.ts';
import { GitHubActivity } from './github/activity.ts';
import { GitHubRepositories } from './github/repositories.ts';
import { GitHubThreads } from './github/threads.ts';
import type { HostKind } from './kinds.ts';
import type { RestAccess } from './rest/octokit.ts';

/** A host, as the bot's account is to speak to it. */
export interface HostAccess extends RestAccess {
  readonly kind: HostKind;
  readonly clock: Clock;
}

export function openRepositories(access: HostAccess): RepositoryHost {
  return new GitHubRepositories(access);
}

export function openThreads(access: HostAccess): ThreadHost {
  return new GitHubThreads(access);
}

/** @param beforeCall is told of each call, further pages included; what it throws comes instead of the call. */
export function openActivity(access: HostAccess, beforeCall: (call: ActivityCall) => void): ActivityHost {
  return new GitHubActivity(access, beforeCall);
}
