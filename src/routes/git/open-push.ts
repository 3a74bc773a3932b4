/** Opens the push of one request: its ports, and what the operator and the request decide about it. */
import type { Context } from 'hono';
import { fileUrl, repositoryPath } from '../../config/hosts.ts';
import { RELEASE_PATH } from '../../durable/delayed-pushes/release-due.ts';
import type { AppEnv } from '../../env.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { pullRequestTopic } from '../../notify/ntfy.ts';
import { MAINTAINERS_PATH } from '../../pages/layout.ts';
import { newPrHash, pullRequestPath } from '../../pr-hash.ts';
import type { PushLimits, PushSettings } from '../../push/push-host.ts';
import { PushRun } from '../../push/push-run.ts';
import type { Reply } from '../../push/reply/reply.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { pullRequestFooter } from '../../text/footer.ts';
import { memoryFor } from '../request/client.ts';
import { publishedAddress, publishedOrigin, shownOrigin } from '../request/public-origin.ts';
import { ISSUE_FORM } from '../request/repository.ts';
import { gitClient } from './git-http.ts';
import { pushHost } from './push-host.ts';
import { pushLimits } from './push-limits.ts';
import { pushStore } from './push-store.ts';

/** Each has that of the request's client, or of chance, as default. */
export interface PushOpening {
  readonly memory?: MemoryHold;
  readonly limits?: PushLimits;
  readonly newPrHash?: PushSettings['newPrHash'];
}

export function openPush(
  c: Context<AppEnv>,
  target: RepositoryName,
  reply: Reply,
  { memory = memoryFor(c), limits = pushLimits(c), newPrHash: hashOf = newPrHash }: PushOpening = {},
): PushRun {
  const ports = { host: pushHost(c, { memory }), limits, store: pushStore(c, memory) };
  const settings = { ...pushSettings(c), newPrHash: hashOf };
  return new PushRun(ports, settings, target, { reply, logger: c.var.logger });
}

function pushSettings(c: Context<AppEnv>): Omit<PushSettings, 'newPrHash'> {
  const { config, host } = c.var;
  const origin = shownOrigin(c.req.raw, config);
  const published = publishedOrigin(c.req.raw, config);
  const remote = (repository: RepositoryName): string => `/v1/${repositoryPath(host, repository)}`;
  return {
    anonEmail: config.anonEmail,
    maxRepositoryMb: config.maxRepositoryMb,
    writeTimeoutMs: config.writeTimeoutMs,
    prUpdatePolicy: config.prUpdatePolicy,
    pushDoubles: config.pushDoubles,
    publishDelayMs: config.publishDelayMs,
    whenBusy: config.whenBusy,
    review: config.review,
    identityCheck: config.identityCheck,
    pushSecrets: config.pushSecrets,
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
  };
}
