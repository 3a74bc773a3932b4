/** Opens a host of a given kind: the only place that knows what stands behind each. */
import type { ActivityCall, ActivityHost, AgitHost, CodeHost, ForkHost, ThreadHost } from './code-host.ts';
import { RestActivity } from './rest/activity.ts';
import { AgitRepositories } from './rest/agit.ts';
import { ForkRepositories } from './rest/forks.ts';
import { Rest, type RestAccess } from './rest/rest.ts';
import { RestThreads, THREAD_TIMEOUT_MS } from './rest/threads.ts';

export function openRepositories(access: RestAccess & { readonly kind: 'github' }): ForkHost;
export function openRepositories(access: RestAccess & { readonly kind: 'forgejo' | 'gitea' }): AgitHost;
export function openRepositories(access: RestAccess): CodeHost;
export function openRepositories(access: RestAccess): CodeHost {
  const rest = new Rest(access);
  return rest.differences.way === 'fork' ? new ForkRepositories(rest) : new AgitRepositories(rest);
}

export function openThreads(access: RestAccess): ThreadHost {
  return new RestThreads(new Rest(access, { timeoutMs: THREAD_TIMEOUT_MS }));
}

/** @param beforeCall is told of each call, further pages included; what it throws comes instead of the call. */
export function openActivity(access: RestAccess, beforeCall: (call: ActivityCall) => void): ActivityHost {
  return new RestActivity(access, beforeCall);
}
