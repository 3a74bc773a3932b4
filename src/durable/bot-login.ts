/** The name of the bot account: the author of everything. */
import { waitUntil } from 'cloudflare:workers';
import { type HostConfig, tokenVariable } from '../config/hosts.ts';
import type { Config } from '../config.ts';
import type { Env } from '../env.ts';
import { utf8 } from '../git/bytes.ts';
import { openRepositories } from '../host/open.ts';
import { HostError } from '../host-error.ts';
import { Recent } from '../isolate/recent.ts';
import type { Http } from '../outgoing/http-client.ts';
import { serviceSecret } from '../secret/open-secret.ts';
import { SealedKv } from '../secret/sealed-kv.ts';
import { openHostAccess } from './host-access.ts';

/** The account behind a token seldom has another name, so each isolate asks for it once an hour. */
const LIFE_MS = 60 * 60 * 1000;
const logins = new Recent<string>({ lifeMs: LIFE_MS, most: 100 });
/** A delayed push must not be the reason for a request to the host, and takes what was known lately. */
const KEPT_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

/** @param isQuiet the host is asked only if nobody has asked it for a month. @throws HostError */
export async function botLogin(
  env: Pick<Env, 'HISTORY' | 'SERVICE_SECRET' | 'LOCATION_HINT' | 'HOST_ACCOUNTS' | 'GUARD'>,
  config: Pick<Config, 'identitySecret' | 'logFormat'>,
  host: HostConfig,
  http: Http,
  isQuiet = false,
): Promise<string> {
  if (host.token === null) {
    throw new HostError(
      'refused',
      `This service has no bot account yet: its operator must set ${tokenVariable(host.key)}.`,
    );
  }
  const key = `${host.apiUrl} ${host.token}`;
  const known = logins.get(key);
  if (known !== null) return known;
  const kept = new SealedKv(env.HISTORY, () => serviceSecret(env, config.identitySecret));
  const before = isQuiet ? await kept.get(`login ${key}`).catch(() => null) : null;
  // A month old: no name for the pushes that follow.
  if (before !== null) return Buffer.from(before).toString();
  const { login } = await openRepositories(openHostAccess(env, config, host, http)).account();
  waitUntil(kept.put(`login ${key}`, utf8(login), KEPT_LIFE_MS).catch(() => {}));
  logins.set(key, login);
  return login;
}
