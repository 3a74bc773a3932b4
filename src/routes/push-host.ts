/** Connects the parts for the code host of one request: Octokit, Git transport, history cache and the real clock. */
import type { Context } from 'hono';
import { systemClock } from '../clock.ts';
import type { AppEnv } from '../env.ts';
import { GitHub } from '../host/github.ts';
import { GitTransport } from '../host/git-transport.ts';
import { HostError } from '../host/host-error.ts';
import { SmartHttp } from '../host/smart-http.ts';
import { serviceSecret } from '../identity/service-secret.ts';
import { openPolicies } from '../policy/policies.ts';
import { HistoryCache } from '../push/history-cache.ts';
import { HistoryLister } from '../push/history-lister.ts';
import type { HistoryHost, PushHost } from '../push/push-host.ts';
import { pushAdmission } from './push-admission.ts';

/** The account behind a token does not change, so each isolate asks for it once. */
const botLogins = new Map<string, string>();

/** Only the Git side: refs and history of public repositories. */
export function historyHost(c: Context<AppEnv>): HistoryHost {
  const clock = systemClock;
  const { hostingUrl, hostingToken } = c.var.config;
  const transport = new GitTransport(new SmartHttp(hostingUrl, hostingToken, c.var.http), clock);
  const cache = new HistoryCache(c.env.HISTORY, (work) => c.executionCtx.waitUntil(work));
  return { transport, lister: new HistoryLister(transport, cache, clock), clock };
}

export function pushHost(c: Context<AppEnv>): PushHost {
  const { http } = c.var;
  const { hostingUrl, hostingApiUrl, hostingToken, identitySecret } = c.var.config;
  const host = historyHost(c);
  const { clock } = host;
  const github = new GitHub({ apiUrl: hostingApiUrl, token: hostingToken ?? '', http, clock });
  return {
    ...host,
    github,
    admission: pushAdmission(c),
    connectAhead: (step) =>
      step === 'push' ? http.openAhead(hostingUrl, { isForStream: true }) : http.openAhead(hostingApiUrl),
    async botLogin() {
      if (hostingToken === null) {
        throw new HostError(
          'refused',
          'This service has no bot account yet: its operator must set HOSTING_TOKEN.',
        );
      }
      const key = `${hostingApiUrl} ${hostingToken}`;
      const login = botLogins.get(key) ?? (await github.botLogin());
      botLogins.set(key, login);
      return login;
    },
    policy: (repository) => openPolicies(c.env, c.var.config, c.var.logger, http).of(repository),
    secret: () => serviceSecret(c.env, identitySecret),
    pendingPush: (hash) => c.env.PENDING_PUSHES.get(c.env.PENDING_PUSHES.idFromName(hash)),
    pullRequest: (prHash) => c.env.PULL_REQUESTS.get(c.env.PULL_REQUESTS.idFromName(prHash)),
  };
}
