/** What is suspended or wrong with the bot: a copy, at most two seconds old, so that the guard is free for pushes. */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import { type HostConfig, hostNameOf } from '../../config/hosts.ts';
import type { GuardStatus } from '../../durable/guard/guard.ts';
import { accountOf } from '../../durable/host-access.ts';
import type { AppEnv, Env } from '../../env.ts';
import { FreshCopy } from '../../isolate/fresh-copy.ts';
import { onForget } from '../../isolate/recent.ts';
import { guardOf } from '../../objects.ts';
import { uncheckedLimit } from './limits.ts';
import { refused, type Refused } from './refused.ts';

const copy = new FreshCopy<GuardStatus>();
onForget(() => copy.forget());

/** Rejects if the guard must be asked and does not answer. */
export function suspensionOf(env: Env): Promise<GuardStatus> {
  return copy.read(() => guardOf(env).status(), waitUntil);
}

export function botProblems({ accountProblems }: GuardStatus, hosts: readonly HostConfig[]) {
  return hosts.flatMap((host) =>
    (accountProblems[accountOf(host)] ?? []).map((problem) => ({ hostName: hostNameOf(host), problem })),
  );
}

/** This isolate has set the switch. Other isolates notice it within two seconds. */
export function suspensionChanged(): void {
  copy.forget();
}

/** Null if comments and issues are accepted. */
export async function refuseSuspendedWriting(c: Context<AppEnv>): Promise<Refused | null> {
  try {
    const { writesSuspended } = await suspensionOf(c.env);
    if (!writesSuspended) return null;
    const words = 'comments and issues are suspended; try again in 15 minutes';
    return refused(503, words, { 'Retry-After': String(15 * 60) }, 'suspended');
  } catch (error) {
    return uncheckedLimit(c, error);
  }
}
