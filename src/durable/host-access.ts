/** The bot account at the code host, as a request or an object reaches it: with the token, and with its back-off. */
import { hash } from 'node:crypto';
import { waitUntil } from 'cloudflare:workers';
import { systemClock } from '../isolate/clock.ts';
import { type HostConfig, hostNameOf, hostWithKey, tokenVariable } from '../config/hosts.ts';
import type { Config } from '../config.ts';
import { configOf, openHttp } from '../configured.ts';
import type { Env } from '../env.ts';
import { AccountBackOff } from '../host/account/account-back-off.ts';
import { type CallMeter, callMeter } from '../host/account/account-budget.ts';
import type { RestAccess } from '../host/rest/rest.ts';
import { TokenWatch } from '../host/account/token-watch.ts';
import { loggerOf } from '../log.ts';
import { guardOf, hostAccountNamed } from '../objects.ts';
import type { Http, HttpClient } from '../outgoing/http-client.ts';

type LogConfig = Pick<Config, 'logFormat'>;
type AccountEnv = Pick<Env, 'HOST_ACCOUNTS' | 'GUARD' | 'LOCATION_HINT'>;

/** A request asks for the name a dozen times, and the configuration is read once. */
const accounts = new WeakMap<HostConfig, string>();

/** Names an account without telling its token. Another token may be another account's, and starts again. */
export function accountOf(host: HostConfig): string {
  const known = accounts.get(host);
  if (known !== undefined) return known;
  const account = hash('sha256', `${host.apiUrl} ${host.token ?? ''}`, 'hex').slice(0, 16);
  accounts.set(host, account);
  return account;
}

export function hostAccountOf(env: AccountEnv, host: HostConfig): ReturnType<Env['HOST_ACCOUNTS']['get']> {
  return hostAccountNamed(env, accountOf(host));
}

/** A code host, and what asks it. */
export interface Reached {
  readonly config: Config;
  readonly host: HostConfig;
  readonly http: HttpClient;
  readonly access: RestAccess;
}

/**
 * For an object. Null: the configuration is invalid, or has no code host of this key (any more).
 * @param http the object's own, from an earlier answer.
 */
export function reachHost(env: Env, hostKey: string, http: HttpClient | null = null): Reached | null {
  const result = configOf(env);
  const host = result.kind === 'valid' ? hostWithKey(result.config, hostKey) : undefined;
  if (result.kind === 'invalid' || host === undefined) return null;
  const client = http ?? openHttp(result.config);
  const access = openHostAccess(env, result.config, host, client);
  return { config: result.config, host, http: client, access };
}

export function openBackOff(env: AccountEnv, host: HostConfig): AccountBackOff {
  return new AccountBackOff({
    account: accountOf(host),
    hostName: hostNameOf(host),
    board: {
      hostPause: () => hostAccountOf(env, host).hostPause(),
      pauseHost: (pauseMs) => hostAccountOf(env, host).pauseHost(pauseMs),
    },
    clock: systemClock,
    later: waitUntil,
  });
}

export function openHostAccess(env: AccountEnv, config: LogConfig, host: HostConfig, http: Http): RestAccess {
  return {
    kind: host.kind,
    clock: systemClock,
    apiUrl: host.apiUrl,
    token: host.token ?? '',
    http,
    backOff: openBackOff(env, host),
    tokenWatch: openTokenWatch(env, config, host),
    callMeter: openCallMeter(env, host),
  };
}

export function openTokenWatch(env: AccountEnv, config: LogConfig, host: HostConfig): TokenWatch {
  return new TokenWatch({
    account: accountOf(host),
    token: host.token ?? '',
    clock: systemClock,
    kind: host.kind,
    tell: (problems) => {
      const logger = loggerOf(config);
      const place = { hostName: hostNameOf(host), variable: tokenVariable(host.key) };
      for (const outcome of problems) {
        logger.warn('something is wrong with the token of the bot account', { ...place, outcome });
      }
      const told = guardOf(env).tokenProblems(accountOf(host), place, problems);
      waitUntil(told.catch((error: unknown) => logger.error('nobody is told of the token', { error })));
    },
  });
}

/** What the operator is told of the account. */
export interface AccountNews {
  /** Told with every look. */
  hidden(isHidden: boolean): Promise<void>;
  renamed(before: string, login: string): Promise<void>;
}

export function accountNews(env: AccountEnv, host: HostConfig): AccountNews {
  const hostName = hostNameOf(host);
  const place = { hostName, variable: tokenVariable(host.key) };
  return {
    hidden: (isHidden) =>
      guardOf(env).tokenProblems(`${accountOf(host)}:profile`, place, isHidden ? ['hidden'] : []),
    async renamed(before, login) {
      await guardOf(env).tell({ kind: 'renamed', hostName, before, login });
    },
  };
}

function openCallMeter(env: AccountEnv, host: HostConfig): CallMeter {
  return callMeter(accountOf(host), systemClock, (calls) => {
    const told = hostAccountOf(env, host).callsSaid(calls);
    waitUntil(told.catch(() => {}));
  });
}
