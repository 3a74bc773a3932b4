/**
 * Holds what is about to be posted against what one repository, or one thread, takes from all clients together: what
 * gets a bot account suspended is noise where it posts, from however many networks that comes.
 *
 * Asked after everything else, so that only what would be posted is counted: what is opened in a repository with the
 * account's share (account-share.ts), a comment by its pseudonym. A comment that then fails at the host stays counted.
 */
import type { Context } from 'hono';
import { recordName } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { limitText, lowered, waitText } from '../../limits/limits.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { POLICY_PATH } from '../../policy/policy.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { type Refused, refused } from './refused.ts';
import { retryAfter } from './write-refusal.ts';

export interface TargetLimit {
  /** A keyed hash of the place: its name is not kept. */
  readonly key: string;
  readonly limits: readonly Limit[];
  /** What the refusal says, all but the wait. */
  readonly words: string;
}

/** @param number of the thread; null: for what is opened. @param policyLimits those of the repository. */
export async function targetLimit(
  c: Context<AppEnv>,
  repository: RepositoryName,
  number: number | null,
  policyLimits: readonly Limit[],
): Promise<TargetLimit> {
  const { config, host } = c.var;
  const [name, what] =
    number === null ? (['target', 'pull requests and issues'] as const) : (['thread', 'comments'] as const);
  const thread = number === null ? '' : `#${number}`;
  const limits = lowered(config.limits[name], policyLimits);
  const isLowered = policyLimits.some((limit) => limits.includes(limit));
  const says = isLowered ? `, as its ${POLICY_PATH} says` : '';
  return {
    key: targetKey(
      await serviceSecret(c.env, config.identitySecret),
      `${recordName(host, repository)}${thread}`,
    ),
    limits,
    words: `too many ${what} for ${fullName(repository)}${thread}: this service posts at most ${limitText(limits)} there for all people together${says}`,
  };
}

/** @param place a repository, or a thread. */
export function targetKey(secret: string, place: string): string {
  return keyedHash(secret, 'target', place.toLowerCase());
}

/** `too many comments for octo/hello#7: this service posts at most 60 in 1h there for all people together; try again in about 43 minutes` */
export function overTarget({ words }: TargetLimit, waitMs: number): string {
  return `${words}; try again in ${waitText(waitMs)}`;
}

export function refusedByTarget(limit: TargetLimit, waitMs: number): Refused {
  return refused(429, overTarget(limit, waitMs), { 'Retry-After': retryAfter(waitMs) });
}
