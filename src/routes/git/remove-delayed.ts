/** Ends a delayed push that somebody has begun to publish: first at the code host, then here. */
import type { Context } from 'hono';
import type { BegunPush } from '../../durable/delayed-pushes/delayed-push.ts';
import type { AppEnv } from '../../env.ts';
import { systemClock } from '../../isolate/clock.ts';
import { delayedPushesOf } from '../../objects.ts';
import { removeBegun } from './publish-delayed.ts';

/** Whoever was publishing it may still have a request under way. */
const ATTEMPTS = 3;
const PAUSE_MS = 500;

export interface DelayedEnd {
  readonly state: 'given-up' | 'discarded';
  readonly said: readonly string[];
}

/** False: it could not be removed. It waits, and nobody publishes it. It goes on also if the client leaves. */
export async function removeDelayed(
  c: Context<AppEnv>,
  { lease, host, intent }: BegunPush,
  { state, said }: DelayedEnd,
): Promise<boolean> {
  const work = async (): Promise<boolean> => {
    const objects = delayedPushesOf(c.env);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (!(await objects.renew(lease))) return false;
      const removed = await removeBegun(c, { name: lease.name, host, intent });
      if (removed === 'removed') return objects.ended(lease, state, said);
      await systemClock.sleep(PAUSE_MS * attempt);
    }
    await objects.failed(lease, { kind: 'review' }, Date.now());
    return false;
  };
  const working = work();
  c.executionCtx.waitUntil(working.catch(() => {}));
  return working;
}
