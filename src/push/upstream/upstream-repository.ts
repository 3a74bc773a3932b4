/** Upstream's repository, looked up once for a discovery and the push that follows it. */
import type { Repository } from '../../host/code-host.ts';
import { repositoryKey, type RepositoryName } from '../../host/repository-name.ts';
import { isForkKnown } from '../fork/fork.ts';
import type { PushHost } from '../push-host.ts';
import { Recent } from './recent.ts';

const LIFE_MS = 10_000;
const MAX_REPOSITORIES = 1_000;

const remembered = new Recent<Repository>(LIFE_MS, MAX_REPOSITORIES);

/**
 * For the push that will probably follow a discovery. Only if this isolate already knows the bot's fork: the bot's
 * requests are limited, and discoveries of thousands of names must not use them up. Never rejects.
 */
export async function lookUpAhead(host: PushHost, target: RepositoryName): Promise<void> {
  if (!isForkKnown(host, target)) return;
  try {
    remembered.set(
      repositoryKey(host.transport.hostName, target),
      await host.repositories.repository(target),
      host.clock,
    );
  } catch {
    // The push looks it up itself, and reports errors.
  }
}

/** @throws HostError */
export async function lookedUpRepository(host: PushHost, target: RepositoryName): Promise<Repository> {
  return (
    remembered.get(repositoryKey(host.transport.hostName, target), host.clock) ??
    (await host.repositories.repository(target))
  );
}
