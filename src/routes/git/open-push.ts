/**
 * Opens the push of one request: the code host, the other ports, and what operator and request
 * decide about it.
 * Proved by test/e2e/push/push.test.ts and test/e2e/people/service-name.test.ts.
 */
import type { Context } from 'hono';
import { fileUrl, recordName, repositoryPath } from '../../config/hosts.ts';
import { RELEASE_PATH } from '../../durable/delayed-pushes/release-due.ts';
import { botLogin, openBackOff, openHostAccess, openTokenWatch } from '../../durable/host-access.ts';
import type { AppEnv } from '../../env.ts';
import { GitTransport } from '../../host/git/git-transport.ts';
import { SmartHttp } from '../../host/git/smart-http.ts';
import { publicAt } from '../../host/rest/reads.ts';
import { openRepositories, type RepositoryHost } from '../../host/open.ts';
import { systemClock } from '../../isolate/clock.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { pullRequestTopic } from '../../notify/ntfy.ts';
import { MAINTAINERS_PATH } from '../../pages/layout.ts';
import { openPolicies } from '../../policy/policies.ts';
import { newPrHash, pullRequestPath } from '../../words/pr-hash.ts';
import type { PushHost, PushLimits, PushSettings } from '../../push/push-host.ts';
import { PushRun } from '../../push/push-run.ts';
import type { Reply } from '../../push/reply/reply.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { SealedKv } from '../../secret/sealed-kv.ts';
import { pullRequestFooter } from '../../text/footer.ts';
import { HistoryCache, HistoryLister } from '../../upstream/history-lister.ts';
import type { HistoryHost } from '../../upstream/upstream-refs.ts';
import { memoryFor } from '../request/client.ts';
import { publishedAddress, publishedOrigin, shownOrigin } from '../request/public-origin.ts';
import { ISSUE_FORM } from '../request/repository.ts';
import { gitClient } from './git-http.ts';
import { pushLimits } from './push-limits.ts';
import { pushStore } from './push-store.ts';

/**
 * Git's side alone.
 * @param repositories the bot's; null: no request needs its account.
 * @param timeoutMs of each.
 */
export function historyHost(
  c: Context<AppEnv>,
  memory = memoryFor(c),
  repositories: RepositoryHost | null = null,
  timeoutMs?: number,
): HistoryHost {
  const { config, host, http } = c.var;
  const { url, apiUrl, token } = host;
  const isBot = repositories !== null && token !== null;
  const account = isBot
    ? { token, backOff: openBackOff(c.env, host), tokenWatch: openTokenWatch(c.env, config, host) }
    : null;
  const visibility = isBot ? publicAt(repositories, apiUrl, systemClock) : null;
  const git = new SmartHttp(url, account, http, timeoutMs);
  const transport = new GitTransport(git, systemClock, memory, visibility);
  const kept = new SealedKv(c.env.HISTORY, () => serviceSecret(c.env, config.identitySecret));
  const cache = new HistoryCache(kept, (work) => c.executionCtx.waitUntil(work));
  return { memory, transport, lister: new HistoryLister(transport, cache, systemClock), clock: systemClock };
}

/** @param options as `historyHost` has them. */
export function pushHost(
  c: Context<AppEnv>,
  { timeoutMs, memory }: { readonly timeoutMs?: number; readonly memory?: MemoryHold } = {},
): PushHost {
  const { config, host, http, logger } = c.var;
  const repositories = openRepositories(openHostAccess(c.env, config, host, http));
  return {
    ...historyHost(c, memory, repositories, timeoutMs),
    hostKey: host.key,
    nameOf: (repository) => recordName(host, repository).toLowerCase(),
    repositories,
    connectAhead: (step) =>
      step === 'push' ? http.openAhead(host.url, { isForStream: true }) : http.openAhead(host.apiUrl),
    botLogin: (isQuiet) => botLogin(c.env, config, host, http, isQuiet),
    policy: (repository, looked) =>
      openPolicies(c.env, config, host, logger, http).of(repository, { looked, isUrgent: true }),
  };
}

const NAME_BYTES = 16;
const newDelayedName = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(NAME_BYTES))).toString('hex');

/** Each has that of the request's client, or of chance, as default. */
export interface PushOpening {
  readonly memory?: MemoryHold;
  readonly limits?: PushLimits;
  readonly newPrHash?: PushSettings['newPrHash'];
  readonly newDelayedName?: PushSettings['newDelayedName'];
}

export function openPush(
  c: Context<AppEnv>,
  target: RepositoryName,
  reply: Reply,
  { memory = memoryFor(c), limits = pushLimits(c), ...names }: PushOpening = {},
): PushRun {
  const { config, host, logger } = c.var;
  const origin = shownOrigin(c.req.raw, config);
  const published = publishedOrigin(c.req.raw, config);
  const remote = (repository: RepositoryName): string => `/v1/${repositoryPath(host, repository)}`;
  const settings: PushSettings = {
    // These alone: no secret of the configuration goes along with a push.
    anonEmail: config.anonEmail,
    identityCheck: config.identityCheck,
    maxRepositoryMb: config.maxRepositoryMb,
    prUpdatePolicy: config.prUpdatePolicy,
    publishDelayMs: config.publishDelayMs,
    pushDoubles: config.pushDoubles,
    pushSecrets: config.pushSecrets,
    review: config.review,
    whenBusy: config.whenBusy,
    writeTimeoutMs: config.writeTimeoutMs,
    client: gitClient(c),
    pullRequestFooter: pullRequestFooter(publishedAddress(c.req.raw, config), published + MAINTAINERS_PATH),
    hostUrl: host.url,
    remoteUrl: (repository) => origin + remote(repository),
    publishedUrl: (repository) => published + remote(repository),
    fileUrl: (repository, path) => fileUrl(host, repository, path),
    issueFormUrl: (repository) => origin + remote(repository) + ISSUE_FORM,
    topicUrl: (prHash) => `${config.notifyBaseUrl}/${pullRequestTopic(prHash)}`,
    pageUrl: (prHash) => `${origin}${pullRequestPath(prHash)}`,
    delayedUrl: (name) => `${origin}${RELEASE_PATH}/${name}`,
    newPrHash,
    newDelayedName,
    ...names,
  };
  const ports = { host: pushHost(c, { memory }), limits, store: pushStore(c, memory) };
  return new PushRun(ports, settings, target, reply, logger);
}
