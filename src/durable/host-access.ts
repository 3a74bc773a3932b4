/** The bot account at the code host, as a request or an object reaches it: with the token, and with its back-off. */
import { createHash } from 'node:crypto';
import { waitUntil } from 'cloudflare:workers';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Env } from '../env.ts';
import { AccountBackOff } from '../host/account/account-back-off.ts';
import { CallMeter } from '../host/account/call-meter.ts';
import type { RestAccess } from '../host/rest/octokit.ts';
import { TokenWatch } from '../host/account/token-watch.ts';
import { createLogger } from '../log.ts';
import type { Http } from '../outgoing/http-client.ts';
import type { HostAccount } from './host-account.ts';

type HostConfig = Pick<Config, 'hostingUrl' | 'hostingApiUrl' | 'hostingToken' | 'logFormat'>;

const writeLine = (line: string): void => console.log(line);

/** Names an account without telling its token. Another token may be another account's, and begins anew. */
export function accountOf({ hostingApiUrl, hostingToken }: HostConfig): string {
  return createHash('sha256')
    .update(`${hostingApiUrl} ${hostingToken ?? ''}`)
    .digest('hex')
    .slice(0, 16);
}

export function hostAccountOf(
  { HOST_ACCOUNTS }: Pick<Env, 'HOST_ACCOUNTS'>,
  config: HostConfig,
): DurableObjectStub<HostAccount> {
  return HOST_ACCOUNTS.get(HOST_ACCOUNTS.idFromName(accountOf(config)));
}

export function openBackOff(env: Pick<Env, 'HOST_ACCOUNTS'>, config: HostConfig): AccountBackOff {
  return new AccountBackOff({
    account: accountOf(config),
    hostName: new URL(config.hostingUrl).host,
    board: {
      hostPause: () => hostAccountOf(env, config).hostPause(),
      pauseHost: (pauseMs) => hostAccountOf(env, config).pauseHost(pauseMs),
    },
    clock: systemClock,
    later: waitUntil,
  });
}

export function openRestAccess(env: Pick<Env, 'HOST_ACCOUNTS'>, config: HostConfig, http: Http): RestAccess {
  const { hostingApiUrl, hostingToken } = config;
  const token = hostingToken ?? '';
  return {
    apiUrl: hostingApiUrl,
    token,
    http,
    backOff: openBackOff(env, config),
    tokenWatch: openTokenWatch(env, config),
    callMeter: new CallMeter({
      account: accountOf(config),
      clock: systemClock,
      tell: (calls) =>
        waitUntil(
          hostAccountOf(env, config)
            .callsSaid(calls)
            .catch(() => {}),
        ),
    }),
  };
}

export function openTokenWatch(env: Pick<Env, 'HOST_ACCOUNTS'>, config: HostConfig): TokenWatch {
  return new TokenWatch({
    account: accountOf(config),
    token: config.hostingToken ?? '',
    clock: systemClock,
    tell: (problems) => {
      const logger = createLogger(config.logFormat, writeLine);
      for (const problem of problems) {
        logger.warn('something is wrong with the token of the bot account', { outcome: problem });
      }
      const told = hostAccountOf(env, config).foundProblems(problems);
      waitUntil(
        told.catch((error: unknown) =>
          logger.error('the operator could not be told of the token', { error }),
        ),
      );
    },
  });
}
