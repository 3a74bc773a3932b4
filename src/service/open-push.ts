/**
 * Opens the push of one request: the code host, the other ports, and what operator and request
 * decide about it.
 * Proved by test/e2e/push/push.test.ts and test/e2e/people/service-name.test.ts.
 */
import { fileUrl, recordName } from '../config/hosts.ts';
import { RELEASE_PATH } from '../durable/delayed-pushes/release-due.ts';
import { botLogin, openBackOff, openHostAccess, openTokenWatch } from '../host-access.ts';
import { GitTransport } from '../host/git/git-transport.ts';
import { SmartHttp } from '../host/git/smart-http.ts';
import { publicAt } from '../host/rest/reads.ts';
import { openRepositories, type RepositoryHost } from '../host/open.ts';
import { systemClock } from '../isolate/clock.ts';
import type { MemoryHold } from '../isolate/memory-budget.ts';
import { pullRequestTopic } from '../notify/ntfy.ts';
import { feedOf, readFrom } from '../objects.ts';
import { openPolicies } from '../policy/policies.ts';
import { newPrHash, pullRequestPath } from '../words/pr-hash.ts';
import { ASKED_BEFORE, type Consent } from '../push/consent.ts';
import type { PushHost, PushLimits, PushSettings } from '../push/push-host.ts';
import { PushRun } from '../push/push-run.ts';
import type { Reply } from '../push/reply/reply.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import { serviceSecret } from '../secret/open-secret.ts';
import { SealedKv } from '../secret/sealed-kv.ts';
import { MAINTAINERS_PATH, pullRequestFooter } from '../text/footer.ts';
import { HistoryCache } from '../upstream/history-cache.ts';
import { HistoryLister } from '../upstream/history-lister.ts';
import type { HistoryHost } from '../upstream/upstream-refs.ts';
import { type HostScope, memoryFor } from './scope.ts';
import { ISSUE_FORM, remotePath } from '../pages/remote-paths.ts';
import { ClientPushLimits } from './push-limits.ts';
import { ServicePushStore } from './push-store.ts';

/**
 * Opens Git's side of the code host alone.
 * @param repositories the bot's; null: no request needs its account.
 * @param timeoutMs of each request.
 */
export function historyHost(
  scope: HostScope,
  memory = memoryFor(scope),
  repositories: RepositoryHost | null = null,
  timeoutMs?: number,
): HistoryHost {
  const { env, config, host, http, later } = scope;
  const { url, apiUrl, token } = host;
  const isBot = repositories !== null && token !== null;
  const account = isBot
    ? { token, backOff: openBackOff(env, host), tokenWatch: openTokenWatch(scope) }
    : null;
  const visibility = isBot ? publicAt(repositories, apiUrl, systemClock) : null;
  const git = new SmartHttp(url, account, http, timeoutMs);
  const transport = new GitTransport(git, systemClock, memory, visibility);
  const kept = new SealedKv(env.HISTORY, () => serviceSecret(env, config.identitySecret));
  const cache = new HistoryCache(kept, later);
  return { memory, transport, lister: new HistoryLister(transport, cache, systemClock), clock: systemClock };
}

/** Opens the code host for a push, in the bot's name. Memory and timeout: as `historyHost`. */
export function pushHost(
  scope: HostScope,
  { timeoutMs, memory }: { readonly timeoutMs?: number; readonly memory?: MemoryHold } = {},
): PushHost {
  const { env, host, http } = scope;
  const repositories = openRepositories(openHostAccess(scope));
  return {
    ...historyHost(scope, memory, repositories, timeoutMs),
    hostKey: host.key,
    nameOf: (repository) => recordName(host, repository).toLowerCase(),
    repositories,
    connectAhead: (step) =>
      step === 'push' ? http.openAhead(host.url, { isForStream: true }) : http.openAhead(host.apiUrl),
    botLogin: (isQuiet) => botLogin(scope, isQuiet),
    policy: (repository, looked) => openPolicies(scope).of(repository, { looked, isUrgent: true }),
    said: (repository) => readFrom(() => feedOf(env, host.key).said(repository, null)),
  };
}

const NAME_BYTES = 16;
const newDelayedName = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(NAME_BYTES))).toString('hex');

/** Replaces what the request's client, or chance, would decide. */
export interface PushOpening {
  readonly memory?: MemoryHold;
  readonly limits?: PushLimits;
  /** Default: nobody is asked. */
  readonly consent?: Consent;
  /** Default: `git`. */
  readonly door?: PushSettings['door'];
  readonly newPrHash?: PushSettings['newPrHash'];
  readonly newDelayedName?: PushSettings['newDelayedName'];
}

export function openPush(
  scope: HostScope,
  target: RepositoryName,
  reply: Reply,
  {
    memory = memoryFor(scope),
    limits = new ClientPushLimits(scope),
    consent = ASKED_BEFORE,
    ...names
  }: PushOpening = {},
): PushRun {
  const { config, host, logger, gitClient, isForeign, addresses } = scope;
  const { shown, published } = addresses;
  const remote = (repository: RepositoryName): string => remotePath(host, repository);
  const settings: PushSettings = {
    // These alone: no other secret of the configuration goes along with a push.
    anonEmail: config.anonEmail,
    identityCheck: config.identityCheck,
    maxRepositoryMb: config.maxRepositoryMb,
    prUpdatePolicy: config.prUpdatePolicy,
    publishDelayMs: config.publishDelayMs,
    pushDoubles: config.pushDoubles,
    pushSecrets: config.pushSecrets,
    review: config.review,
    signingKey: config.signingKey,
    whenBusy: config.whenBusy,
    writeTimeoutMs: config.writeTimeoutMs,
    client: gitClient,
    isForeign,
    door: 'git',
    pullRequestFooter: pullRequestFooter(addresses.frontPage, published + MAINTAINERS_PATH),
    hostUrl: host.url,
    remoteUrl: (repository) => shown + remote(repository),
    publishedUrl: (repository) => published + remote(repository),
    fileUrl: (repository, path) => fileUrl(host, repository, path),
    issueFormUrl: (repository) => shown + remote(repository) + ISSUE_FORM,
    topicUrl: (prHash) => `${config.notifyBaseUrl}/${pullRequestTopic(prHash)}`,
    pageUrl: (prHash) => `${shown}${pullRequestPath(prHash)}`,
    delayedUrl: (name) => `${shown}${RELEASE_PATH}/${name}`,
    newPrHash,
    newDelayedName,
    ...names,
  };
  const ports = { host: pushHost(scope, { memory }), limits, store: new ServicePushStore(scope, memory) };
  return new PushRun(ports, settings, target, reply, consent, logger);
}
