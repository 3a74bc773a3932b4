/**
 * Discards the pushes that wait for a repository whose maintainers have said stop. Which repository
 * a push is for stands only in its encrypted part, so each that waits at that host is opened. One
 * that cannot be opened now, or is for an old name of the repository, is refused when it is due.
 * Proved by test/e2e/host/maintainer-words.test.ts.
 */
import type { DelayedPush } from '../durable/delayed-pushes/delayed-push.ts';
import type { HeardStop } from '../durable/notification-feed/notification-feed.ts';
import { delayedPushesOf } from '../objects.ts';
import { stopSentence } from '../policy/policy.ts';
import { repositoryKey, type RepositoryName } from '../words/repository-name.ts';
import { inMemory, removeDelayed } from './publish-delayed.ts';
import type { Scope } from './scope.ts';
import { openStored } from './stored-push.ts';

const PAGE_SIZE = 100;

/** @param hostKey the key of the code host that has the repositories. */
export async function discardStopped(
  scope: Scope,
  hostKey: string,
  stopped: readonly HeardStop[],
): Promise<void> {
  if (stopped.length === 0) return;
  const times = new Map(stopped.map((one) => [repositoryKey('', one), one.at]));
  const waiting = await allWaiting(scope);
  for (const push of waiting.filter(({ host }) => host === hostKey)) {
    await discardIfStopped(scope, push, times).catch((error: unknown) => {
      scope.logger.warn('a delayed push could not be discarded', { error });
    });
  }
}

async function discardIfStopped(
  scope: Scope,
  push: DelayedPush,
  times: ReadonlyMap<string, number>,
): Promise<void> {
  const target = await targetOf(scope, push);
  const at = target && times.get(repositoryKey('', target));
  if (target === null || at === undefined || at === null) return;
  const said = stopSentence(target, at).split('\n');
  const seen = { name: push.name, attempt: push.spool.attempt };
  const end = await delayedPushesOf(scope.env).refuse(seen, said);
  if (typeof end !== 'string') await removeDelayed(scope, end, { state: 'discarded', said });
}

/** Lists all pushes that wait, before any of them ends. */
async function allWaiting({ env }: Scope): Promise<readonly DelayedPush[]> {
  const all: DelayedPush[] = [];
  for (;;) {
    const { pushes } = await delayedPushesOf(env).list(all.length, PAGE_SIZE);
    all.push(...pushes);
    if (pushes.length < PAGE_SIZE) return all;
  }
}

/** Reads the repository that a push is for; null if its key is not there. */
async function targetOf({ env }: Scope, push: DelayedPush): Promise<RepositoryName | null> {
  return inMemory(async (memory) => (await openStored(env, push, memory))?.kept.target ?? null);
}
