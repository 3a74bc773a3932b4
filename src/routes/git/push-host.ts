/** Connects the parts for the code host of one request: REST, Git transport, history cache and the real clock. */
import type { Context } from 'hono';
import { systemClock } from '../../isolate/clock.ts';
import { botLogin } from '../../durable/bot-login.ts';
import { openBackOff, openHostAccess, openTokenWatch } from '../../durable/host-access.ts';
import { recordName } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { openRepositories, type RepositoryHost } from '../../host/open.ts';
import { GitTransport } from '../../host/git/git-transport.ts';
import { HOST_TIMEOUT_MS, SmartHttp } from '../../host/git/smart-http.ts';
import { publicAt } from '../../host/git/visibility.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { SealedKv } from '../../secret/sealed-kv.ts';
import { openPolicies } from '../../policy/policies.ts';
import { HistoryCache, HistoryLister } from '../../upstream/history-lister.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import type { PushHost } from '../../push/push-host.ts';
import type { HistoryHost } from '../../upstream/upstream-refs.ts';
import { memoryFor } from '../request/client.ts';

/** Only the Git side: refs and history of public repositories. */
export function historyHost(c: Context<AppEnv>): HistoryHost {
  const memory = memoryFor(c);
  const http = new SmartHttp(c.var.host.url, null, c.var.http);
  return historyHostOf(c, memory, new GitTransport(http, systemClock, memory, null));
}

function historyHostOf(c: Context<AppEnv>, memory: MemoryHold, transport: GitTransport): HistoryHost {
  const secret = () => serviceSecret(c.env, c.var.config.identitySecret);
  const store = new SealedKv(c.env.HISTORY, secret);
  const cache = new HistoryCache(store, (work) => c.executionCtx.waitUntil(work));
  return { memory, transport, lister: new HistoryLister(transport, cache, systemClock), clock: systemClock };
}

function pushTransport(
  c: Context<AppEnv>,
  memory: MemoryHold,
  repositories: RepositoryHost,
  timeoutMs: number,
): GitTransport {
  const { url, apiUrl, token } = c.var.host;
  if (token === null) {
    return new GitTransport(new SmartHttp(url, null, c.var.http, timeoutMs), systemClock, memory, null);
  }
  const account = {
    token,
    backOff: openBackOff(c.env, c.var.host),
    tokenWatch: openTokenWatch(c.env, c.var.config, c.var.host),
  };
  const http = new SmartHttp(url, account, c.var.http, timeoutMs);
  return new GitTransport(http, systemClock, memory, publicAt(repositories, apiUrl, systemClock));
}

export interface PushHostOptions {
  /** How long Git's requests to the host may wait for an answer. */
  readonly timeoutMs?: number;
  /** Default: that of the request's client. */
  readonly memory?: MemoryHold;
}

export function pushHost(c: Context<AppEnv>, options: PushHostOptions = {}): PushHost {
  const { config, host, http } = c.var;
  const { timeoutMs = HOST_TIMEOUT_MS, memory = memoryFor(c) } = options;
  const repositories = openRepositories(openHostAccess(c.env, config, host, http));
  return {
    hostKey: host.key,
    nameOf: (repository) => recordName(host, repository).toLowerCase(),
    ...historyHostOf(c, memory, pushTransport(c, memory, repositories, timeoutMs)),
    repositories,
    connectAhead: (step) =>
      step === 'push' ? http.openAhead(host.url, { isForStream: true }) : http.openAhead(host.apiUrl),
    botLogin: (isQuiet) => botLogin(c.env, config, host, http, isQuiet),
    policy: (repository, looked) =>
      openPolicies(c.env, config, host, c.var.logger, http).of(repository, { looked, isUrgent: true }),
  };
}
