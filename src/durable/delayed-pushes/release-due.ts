/** Publishes the delayed pushes that are due: part of the scheduled handler. Runs may overlap, and die at any time. */
import type { Config } from '../../config.ts';
import type { Env } from '../../env.ts';
import { systemClock } from '../../isolate/clock.ts';
import { loggerOf } from '../../log.ts';
import { delayedPushesOf } from '../../objects.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import type { Lease } from './delayed-push.ts';

/** A run that works for longer would be ended by the platform, which gives it 15 minutes. */
const LONGEST_RUN_MS = 10 * 60_000;
/** Between two runs. A run also publishes what is due until the next one, each at its own second. */
const RUN_EVERY_MS = 60_000;

/** Where a delayed push is published: src/routes/git/publish-delayed.ts. */
export const RELEASE_PATH = '/v1/delayed';

/** Shows that this service asks, without a question to any object. @param secret of the service. */
export function releaseSeal(secret: string, { name, lease }: Lease): string {
  return keyedHash(secret, 'release', `${name} ${lease}`);
}

/** @param triggeredAt milliseconds since 1970, by the clock of the cron trigger. */
export async function releaseDue(env: Env, config: Config, triggeredAt: number): Promise<void> {
  const startedAt = Date.now();
  for (;;) {
    const now = triggeredAt + Date.now() - startedAt;
    if (now - triggeredAt > LONGEST_RUN_MS) return;
    const { leases, nextAt } = await delayedPushesOf(env).claim(now);
    if (leases.length > 0) {
      const stops = await Promise.all(leases.map((lease) => releaseOne(env, config, lease, now)));
      if (stops.includes(true)) return;
    } else {
      if (nextAt === null || nextAt >= triggeredAt + RUN_EVERY_MS) return;
      await systemClock.sleep(Math.max(1, nextAt - now));
    }
  }
}

/** Answers whether to stop. Never rejects: the lease expires. @param now by the clock of the cron trigger. */
export async function releaseOne(env: Env, config: Config, lease: Lease, now: number): Promise<boolean> {
  try {
    const secret = await serviceSecret(env, config.identitySecret);
    // The binding looks at the path only; what is published may name the rest.
    const answer = await env.SELF.fetch(config.serviceUrl + RELEASE_PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...lease, now, seal: releaseSeal(secret, lease) }),
    });
    return !answer.ok || (await answer.json<{ stop: boolean }>()).stop;
  } catch (error) {
    loggerOf(config).error('a delayed push could not be published', { error });
    return true;
  }
}
