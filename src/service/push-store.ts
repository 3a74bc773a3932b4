/**
 * Connects a push with what the service keeps: its objects, D1 and KV.
 * Proved by test/stats/slow-database.test.ts and test/e2e/push/doubles.test.ts.
 */
import { recordName } from '../config/hosts.ts';
import { shred } from '../durable/delayed-pushes/delayed-push.ts';
import type { PullRequestStage } from '../durable/pull-request/stages.ts';
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
import { PushSpool } from '../spool/spool.ts';
import { openLedger } from '../stats/statistics.ts';
import { addWorks, mayBeRecorded, prHashesWith, prHashNear } from '../stats/recorded-hashes.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import { clientOf, type HostScope, type Scope } from './scope.ts';

/** The time that a push waits for the ledger. */
const PATIENCE_MS = 3_000;
/** The pause before the first attempt at a push that waits for room. */
const BUSY_PAUSE_MS = 60_000;

export class ServicePushStore implements PushStore {
  readonly count = countPush;
  readonly #scope: HostScope;
  readonly #memory: MemoryHold;

  /** @param memory where the push is counted. */
  constructor(scope: HostScope, memory: MemoryHold) {
    this.#scope = scope;
    this.#memory = memory;
  }

  openSpool(): PushSpool {
    const { env, config } = this.#scope;
    return new PushSpool({
      open: (attempt) => spoolOf(env, attempt),
      memory: this.#memory,
      client: this.#memory.client,
      mostBytes: config.spoolMb * 1_000_000,
      clock: systemClock,
    });
  }

  async hash(...[kind, text]: Parameters<PushStore['hash']>): Promise<string> {
    return keyedHash(await this.#secret(), kind, text);
  }

  async attemptHash(receivedHash: string): Promise<string> {
    const client = await clientOf(this.#scope);
    return client.prefixHash('attempt', receivedHash);
  }

  async prKey(prHash: string): Promise<string> {
    return prKeyOf(await this.#secret(), prHash);
  }

  async isPrKey(prHash: string, key: string): Promise<boolean> {
    return isSameSecret(key, await this.prKey(prHash));
  }

  pendingPush(hash: string): ReturnType<PushStore['pendingPush']> {
    return pendingPushOf(this.#scope.env, hash);
  }

  pullRequest(prHash: string): ReturnType<PushStore['pullRequest']> {
    return pullRequestOf(this.#scope.env, prHash);
  }

  async tellWithdrawn(...[{ prHash, number, url }, at]: Parameters<PushStore['tellWithdrawn']>) {
    const { env, host, logger } = this.#scope;
    // The same event and key as the feed has for somebody else's close, so it is told once.
    const event = closedEvent(number, at, url, 'withdrawn');
    await pullRequestOf(env, prHash)
      .tell(host.key, [event], Date.now())
      .catch((error: unknown) => logger.error('a withdrawal could not be told', { error }));
  }

  async placeOf(prHash: string): ReturnType<PushStore['placeOf']> {
    const view = (await this.mayBeRecorded(prHash)) ? await this.#view(prHash) : null;
    return view?.host === this.#scope.host.key ? view : null;
  }

  async isOpen(prHash: string): Promise<boolean> {
    if (!(await this.mayBeRecorded(prHash))) return false;
    const { key } = this.#scope.host;
    const view = this.#view(prHash);
    // While nobody knows, an update must not be refused for a limit of new pull requests.
    return view.then((known) => known?.state === 'open' && known.host === key).catch(() => true);
  }

  mayBeRecorded(prHash: string): Promise<boolean> {
    return mayBeRecorded(this.#scope.env.DB, prHash, this.#scope.logger);
  }

  async pullRequestWith(...[repository, works]: Parameters<PushStore['pullRequestWith']>) {
    const { env, host } = this.#scope;
    const found = await this.#guess(prHashesWith(env.DB, recordName(host, repository), works));
    if (found === null) return undefined;
    const all = await Promise.all(
      found.map(async ({ prHash, last }) => {
        const recorded = await this.recorded(prHash);
        return recorded === null ? null : Object.assign(recorded, { last });
      }),
    );
    const inState = (wanted: PullRequestStage) => all.find((one) => one?.state === wanted);
    return inState('open') ?? inState('merged') ?? inState('closed') ?? inState('withdrawn') ?? null;
  }

  async recorded(prHash: string): ReturnType<PushStore['recorded']> {
    const view = await this.#shown(prHash);
    if (view?.host !== this.#scope.host.key) return null;
    const { number, url, state, events } = view;
    const end = events.find((event) => event.kind === state && (event.number ?? number) === number);
    return { prHash, number, url, state, endedOn: end === undefined ? null : dayOf(end.at) };
  }

  async addWorks(prHash: string, works: readonly string[], at: number): Promise<void> {
    await this.#guess(addWorks(this.#scope.env.DB, prHash, works, at));
  }

  async openNear(repository: RepositoryName, prHash: string) {
    const { env, host } = this.#scope;
    const near = await this.#guess(prHashNear(env.DB, recordName(host, repository), prHash));
    const view = near === null ? null : await this.#shown(near);
    return view?.state === 'open' ? view : null;
  }

  async isKnownRepository({ owner, name: repo }: RepositoryName): Promise<boolean> {
    const { env, config, host, http, logger } = this.#scope;
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
  }

  findWaiting(push: string): ReturnType<PushStore['findWaiting']> {
    return readFrom(() => delayedPushesOf(this.#scope.env).findWaiting(push));
  }

  tellClock(byMs: number | null): void {
    const { env, later, logger } = this.#scope;
    const telling = guardOf(env).clockApart(byMs);
    later(telling.catch((error: unknown) => logger.error('nobody is told of a wrong clock', { error })));
  }

  async keepDelayed(...[delayed, { key, ...spool }, keptUntil]: Parameters<PushStore['keepDelayed']>) {
    const { env, config, host, later } = this.#scope;
    const names = delayedNamesOf(await clientOf(this.#scope), delayed.keptAt);
    let isKept = false;
    try {
      // Before the row: a push never waits without its key.
      await env.DELAYED_KEYS.put(spool.attempt, key, { expiration: endOfDay(keptUntil) });
      const kept = { ...delayed, dueAt: dueAtOf(delayed), host: host.key, client: names.now, spool };
      const answer = await delayedPushesOf(env).keep(kept, names.earlier, config.delayedMb * 1_000_000);
      isKept = answer.kind === 'kept';
      if (isKept && delayed.reason === 'review') later(tellOperator(this.#scope));
      return answer;
    } finally {
      if (!isKept) await this.#shredUnlessWaiting(delayed.name, spool.attempt);
    }
  }

  /**
   * Removes the key of a push that was not kept, as its person is told. If only the answer was
   * lost, it waits all the same.
   */
  async #shredUnlessWaiting(name: string, attempt: string): Promise<void> {
    const { env, logger } = this.#scope;
    const view = delayedPushesOf(env).view(name);
    const waits = await view.then((known) => known !== null).catch(() => true);
    if (waits) return;
    await shred(env, attempt).catch((error: unknown) =>
      logger.error('what is not kept of a push could not be removed', { error }),
    );
  }

  #secret(): Promise<string> {
    return serviceSecret(this.#scope.env, this.#scope.config.identitySecret);
  }

  #view(prHash: string) {
    return readFrom(() => pullRequestOf(this.#scope.env, prHash).view());
  }

  /** Hides a pull request that the host does not show yet. Null: there is none, or nobody knows. */
  async #shown(prHash: string) {
    const view = await this.#guess(this.#view(prHash));
    return view?.isShown ? view : null;
  }

  /** Answers null if nobody answers, because it is only for a hint to a person. */
  #guess<T>(answer: Promise<T>): Promise<T | null> {
    return answer.catch((error: unknown) => {
      this.#scope.logger.warn('a pull request that may be meant could not be looked up', { error });
      return null;
    });
  }
}

/** @param at seconds since 1970. */
const dayOf = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10);

/**
 * Answers when a push is due: if it was delayed, at a secret moment. Null: a push for review gets
 * one when the operator has approved it.
 */
function dueAtOf({ reason, keptAt, from, to }: Parameters<PushStore['keepDelayed']>[0]): number | null {
  if (reason === 'review') return null;
  return reason === 'busy' ? keptAt + BUSY_PAUSE_MS : randomMoment(from, to);
}

/**
 * Counts a push in the metrics.
 * @param durationMs null: that is not measured.
 */
export function countPush(refusal: Refusal | null, durationMs: number | null): void {
  const outcome = pushOutcome(refusal);
  count('gitveil_pushes_total', { outcome });
  if (durationMs !== null) observe('gitveil_push_duration_seconds', { outcome }, durationMs / 1000);
}

/** Tells the operator how many pushes wait for review. Never rejects: they wait in any case. */
async function tellOperator({ env, logger }: Scope): Promise<void> {
  try {
    await guardOf(env).toReview((await delayedPushesOf(env).counts()).waiting.review);
  } catch (error) {
    logger.error('the operator could not be told of a delayed push', { error });
  }
}
