/** Upstream's repository, looked up once for a discovery and the push that follows it. */
import type { Repository } from '../host/code-host.ts';
import { repositoryKey, type RepositoryName } from '../repository-name.ts';
import type { UpstreamHost } from './upstream-host.ts';
import { Recent } from '../isolate/recent.ts';

const LIFE_MS = 10_000;
const MAX_REPOSITORIES = 1_000;

const remembered = new Recent<Repository>({ lifeMs: LIFE_MS, most: MAX_REPOSITORIES });
/** Looked up ahead, or being looked up. Another request's promise could not be awaited. */
const begun = new Recent<true>({ lifeMs: LIFE_MS, most: MAX_REPOSITORIES });

/**
 * For the push that will probably follow a discovery. Call it only for a repository whose fork is known: the bot's
 * requests are limited, and discoveries of thousands of names must not use them up. Discoveries soon after one another
 * share one look-up. Never rejects.
 */
export async function lookUpAhead(host: UpstreamHost, target: RepositoryName): Promise<void> {
  const key = repositoryKey(host.transport.hostName, target);
  const now = host.clock.now();
  if (begun.get(key, now) !== null) return;
  begun.set(key, true, now);
  try {
    const repository = await host.repositories.repository(target);
    remembered.set(key, repository, host.clock.now());
  } catch {
    // The push looks it up itself, and reports errors.
  }
}

/** @throws HostError */
export async function lookedUpRepository(host: UpstreamHost, target: RepositoryName): Promise<Repository> {
  return (
    remembered.get(repositoryKey(host.transport.hostName, target), host.clock.now()) ??
    (await host.repositories.repository(target))
  );
}
