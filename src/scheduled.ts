/** Runs on every cron trigger: looks after the code hosts, and at what only the operator can correct. */
import type { Config } from './config.ts';
import type { HostConfig } from './config/hosts.ts';
import { configOf } from './configured.ts';
import { releaseDue } from './durable/delayed-pushes/release-due.ts';
import type { Env } from './env.ts';
import { loggerOf } from './log.ts';
import { feedOf, secretOf } from './objects.ts';

const TWO_SECRETS =
  'IDENTITY_SECRET is set, so the secret that the service created earlier is no longer used';

/** The configurations for which the service has looked for a secret of its own. */
const checkedForSecret = new WeakSet<Config>();

export async function scheduled({ scheduledTime }: ScheduledController, env: Env): Promise<void> {
  const result = configOf(env);
  if (result.kind === 'invalid') return;
  const { config } = result;
  await warnOfTwoSecrets(env, config);
  await Promise.all([
    releaseDue(env, config, scheduledTime).catch((error: unknown) =>
      loggerOf(config).error('delayed pushes could not be looked after', { error }),
    ),
    ...config.hosts.map((host) => follow(env, config, host, scheduledTime)),
  ]);
}

/** All pseudonyms depend on the secret, and the operator may not know that it has changed. */
async function warnOfTwoSecrets(env: Env, config: Config): Promise<void> {
  if (config.identitySecret === null || checkedForSecret.has(config)) return;
  // If the object cannot be reached now, the next run asks again.
  const hasOwn = await secretOf(env)
    .isMade()
    .catch(() => null);
  if (hasOwn === null) return;
  checkedForSecret.add(config);
  if (hasOwn) loggerOf(config).warn(TWO_SECRETS, { variable: 'IDENTITY_SECRET' });
}

/** One host that does not answer keeps no other one waiting. Without a bot account there is no feed to read. */
async function follow(env: Env, config: Config, host: HostConfig, scheduledTime: number): Promise<void> {
  if (host.token === null) return;
  await feedOf(env, host.key)
    .run(host.key, scheduledTime)
    .catch((error: unknown) => loggerOf(config).error('a code host could not be looked after', { error }));
}
