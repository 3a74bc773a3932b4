/** Connects the parts for the code host of one request: Octokit, Git transport, history cache and the real clock. */
import type { Context } from 'hono';
import { systemClock } from '../../clock.ts';
import { openBackOff, openRestAccess, openTokenWatch } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { GitHub } from '../../host/github/github.ts';
import { GitTransport } from '../../host/git/git-transport.ts';
import { HostError } from '../../host/host-error.ts';
import { SmartHttp } from '../../host/git/smart-http.ts';
import { isKnownPublic } from '../../host/git/visibility.ts';
import { serviceSecret } from '../../identity/service-secret.ts';
import { openPolicies } from '../../policy/policies.ts';
import { HistoryCache } from '../../push/upstream/history-cache.ts';
import { HistoryLister } from '../../push/upstream/history-lister.ts';
import type { HistoryHost, PushHost } from '../../push/push-host.ts';
import { pushAdmission } from './push-admission.ts';

/** The account behind a token does not change, so each isolate asks for it once. */
const botLogins = new Map<string, string>();

/** Only the Git side: refs and history of public repositories. */
export function historyHost(c: Context<AppEnv>): HistoryHost {
  return historyHostOf(
    c,
    new GitTransport(new SmartHttp(c.var.config.hostingUrl, null, c.var.http), systemClock, null),
  );
}

function historyHostOf(c: Context<AppEnv>, transport: GitTransport): HistoryHost {
  const cache = new HistoryCache(c.env.HISTORY, (work) => c.executionCtx.waitUntil(work));
  return { transport, lister: new HistoryLister(transport, cache, systemClock), clock: systemClock };
}

function pushTransport(c: Context<AppEnv>, github: GitHub): GitTransport {
  const { hostingUrl, hostingApiUrl, hostingToken } = c.var.config;
  if (hostingToken === null) {
    return new GitTransport(new SmartHttp(hostingUrl, null, c.var.http), systemClock, null);
  }
  const account = {
    token: hostingToken,
    backOff: openBackOff(c.env, c.var.config),
    tokenWatch: openTokenWatch(c.env, c.var.config),
  };
  const http = new SmartHttp(hostingUrl, account, c.var.http);
  return new GitTransport(http, systemClock, {
    isKnownPublic: (repository) => isKnownPublic(hostingApiUrl, repository, systemClock.now()),
    isPublic: async (repository) => !(await github.repository(repository)).isPrivate,
  });
}

export function pushHost(c: Context<AppEnv>): PushHost {
  const { http } = c.var;
  const { hostingUrl, hostingApiUrl, hostingToken, identitySecret } = c.var.config;
  const github = new GitHub({ ...openRestAccess(c.env, c.var.config, http), clock: systemClock });
  return {
    ...historyHostOf(c, pushTransport(c, github)),
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
