/** Whether a comment or an issue may be posted now, as far as it does not depend on its author or its text. */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { refuseByPolicy } from './policy.ts';
import { askForShare, giveShareBack, shareExplanation } from '../request/account-share.ts';
import { refuseTooMany } from '../request/rate-limit.ts';
import { type Refused, refused } from '../request/refused.ts';
import { refuseSuspendedWriting } from '../request/suspension.ts';
import { retryAfter } from '../request/write-refusal.ts';

/** Something may be posted. */
export interface Posting {
  readonly kind: 'posting';
  /** It was not posted. Nobody need wait for this. */
  cancel(): void;
}

/** Or why not. */
export async function beginPosting(
  c: Context<AppEnv>,
  target: RepositoryName,
  what: 'comments' | 'issues',
): Promise<Posting | Refused> {
  const suspended = await refuseSuspendedWriting(c);
  if (suspended !== null) return suspended;
  const [tooMany, byPolicy, share] = await Promise.all([
    refuseTooMany(c, 'comments'),
    refuseByPolicy(c, target, what),
    askForShare(c, true),
  ]);
  const cancel = (): void => waitUntil(giveShareBack(c, share));
  const refusal = tooMany ?? byPolicy;
  if (refusal !== null) {
    cancel();
    return refusal;
  }
  if (share.waitMs === 0) return { kind: 'posting', cancel };
  return refused(429, shareExplanation(c, share.waitMs), { 'Retry-After': retryAfter(share.waitMs) });
}
