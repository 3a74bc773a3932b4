/**
 * Runs on every cron trigger: publishes what is due, reads the notifications of the code hosts,
 * stores panic switches that could not be stored before, deletes what has expired, and warns of a
 * mistake that only the operator can correct.
 * Proved by test/e2e/host/events.test.ts, test/e2e/host/kv-traces.test.ts and
 * test/local/export-secret.test.ts.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Config } from './config/config.ts';
import { configOf, openHttp } from './config/configured.ts';
import { releaseDue } from './durable/delayed-pushes/release-due.ts';
import type { Env } from './env.ts';
import { loggerOf } from './log.ts';
import { feedOf, secretOf } from './objects.ts';
import { discardStopped } from './service/discard-stopped.ts';
import { storeHeldSwitches } from './service/suspension.ts';

/** Configurations for which the service has looked for a secret of its own. */
const checkedForSecret = new WeakSet<Config>();

export async function scheduled({ scheduledTime }: ScheduledController, env: Env): Promise<void> {
  const result = configOf(env);
  if (result.kind === 'invalid') return;
  const { config } = result;
  const logger = loggerOf(config);
  await warnOfTwoSecrets(env, config);
  await storeHeldSwitches(env, logger);
  // One host that does not answer keeps no other one waiting. Without a bot account there is no
  // feed to read.
  const followed = config.hosts.filter(({ token }) => token !== null);
  await Promise.all([
    deleteExpired(env).catch((error: unknown) =>
      logger.warn('what has expired could not be deleted', { error }),
    ),
    releaseDue(env, config, scheduledTime).catch((error: unknown) =>
      logger.error('delayed pushes could not be looked after', { error }),
    ),
    ...followed.map(({ key }) =>
      follow(env, config, key, scheduledTime).catch((error: unknown) =>
        logger.error('a code host could not be looked after', { error }),
      ),
    ),
  ]);
}

/**
 * Deletes the expired entries of KV. On one machine, its stand-in only does so when the same entry
 * is read again, or when any are listed.
 */
async function deleteExpired({ ONE_MACHINE, HISTORY, LAST_KNOWN, DELAYED_KEYS }: Env): Promise<void> {
  if (ONE_MACHINE === undefined) return;
  for (const namespace of [HISTORY, LAST_KNOWN, DELAYED_KEYS]) await namespace.list({ limit: 1 });
}

/** Reads what has happened at a host, and discards what waits for those who have said stop. */
async function follow(env: Env, config: Config, hostKey: string, cronTime: number): Promise<void> {
  const stopped = await feedOf(env, hostKey).run(hostKey, cronTime);
  const { serviceUrl } = config;
  const scope = {
    env,
    config,
    logger: loggerOf(config),
    http: openHttp(config),
    network: '',
    gitClient: 'other',
    isForeign: false,
    addresses: { shown: serviceUrl, published: serviceUrl, frontPage: serviceUrl },
    later: waitUntil,
  } as const;
  await discardStopped(scope, hostKey, stopped);
}

/** Warns that the secret has changed, on which all pseudonyms depend. */
async function warnOfTwoSecrets(env: Env, config: Config): Promise<void> {
  if (config.identitySecret === null || checkedForSecret.has(config)) return;
  // If the object cannot be reached now, the next run asks again.
  const asked = secretOf(env).isMade();
  const hasOwn = await asked.catch(() => null);
  if (hasOwn !== null) checkedForSecret.add(config);
  if (hasOwn !== true) return;
  const message = 'IDENTITY_SECRET is set, so the secret that the service created earlier is no longer used';
  loggerOf(config).warn(message, { variable: 'IDENTITY_SECRET' });
}
