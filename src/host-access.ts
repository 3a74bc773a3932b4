/**
 * The bot account at the code host, as a request or an object reaches it: with the token, and with
 * its back-off.
 * Proved by test/durable/identity/back-off.test.ts and
 * test/durable/notification-feed/account-look.test.ts.
 */
import { hash } from 'node:crypto';
import { waitUntil } from 'cloudflare:workers';
import { GITHUB_URL, type HostConfig, hostNameOf, hostWithKey, tokenVariable } from './config/hosts.ts';
import type { Config } from './config/config.ts';
import { configOf, openHttp } from './config/configured.ts';
import type { Env } from './env.ts';
import { utf8 } from './git/bytes.ts';
import { AccountBackOff } from './host/account/account-back-off.ts';
import { AppWriters } from './host/app/app-writers.ts';
import { GitHubApp, type Installation } from './host/app/github-app.ts';
import { type CallMeter, callMeter } from './host/account/account-budget.ts';
import type { TokenProblem } from './host/account/token-problems.ts';
import { TokenWatch } from './host/account/token-watch.ts';
import { openRepositories } from './host/open.ts';
import type { RestAccess } from './host/rest/rest.ts';
import { HostError } from './words/host-error.ts';
import { systemClock } from './isolate/clock.ts';
import { Recent } from './isolate/recent.ts';
import { loggerOf } from './log.ts';
import { feedOf, guardOf, hostAccountNamed } from './objects.ts';
import type { Http, HttpClient } from './outgoing/http-client.ts';
import { serviceSecret } from './secret/open-secret.ts';
import { SealedKv } from './secret/sealed-kv.ts';
import type { RepositoryName } from './words/repository-name.ts';

type LogConfig = Pick<Config, 'logFormat'>;
type AccountEnv = Pick<Env, 'HOST_ACCOUNTS' | 'GUARD' | 'LOCATION_HINT' | 'NOTIFICATION_FEED'>;

/**
 * Names an account without telling its token. A new token has a new name, because it may be another
 * account's.
 */
export function accountOf(host: HostConfig): string {
  return accountNamed(host, host.token ?? '');
}

function accountNamed({ apiUrl }: HostConfig, name: string): string {
  return hash('sha256', `${apiUrl} ${name}`, 'hex').slice(0, 16);
}

export function hostAccountOf(env: AccountEnv, host: HostConfig): ReturnType<Env['HOST_ACCOUNTS']['get']> {
  return hostAccountNamed(env, accountOf(host));
}

/** One code host, and all that is needed to ask it as the bot: the scope of a request has this. */
export interface AccountScope {
  readonly env: AccountEnv;
  readonly config: LogConfig;
  readonly host: HostConfig;
  readonly http: Http;
}

/** The part of it with which the operator is told what is wrong with an account. */
type TellingScope = Pick<AccountScope, 'env' | 'config' | 'host'>;

/** A code host, and the clients that ask it. */
export interface Reached extends AccountScope {
  readonly env: Env;
  readonly config: Config;
  readonly http: HttpClient;
  readonly access: RestAccess;
}

/**
 * Opens a code host for an object.
 * @param http is the client of an earlier call, whose connections are used again, or null for a new
 * one.
 * @returns null if the configuration is invalid, or lacks the host.
 */
export function reachHost(env: Env, hostKey: string, http: HttpClient | null = null): Reached | null {
  const result = configOf(env);
  const host = result.kind === 'valid' ? hostWithKey(result.config, hostKey) : undefined;
  if (result.kind === 'invalid' || host === undefined) return null;
  const scope = { env, config: result.config, host, http: http ?? openHttp(result.config) };
  return { ...scope, access: openHostAccess(scope) };
}

export function openHostAccess(scope: AccountScope): RestAccess {
  const { env, host, http } = scope;
  const access: RestAccess = {
    kind: host.kind,
    clock: systemClock,
    apiUrl: host.apiUrl,
    token: host.token ?? '',
    http,
    ...limitsOf(env, host, accountOf(host)),
    tokenWatch: openTokenWatch(scope),
  };
  const writers = openWriters(scope, access);
  return writers === null ? access : { ...access, writers };
}

/** Opens the choice of who writes; null: the service has no App at this host. */
function openWriters(scope: TellingScope, access: RestAccess): AppWriters | null {
  const { env, config, host } = scope;
  const settings = host.app;
  if (settings === undefined) return null;
  const ofApp = limitsOf(env, host, accountNamed(host, `app ${settings.id}`));
  const tokenWatch = openAppWatch(scope);
  const app = new GitHubApp(settings, access, { ...ofApp, tokenWatch }, (repository, installation) =>
    feedOf(env, host.key).noteInstalled({ key: host.key, app: settings.id }, repository, installation),
  );
  const accountOfInstallation = ({ id }: Installation) => accountNamed(host, `app ${settings.id} ${id}`);
  return new AppWriters({
    app,
    accountOf: accountOfInstallation,
    limitsOf: (one) => ({ ...limitsOf(env, host, accountOfInstallation(one)), tokenWatch: UNWATCHED }),
    failed: (error) => loggerOf(config).warn('the GitHub App could not be used', { error }),
    lacking: () => tellLacking(scope),
    clock: access.clock,
  });
}

/** Opens what tells the operator that the host refuses the App's key, or does not any more. */
function openAppWatch(scope: TellingScope): TokenWatch {
  const { config, host } = scope;
  const name = `${accountOf(host)}:key`;
  return new TokenWatch({
    account: name,
    token: 'of the App',
    clock: systemClock,
    kind: host.kind,
    tell: (problems) => {
      const { hostName } = placeOf(host);
      if (problems.length > 0) loggerOf(config).warn('the code host refuses the App', { hostName });
      tellGuard(scope, name, problems.length > 0 ? ['app-refused'] : []);
    },
  });
}

/** Apps of whose missing permission this isolate has told today. */
const lackingApps = new Recent<true>({ lifeMs: 24 * 60 * 60 * 1000, most: 100 });

/** Tells the operator that the account writes in place of an App that lacks a permission. */
function tellLacking(scope: TellingScope): void {
  const { config, host } = scope;
  const name = `${accountOf(host)}:app`;
  if (lackingApps.get(name) !== null) return;
  lackingApps.set(name, true);
  const { hostName } = placeOf(host);
  loggerOf(config).warn('the App lacks a permission, so the bot account writes in its place', { hostName });
  tellGuard(scope, name, ['app-permission']);
}

/** A token that the service makes itself has no problems of which the operator must hear. */
const UNWATCHED = { observe: () => {} };

/**
 * Names the account that pays for what is written in a repository: an installation, or the bot's.
 * Never rejects: whoever may not write there is told when writing.
 */
export async function payerIn(scope: AccountScope, repository: RepositoryName): Promise<string> {
  const { writers } = openHostAccess(scope);
  const account = await writers?.payer(repository).catch(() => null);
  return account ?? accountOf(scope.host);
}

const limitsOf = (env: AccountEnv, host: HostConfig, account: string) => ({
  backOff: openBackOff(env, host, account),
  callMeter: openCallMeter(env, host, account),
});

/** @param account the bot's, or an installation's. */
export function openBackOff(env: AccountEnv, host: HostConfig, account = accountOf(host)): AccountBackOff {
  return new AccountBackOff({
    account,
    hostName: hostNameOf(host),
    board: {
      hostPause: () => hostAccountNamed(env, account).hostPause(),
      pauseHost: (pauseMs) => hostAccountNamed(env, account).pauseHost(pauseMs),
    },
    clock: systemClock,
    later: waitUntil,
  });
}

export function openTokenWatch(scope: TellingScope): TokenWatch {
  const { config, host } = scope;
  return new TokenWatch({
    account: accountOf(host),
    token: host.token ?? '',
    clock: systemClock,
    kind: host.kind,
    tell: (problems) => {
      const logger = loggerOf(config);
      for (const outcome of problems) {
        logger.warn('something is wrong with the token of the bot account', { ...placeOf(host), outcome });
      }
      tellGuard(scope, accountOf(host), problems);
    },
  });
}

/** Reports problems to the guard, which tells the operator. @param name as the guard takes it. */
function tellGuard(
  { env, config, host }: TellingScope,
  name: string,
  problems: readonly TokenProblem[],
): void {
  const telling = guardOf(env).tokenProblems(name, placeOf(host), problems);
  const message = 'the operator is not told what is wrong with the account';
  waitUntil(telling.catch((error: unknown) => loggerOf(config).error(message, { error })));
}

function openCallMeter(env: AccountEnv, host: HostConfig, account: string): CallMeter {
  return callMeter(account, systemClock, host.url === GITHUB_URL, (calls, points) => {
    const telling = hostAccountNamed(env, account).callsSaid(calls, points);
    // If the account cannot be told, its budget misses these calls.
    waitUntil(telling.catch(() => {}));
  });
}

export type AccountNews = ReturnType<typeof accountNews>;

/** Tells the operator of the account: whether it is hidden, if that is known, and a new name. */
export function accountNews(env: AccountEnv, host: HostConfig) {
  const place = placeOf(host);
  return {
    async hidden(isHidden: boolean): Promise<void> {
      await guardOf(env).tokenProblems(`${accountOf(host)}:profile`, place, isHidden ? ['hidden'] : []);
    },
    async renamed(before: string, login: string): Promise<void> {
      await guardOf(env).tell({ kind: 'renamed', hostName: place.hostName, before, login });
    },
  };
}

const placeOf = (host: HostConfig) => ({ hostName: hostNameOf(host), variable: tokenVariable(host.key) });

/** Names of accounts. They seldom change, so each isolate asks for one once an hour. */
const logins = new Recent<string>({ lifeMs: 60 * 60 * 1000, most: 100 });
/**
 * The time for which a name is kept for delayed pushes, which must not be the reason for a request
 * to the host.
 */
const KEPT_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

export interface LoginScope extends AccountScope {
  readonly env: AccountEnv & Pick<Env, 'HISTORY' | 'SERVICE_SECRET'>;
  readonly config: LogConfig & Pick<Config, 'identitySecret'>;
}

/**
 * The bot account's name, which is the author of everything.
 * @param isQuiet asks the host once a month at most.
 * @throws HostError
 */
export async function botLogin(scope: LoginScope, isQuiet = false): Promise<string> {
  const { env, config, host } = scope;
  if (host.token === null) {
    const variable = tokenVariable(host.key);
    const words = `This service has no bot account yet: its operator must set ${variable}.`;
    throw new HostError('refused', words);
  }
  const key = `${host.apiUrl} ${host.token}`;
  const known = logins.get(key);
  if (known !== null) return known;
  const kept = new SealedKv(env.HISTORY, () => serviceSecret(env, config.identitySecret));
  // What cannot be read or kept is asked for again.
  const before = isQuiet ? await kept.get(`login ${key}`).catch(() => null) : null;
  // A month old: no name for the pushes that follow.
  if (before !== null) return Buffer.from(before).toString();
  const { login } = await openRepositories(openHostAccess(scope)).account();
  waitUntil(kept.put(`login ${key}`, utf8(login), KEPT_LIFE_MS).catch(() => {}));
  logins.set(key, login);
  return login;
}
