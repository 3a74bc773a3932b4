/** The bot account at the code host, as a request or an object reaches it: with the token, and with its back-off. */
import { createHash } from 'node:crypto';
import { waitUntil } from 'cloudflare:workers';
import { systemClock } from '../clock.ts';
import { type HostConfig, hostNameOf } from '../config/hosts.ts';
import type { Config } from '../config.ts';
import type { Env } from '../env.ts';
import { AccountBackOff } from '../host/account/account-back-off.ts';
import type { HostAccess } from '../host/open.ts';
import { TokenWatch } from '../host/account/token-watch.ts';
import { createLogger } from '../log.ts';
import type { Http } from '../outgoing/http-client.ts';

type LogConfig = Pick<Config, 'logFormat'>;

const writeLine = (line: string): void => console.log(line);

/** Names an account without telling its token. Another token may be another account's, and begins anew. */
export function accountOf({ apiUrl, token }: HostConfig): string {
  return createHash('sha256')
    .update(`${apiUrl} ${token ?? ''}`)
    .digest('hex')
    .slice(0, 16);
}

export function openBackOff({ GUARD }: Pick<Env, 'GUARD'>, host: HostConfig): AccountBackOff {
  const guard = () => GUARD.get(GUARD.idFromName('guard'));
  return new AccountBackOff({
    account: accountOf(host),
    hostName: hostNameOf(host),
    board: {
      hostPause: (account) => guard().hostPause(account),
      pauseHost: (account, pauseMs) => guard().pauseHost(account, pauseMs),
    },
    clock: systemClock,
    later: waitUntil,
  });
}

export function openHostAccess(
  env: Pick<Env, 'GUARD'>,
  config: LogConfig,
  host: HostConfig,
  http: Http,
): HostAccess {
  const { kind, apiUrl } = host;
  const token = host.token ?? '';
  return {
    kind,
    clock: systemClock,
    apiUrl,
    token,
    http,
    backOff: openBackOff(env, host),
    tokenWatch: openTokenWatch(env, config, host),
  };
}

function openTokenWatch({ GUARD }: Pick<Env, 'GUARD'>, config: LogConfig, host: HostConfig): TokenWatch {
  const account = accountOf(host);
  return new TokenWatch({
    account,
    token: host.token ?? '',
    clock: systemClock,
    tell: (problems) => {
      const logger = createLogger(config.logFormat, writeLine);
      for (const problem of problems) {
        logger.warn('something is wrong with the token of the bot account', { outcome: problem });
      }
      const told = GUARD.get(GUARD.idFromName('guard')).tokenProblems(account, problems);
      waitUntil(
        told.catch((error: unknown) =>
          logger.error('the operator could not be told of the token', { error }),
        ),
      );
    },
  });
}
