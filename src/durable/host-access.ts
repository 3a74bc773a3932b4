/** The bot account at the code host, as a request or an object reaches it: with the token, and with its back-off. */
import { createHash } from 'node:crypto';
import { waitUntil } from 'cloudflare:workers';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Env } from '../env.ts';
import { AccountBackOff } from '../host/account-back-off.ts';
import type { RestAccess } from '../host/octokit.ts';
import type { Http } from '../outgoing/http-client.ts';

type HostConfig = Pick<Config, 'hostingUrl' | 'hostingApiUrl' | 'hostingToken'>;

/** Names an account without telling its token. Another token may be another account's, and begins anew. */
export function accountOf({ hostingApiUrl, hostingToken }: HostConfig): string {
  return createHash('sha256')
    .update(`${hostingApiUrl} ${hostingToken ?? ''}`)
    .digest('hex')
    .slice(0, 16);
}

export function openBackOff({ GUARD }: Pick<Env, 'GUARD'>, config: HostConfig): AccountBackOff {
  const guard = () => GUARD.get(GUARD.idFromName('guard'));
  return new AccountBackOff({
    account: accountOf(config),
    hostName: new URL(config.hostingUrl).host,
    board: {
      hostPause: (account) => guard().hostPause(account),
      pauseHost: (account, pauseMs) => guard().pauseHost(account, pauseMs),
    },
    clock: systemClock,
    later: waitUntil,
  });
}

export function openRestAccess(env: Pick<Env, 'GUARD'>, config: HostConfig, http: Http): RestAccess {
  const { hostingApiUrl, hostingToken } = config;
  return { apiUrl: hostingApiUrl, token: hostingToken ?? '', http, backOff: openBackOff(env, config) };
}
