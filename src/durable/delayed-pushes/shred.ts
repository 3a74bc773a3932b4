/** Makes a delayed push unreadable for good. */
import type { Env } from '../../env.ts';
import { spoolOf } from '../../objects.ts';

/** Removes the key of a delayed push, then its rows. Rejects if one of them fails: what stays goes at its expiry. */
export async function shred(
  env: Pick<Env, 'DELAYED_KEYS' | 'SPOOL' | 'ONE_MACHINE'>,
  attempt: string,
): Promise<void> {
  await env.DELAYED_KEYS.delete(attempt);
  while (await spoolOf(env, attempt).remove(attempt));
}
