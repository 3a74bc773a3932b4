/** The bot account at the code host, as a request or an object reaches it: with the token, and with its back-off. */
import { createHash } from 'node:crypto';
import { waitUntil } from 'cloudflare:workers';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Env } from '../env.ts';
import { AccountBackOff } from '../host/account/account-back-off.ts';
import type { HostAccess } from '../host/open.ts';
import { TokenWatch } from '../host/account/token-watch.ts';
import { createLogger } from '../log.ts';
import type { Http } from '../outgoing/http-client.ts';

type HostConfig = Pick<Config, 'hostingUrl' | 'hostingApiUrl' | 'hostingToken' | 'logFormat'>;

const writeLine = (line: string): void => console.log(line);

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

export function openHostAccess(env: Pick<Env, 'GUARD'>, config: HostConfig, http: Http): HostAccess {
  const { hostingApiUrl, hostingToken } = config;
  const token = hostingToken ?? '';
  return {
    kind: 'github',
    clock: systemClock,
    apiUrl: hostingApiUrl,
    token,
    http,
    backOff: openBackOff(env, config),
    tokenWatch: openTokenWatch(env, config, token),
  };
}

function openTokenWatch({ GUARD }: Pick<Env, 'GUARD'>, config: HostConfig, token: string): TokenWatch {
  const account = accountOf(config);
  return new TokenWatch({
    account,
    token,
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
