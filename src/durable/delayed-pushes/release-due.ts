/**
 * Publishes the delayed pushes that are due: part of the scheduled handler. Runs may overlap, and
 * die at any time.
 */
import type { Config } from '../../config/config.ts';
import type { Env } from '../../env.ts';
import { reachHost } from '../../host-access.ts';
import { systemClock } from '../../isolate/clock.ts';
import { askTime } from '../../host/time.ts';
import { loggerOf } from '../../log.ts';
import { delayedPushesOf } from '../../objects.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import type { DelayedLease } from './delayed-push.ts';
import type { HostTimes } from './due.ts';

/** The longest that a run works: the platform would end it after 15 minutes. */
const LONGEST_RUN_MS = 10 * 60_000;
/**
 * The time between two runs. A run also publishes what is due until the next one, each at its own
 * second.
 */
const RUN_EVERY_MS = 60_000;

/** Where a delayed push is published: src/routes/git/release-delayed.ts. */
export const RELEASE_PATH = '/v1/delayed';

/** Proves that this service asks, without a question to any object. */
export function releaseSeal(secret: string, { name, lease }: DelayedLease): string {
  return keyedHash(secret, 'release', `${name} ${lease}`);
}

/**
 * Publishes what is due until the next run.
 * @param triggeredAt as the trigger says, in milliseconds since 1970; only tests move time by it
 */
export async function releaseDue(env: Env, config: Config, triggeredAt: number): Promise<void> {
  const aheadMs = env.TRIGGER_IS_CLOCK === undefined ? 0 : triggeredAt - Date.now();
  const now = (): number => Date.now() + aheadMs;
  const startedAt = now();
  while (now() - startedAt <= LONGEST_RUN_MS) {
    const { leases, nextAt } = await claim(env, now);
    if (leases.length > 0) {
      const stops = await Promise.all(leases.map((lease) => releaseOne(env, config, lease, now())));
      if (stops.includes(true)) return;
    } else {
      if (nextAt === null || nextAt >= startedAt + RUN_EVERY_MS) return;
      await systemClock.sleep(Math.max(1, nextAt - now()));
    }
  }
}

/**
 * Asks the hosts for their time only if it matters: each moment that is due by the service's clock
 * costs a call.
 */
async function claim(env: Env, now: () => number) {
  const objects = delayedPushesOf(env);
  const claimed = await objects.claim(now());
  if (claimed.hosts.length === 0 || claimed.leases.length > 0) return claimed;
  const times = await timesOf(env, claimed.hosts, now);
  return objects.claim(now(), times);
}

async function timesOf(env: Env, hosts: readonly string[], now: () => number): Promise<HostTimes> {
  const times: Record<string, number> = {};
  const ask = async (key: string): Promise<void> => {
    const reached = env.TRIGGER_IS_CLOCK === undefined ? reachHost(env, key) : null;
    const at = reached === null ? null : await askTime(reached.access);
    if (at !== null) times[key] = at;
    else if (env.TRIGGER_IS_CLOCK !== undefined) times[key] = now();
  };
  await Promise.all(hosts.map(ask));
  return times;
}

/**
 * Publishes one. Answers whether the run must stop. Never rejects: the lease expires.
 * @param now by the service's clock
 */
export async function releaseOne(
  env: Env,
  config: Config,
  lease: DelayedLease,
  now: number,
): Promise<boolean> {
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
