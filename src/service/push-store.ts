/**
 * Connects a push with what the service keeps: its objects, D1 and KV.
 * Proved by test/e2e/push/own-record.test.ts and test/e2e/push/doubles.test.ts.
 */
import { recordName } from '../config/hosts.ts';
import { shred } from '../durable/delayed-pushes/delayed-push.ts';
import type { PullRequestStage } from '../durable/pull-request/history.ts';
import { closedEvent } from '../events/host-event.ts';
import { randomMoment, systemClock } from '../isolate/clock.ts';
import type { MemoryHold } from '../isolate/memory-budget.ts';
import { within } from '../isolate/within.ts';
import { delayedNamesOf } from '../limits/claim.ts';
import { count, observe } from '../metrics/tally.ts';
import { delayedPushesOf, guardOf, pendingPushOf, pullRequestOf, readFrom, spoolOf } from '../objects.ts';
import type { PushStore } from '../push/push-host.ts';
import { pushOutcome, type Refusal } from '../push/reply/refusal.ts';
import { isSameSecret, keyedHash, prKeyOf } from '../secret/keyed-hash.ts';
import { serviceSecret } from '../secret/open-secret.ts';
import { endOfDay } from '../secret/sealed-kv.ts';
import { Spool } from '../spool/spool.ts';
import { openLedger } from '../stats/statistics.ts';
import { addWorks, mayBeRecorded, prHashesWith, prHashNear } from '../stats/recorded-hashes.ts';
import { clientOf, type HostScope, type Scope } from './scope.ts';

/** How long a push waits for the ledger. */
const PATIENCE_MS = 3_000;
/** The pause before the first attempt at a push that waits for room. */
const BUSY_PAUSE_MS = 60_000;

/** @param memory where the push is counted. */
export function pushStore(scope: HostScope, memory: MemoryHold): PushStore {
  const { env, config, host, http, logger, later } = scope;
  const secret = () => serviceSecret(env, config.identitySecret);
  const isListed = (prHash: string) => mayBeRecorded(env.DB, prHash, logger);
  return {
    count: countPush,
    openSpool: () =>
      new Spool({
        open: (attempt) => spoolOf(env, attempt),
        memory,
        client: memory.client,
        mostBytes: config.spoolMb * 1_000_000,
        clock: systemClock,
      }),
    hash: async (kind, text) => keyedHash(await secret(), kind, text),
    attemptHash: async (receivedHash) => (await clientOf(scope)).prefixHash('attempt', receivedHash),
    prKey: async (prHash) => prKeyOf(await secret(), prHash),
    isPrKey: async (prHash, key) => isSameSecret(key, prKeyOf(await secret(), prHash)),
    pendingPush: (hash) => pendingPushOf(env, hash),
    pullRequest: (prHash) => pullRequestOf(env, prHash),
    async tellWithdrawn({ prHash, number, url }, at) {
      // The same event and key as the feed has for somebody else's close, so it is told once.
      const event = closedEvent(number, at, url, 'withdrawn');
      await pullRequestOf(env, prHash)
        .tell(host.key, [event], Date.now())
        .catch((error: unknown) => logger.error('a withdrawal could not be told', { error }));
    },
    async placeOf(prHash) {
      const view = (await isListed(prHash)) ? await readFrom(() => pullRequestOf(env, prHash).view()) : null;
      return view?.host === host.key ? view : null;
    },
    async isOpen(prHash) {
      if (!(await isListed(prHash))) return false;
      const view = readFrom(() => pullRequestOf(env, prHash).view());
      return view.then((known) => known?.state === 'open' && known.host === host.key).catch(() => true);
    },
    mayBeRecorded: isListed,
    async pullRequestWith(repository, works) {
      const found = await guessed(scope, prHashesWith(env.DB, recordName(host, repository), works));
      if (found === null) return undefined;
      const views = await Promise.all(
        found.map(async ({ prHash, last }) => {
          const view = await shown(scope, prHash);
          return view && { prHash, url: view.url, state: view.state, last };
        }),
      );
      const inState = (wanted?: PullRequestStage) =>
        views.find((view) => view !== null && (wanted ?? view.state) === view.state);
      return inState('open') ?? inState('merged') ?? inState() ?? null;
    },
    addWorks: async (prHash, works) => void (await guessed(scope, addWorks(env.DB, prHash, works))),
    async openNear(repository, prHash) {
      const near = await guessed(scope, prHashNear(env.DB, recordName(host, repository), prHash));
      const view = near === null ? null : await shown(scope, near);
      return view?.state === 'open' ? view : null;
    },
    async isKnownRepository({ owner, name: repo }) {
      try {
        // Not the badge's count, which may be minutes old.
        const ledger = openLedger(env, config, http);
        const repository = { host: host.key, owner, repo };
        const counts = [ledger.pullRequestCount(repository), guardOf(env).rolledBackIn(repository)] as const;
        const [all, rolledBack] = await within(PATIENCE_MS, Promise.all(counts));
        return all > rolledBack;
      } catch (error) {
        logger.warn('the ledger or the guard does not answer', { error });
        return false;
      }
    },
    findWaiting: (push) => readFrom(() => delayedPushesOf(env).findWaiting(push)),
    tellClock(byMs) {
      const telling = guardOf(env).clockApart(byMs);
      later(telling.catch((error: unknown) => logger.error('nobody is told of a wrong clock', { error })));
    },
    async keepDelayed(delayed, { key, ...spool }, keptUntil) {
      const { name, reason, keptAt, from, to } = delayed;
      // A secret moment; of one for review, only when the operator has approved it.
      const atRandom = reason === 'review' ? null : randomMoment(from, to);
      const dueAt = reason === 'busy' ? keptAt + BUSY_PAUSE_MS : atRandom;
      const names = delayedNamesOf(await clientOf(scope), keptAt);
      let isKept = false;
      try {
        // Before the row: a push never waits without its key.
        await env.DELAYED_KEYS.put(spool.attempt, key, { expiration: endOfDay(keptUntil) });
        const kept = { ...delayed, dueAt, host: host.key, client: names.now, spool };
        const answer = await delayedPushesOf(env).keep(kept, names.earlier, config.delayedMb * 1_000_000);
        isKept = answer.kind === 'kept';
        if (isKept && reason === 'review') later(tellOperator(scope));
        return answer;
      } finally {
        // The person is told that nothing was kept. If the answer was lost, it may wait all the
        // same.
        const view = isKept ? null : delayedPushesOf(env).view(name);
        const waits = await view?.then((known) => known !== null).catch(() => true);
        if (waits === false)
          await shred(env, spool.attempt).catch((error: unknown) =>
            logger.error('what is not kept of a push could not be removed', { error }),
          );
      }
    },
  };
}

/** @param durationMs null: there was no pack to read. */
export function countPush(refusal: Refusal | null, durationMs: number | null): void {
  const outcome = pushOutcome(refusal);
  count('gitveil_pushes_total', { outcome });
  if (durationMs !== null) observe('gitveil_push_duration_seconds', { outcome }, durationMs / 1000);
}

/** Only for a hint to a person: null if nobody answers. */
function guessed<T>({ logger }: Scope, answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    logger.warn('a pull request that may be meant could not be looked up', { error });
    return null;
  });
}

/** Nobody is told of a pull request before the host shows it. */
async function shown(scope: Scope, prHash: string) {
  const view = await guessed(
    scope,
    readFrom(() => pullRequestOf(scope.env, prHash).view()),
  );
  return view?.isShown ? view : null;
}

/** Never rejects: the push waits, whether or not the operator is told. */
async function tellOperator({ env, logger }: Scope): Promise<void> {
  try {
    await guardOf(env).toReview((await delayedPushesOf(env).counts()).waiting.review);
  } catch (error) {
    logger.error('the operator could not be told of a delayed push', { error });
  }
}
