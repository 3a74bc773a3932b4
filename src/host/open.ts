/** Opens a host of a given kind: the only place that knows what stands behind each. */
import type { Clock } from '../isolate/clock.ts';
import type { AccountRules } from './account/account-rules.ts';
import type { ActivityCall, ActivityHost, AgitHost, CodeHost, ForkHost, ThreadHost } from './code-host.ts';
import { FORGEJO_RULES } from './forgejo/account-rules.ts';
import { FORGEJO_ACTIVITY } from './forgejo/activity.ts';
import { AgitRepositories } from './forgejo/repositories.ts';
import { FORGEJO_THREADS } from './forgejo/threads.ts';
import { GITHUB_RULES } from './github/account-rules.ts';
import { GITHUB_ACTIVITY } from './github/activity.ts';
import { GitHubRepositories } from './github/repositories.ts';
import { GITHUB_THREADS } from './github/threads.ts';
import type { HostKind } from './kinds.ts';
import { RestActivity } from './rest/activity.ts';
import type { RestAccess } from './rest/octokit.ts';
import { RestThreads } from './rest/threads.ts';

/** A host, as the bot's account is to speak to it. */
export interface HostAccess extends RestAccess {
  readonly kind: HostKind;
  readonly clock: Clock;
}

export function openRepositories(access: HostAccess & { readonly kind: 'github' }): ForkHost;
export function openRepositories(access: HostAccess & { readonly kind: 'forgejo' | 'gitea' }): AgitHost;
export function openRepositories(access: HostAccess): CodeHost;
export function openRepositories(access: HostAccess): CodeHost {
  return access.kind === 'github' ? new GitHubRepositories(access) : new AgitRepositories(access);
}

export function openThreads(access: HostAccess): ThreadHost {
  return new RestThreads(access, access.kind === 'github' ? GITHUB_THREADS : FORGEJO_THREADS);
}

/** @param beforeCall is told of each call, further pages included; what it throws comes instead of the call. */
export function openActivity(access: HostAccess, beforeCall: (call: ActivityCall) => void): ActivityHost {
  return new RestActivity(access, access.kind === 'github' ? GITHUB_ACTIVITY : FORGEJO_ACTIVITY, beforeCall);
}

export function accountRules(kind: HostKind): AccountRules {
  return kind === 'github' ? GITHUB_RULES : FORGEJO_RULES;
}
