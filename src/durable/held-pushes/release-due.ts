/** Publishes the held pushes that are due: part of the scheduled handler. Runs may overlap, and die at any moment. */
import type { Config } from '../../config.ts';
import type { Env } from '../../env.ts';
import { loggerOf } from '../../log.ts';
import { heldPushesOf } from '../../objects.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import type { Lease } from './held-pushes.ts';

/** A run that works for longer would be ended by the platform, which gives it 15 minutes. */
const LONGEST_RUN_MS = 10 * 60_000;

/** Where a held push is published: src/routes/git/publish-held.ts. */
export const RELEASE_PATH = '/v1/held';

/** Shows that the scheduled handler asks, without a question to any object. @param secret of the service. */
export function releaseSeal(secret: string, { prHash, lease }: Lease): string {
  return keyedHash(secret, 'release', `${prHash} ${lease}`);
}

/** How one has ended. */
export interface ReleaseAnswer {
  /** Others would fail as well now. */
  readonly stop: boolean;
}

export interface ReleaseRequest extends Lease {
  readonly seal: string;
  /** Milliseconds since 1970, by the clock of the cron trigger. */
  readonly now: number;
}

/** @param now milliseconds since 1970, by the clock of the cron trigger. */
export async function releaseDue(env: Env, config: Config, now: number): Promise<void> {
  const startedAt = Date.now();
  const secret = await serviceSecret(env, config.identitySecret);
  for (;;) {
    const elapsedMs = Date.now() - startedAt;
    if (elapsedMs > LONGEST_RUN_MS) return;
    const leases = await heldPushesOf(env).claim(now + elapsedMs);
    if (leases.length === 0) return;
    const stops = await Promise.all(
      leases.map((lease) =>
        releaseOne(env, config, { ...lease, now: now + elapsedMs, seal: releaseSeal(secret, lease) }),
      ),
    );
    if (stops.includes(true)) return;
  }
}

/** Answers whether to stop. Never rejects: a push whose lease stays is tried again when that has expired. */
async function releaseOne(env: Env, config: Config, request: ReleaseRequest): Promise<boolean> {
  try {
    // The binding looks at the path only; what is published may name the rest.
    const answer = await env.SELF.fetch(config.serviceUrl + RELEASE_PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
    });
    return !answer.ok || (await answer.json<ReleaseAnswer>()).stop;
  } catch (error) {
    loggerOf(config).error('a held push could not be published', { error });
    return true;
  }
}
