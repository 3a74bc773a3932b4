/** Whether a comment or an issue may be posted now, as far as it does not depend on its author or its text. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { refuseByPolicy } from './policy.ts';
import { refuseTooMany } from '../request/rate-limit.ts';
import type { Refused } from '../request/refused.ts';
import { refuseSuspendedWriting } from '../request/suspension.ts';

/** Null if nothing speaks against it. */
export async function refuseWriting(
  c: Context<AppEnv>,
  target: RepositoryName,
  what: 'comments' | 'issues',
): Promise<Refused | null> {
  const suspended = await refuseSuspendedWriting(c);
  if (suspended !== null) return suspended;
  const [tooMany, byPolicy] = await Promise.all([
    refuseTooMany(c, 'comments'),
    refuseByPolicy(c, target, what),
  ]);
  return tooMany ?? byPolicy;
}
