/**
 * Publishes a delayed push, and removes what has begun of one.
 * Proved by test/e2e/delayed/delayed-lost.test.ts and test/e2e/delayed/delayed-ended.test.ts.
 */
import { hostWithKey } from '../config/hosts.ts';
import { accountLimits } from '../config/config.ts';
import { openHttp } from '../config/configured.ts';
import { type BegunPush, leaseOf, type LeasedPush } from '../durable/delayed-pushes/delayed-push.ts';
import { LEASE_MS } from '../durable/lease.ts';
import { systemClock } from '../isolate/clock.ts';
import { isolateMemory, type MemoryHold } from '../isolate/memory-budget.ts';
import type { Limit } from '../limits/sliding-window.ts';
import { forkClaim, writeClaim } from '../limits/claim.ts';
import { delayedPushesOf } from '../objects.ts';
import { isForReview } from '../push/delay/keep.ts';
import { type KeptPush, UnreadableError } from '../push/delay/kept-push.ts';
import { type DelayedEnd, failureOf, release } from '../push/delay/release.ts';
import type { Published } from '../push/publish/publish.ts';
import { inProgress, type PushRun } from '../push/push-run.ts';
import { NotedReply } from '../push/reply/reply.ts';
import { removeBegun } from '../push/withdraw.ts';
import { LostRowError } from '../spool/sealed-rows.ts';
import { arePushesSuspended } from './suspension.ts';
import { openPush } from './open-push.ts';
import type { HostScope, Scope } from './scope.ts';
import { suspended } from './push-refusals.ts';
import { countPush } from './push-store.ts';
import { PullRequestSlot, reserveSlot } from './slot.ts';
import { openStored, type StoredPush } from './stored-push.ts';

/** The pause before a key is looked for again: KV may take a while to show it everywhere. */
const KEY_DELAY_MS = 60_000;
const MOST_KEY_TRIES = 3;
const PANIC_PAUSE_MS = 60_000;
/** The pause while the operator has lost the token, or a line of the configuration. */
const NO_HOST_PAUSE_MS = 10 * 60_000;
/** The part of the account's limits that is left to those who wait for an answer. */
const LEFT_TO_LIVE = 1 / 16;
/** Attempts to remove a push: whoever was publishing it may still have a request under way. */
const ATTEMPTS = 3;
const PAUSE_MS = 500;

/**
 * Publishes a delayed push while its lease is renewed.
 * @returns `stop`: what refuses this one refuses all others now.
 */
export async function publishLeased(
  scope: Scope,
  leased: LeasedPush,
  now: number,
): Promise<{ readonly stop: boolean }> {
  const objects = delayedPushesOf(scope.env);
  const lease = leaseOf(leased);
  const done = new AbortController();
  void renewUntil(done.signal, () => objects.renew(lease));
  try {
    const end = await inMemory((memory) => publishDelayed(scope, leased, memory));
    if (end !== null) await objects.failed(lease, end.failure, now);
    return { stop: end?.isForAll === true };
  } finally {
    done.abort();
  }
}

/**
 * Renews the lease until the work is done or the lease is lost.
 * @param renew answers false if the lease is lost: then nothing would change any more.
 */
async function renewUntil(done: AbortSignal, renew: () => Promise<boolean>): Promise<void> {
  for (;;) {
    await systemClock.sleep(LEASE_MS / 5, done);
    // A renewal that fails is tried again; the list says so if the lease is lost.
    if (done.aborted || !(await renew().catch(() => true))) return;
  }
}

/** Works in memory that counts for no client, and for which no client has to wait. */
export async function inMemory<T>(work: (memory: MemoryHold) => Promise<T>): Promise<T> {
  const memory = isolateMemory.open(systemClock, null, false);
  try {
    return await work(memory);
  } finally {
    memory.end();
  }
}

/** Publishes a push, or tells why it has to wait or ends; null: it is over. Never rejects. */
async function publishDelayed(
  scope: Scope,
  push: LeasedPush,
  memory: MemoryHold,
): Promise<DelayedEnd | null> {
  const { env, logger } = scope;
  const objects = delayedPushesOf(env);
  try {
    if (await arePushesSuspended(env)) return later('The service is suspended.', PANIC_PAUSE_MS, true);
    const there = scopeAt(scope, push.host);
    if (there === null)
      return later('The service has no bot account at the code host now.', NO_HOST_PAUSE_MS);
    const stored = await openStored(env, push, memory);
    if (stored === null)
      return push.failures < MOST_KEY_TRIES
        ? later('Its key is not there yet.', KEY_DELAY_MS)
        : final('its key is gone');
    const reply = new NotedReply();
    const run = runOf(there, stored.kept, push.client ?? push.name, memory, reply);
    // A setting that is newer than the push.
    if (!push.isApproved && (await isForReview(run))) return { failure: { kind: 'review' }, isForAll: false };
    const { prHash, key, pullRequest } = await releaseLeased(there, run, stored, push);
    const isOpened = stored.kept.work.prHash !== prHash;
    const published = { prHash, url: pullRequest.url, isKeyShown: key !== null };
    if (await objects.ended(leaseOf(push), 'published', reply.notes, published)) {
      countPush(null, null);
      logger.info('delayed push published');
    } else if (isOpened) await removeIfOver(there, push, stored.kept.target, prHash);
    return null;
  } catch (error) {
    const isLost = error instanceof LostRowError;
    if (isLost || error instanceof UnreadableError) {
      logger.error('delayed push is lost', { error });
      return final(isLost ? 'what was kept of it is gone' : 'another version of this service has stored it');
    }
    const end = failureOf(error, push.failures);
    const what = end.failure.kind === 'final' ? 'delayed push failed' : 'delayed push not published yet';
    logger.warn(what, { error });
    return end;
  }
}

function later(said: string, askedMs: number, isForAll = false): DelayedEnd {
  return { failure: { kind: 'later', said: [said], askedMs, counts: !isForAll }, isForAll };
}

function final(reason: string): DelayedEnd {
  return { failure: { kind: 'final', said: [reason, 'Push it again.'] }, isForAll: false };
}

/** The scope at the push's code host; null: the service has no account there now. */
function scopeAt(scope: Scope, hostKey: string): HostScope | null {
  const host = hostWithKey(scope.config, hostKey);
  if (host === undefined || host.token === null) return null;
  return { ...scope, host, http: openHttp(scope.config) };
}

const part = ({ most, withinMs }: Limit): Limit => ({
  most: Math.max(1, Math.floor(most * (1 - LEFT_TO_LIVE))),
  withinMs,
});

/**
 * Opens the run of a delayed push, which its client's limits have let in before.
 * @param owed the claim that was not granted then.
 * @param client its name among the delayed pushes.
 */
function runOf(
  scope: HostScope,
  { target, owed }: Pick<KeptPush, 'target' | 'owed'>,
  client: string,
  memory: MemoryHold,
  reply = new NotedReply(),
): PushRun {
  const { creations, openings } = accountLimits(scope.config, scope.host);
  const account = { creations: creations.map(part), openings: openings.map(part) };
  const limits = {
    enter: async () => null,
    suspension: async () => null,
    refuseFull: async () => null,
    slot: async () =>
      new PullRequestSlot(scope, { claim: owed ?? writeClaim(client), account, burst: client, client: null }),
    peek: async () => null,
    takeQuota: async () => void (await reserveSlot(scope, writeClaim(client))),
    takeFork: async () => void (await reserveSlot(scope, forkClaim(client, null, account))),
  };
  return openPush(scope, target, reply, { memory, limits });
}

async function releaseLeased(
  scope: HostScope,
  run: PushRun,
  { kept, entries }: StoredPush,
  push: LeasedPush,
): Promise<Published> {
  const objects = delayedPushesOf(scope.env);
  const lease = leaseOf(push);
  let { intent } = push;
  const slot = await run.limits.slot(kept.pushHash);
  try {
    return await release(run, kept, {
      spool: await entries(),
      slot,
      intent,
      // Making a fork takes up to a minute, and sending long: meanwhile it may have been given up.
      async mayGoOn() {
        const [isOurs, isSuspended] = await Promise.all([
          objects.renew(lease),
          arePushesSuspended(scope.env),
        ]);
        if (isSuspended) throw suspended();
        stillOurs(isOurs || null);
      },
      begin: async (proposed) => (intent = stillOurs(await objects.begin(lease, proposed))),
      keepTo: async (other) => void (intent = stillOurs(await objects.rebind(lease, other))),
    });
  } catch (error) {
    // What has begun stands in its row.
    run.claims.failed(false);
    await slot.release();
    const isFinal = failureOf(error, push.failures).failure.kind === 'final';
    // While the host does not remove it, the push does not end.
    if (intent !== null) await removeIfOver(scope, push, kept.target, intent.prHash, isFinal);
    throw error;
  } finally {
    await run.end(true);
  }
}

/** @throws Refusal if the lease is lost */
function stillOurs<T>(answer: T | null): T {
  if (answer === null) throw inProgress('this push waits no more', 'Look at its page.');
  return answer;
}

/**
 * Ends it at the code host, then here, even if the client leaves. False: that is not done, and
 * nothing publishes it by itself.
 */
export async function removeDelayed(
  scope: Scope,
  begun: BegunPush,
  { state, said }: { readonly state: 'given-up' | 'discarded'; readonly said: readonly string[] },
): Promise<boolean> {
  const lease = leaseOf(begun);
  const objects = delayedPushesOf(scope.env);
  const work = async (): Promise<boolean> => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (attempt > 1) await systemClock.sleep(PAUSE_MS * (attempt - 1));
      if (!(await objects.renew(lease))) return false;
      if (await removeFromHost(scope, begun)) return objects.ended(lease, state, said);
    }
    await objects.failed(lease, { kind: 'review' }, Date.now());
    return false;
  };
  const working = work();
  // The caller gets the error; here the work is only kept alive.
  scope.later(working.catch(() => {}));
  return working;
}

/**
 * Removes what attempts to publish a push have left at the host. False: it could not. Never
 * rejects.
 */
async function removeFromHost(scope: Scope, push: BegunPush): Promise<boolean> {
  return inMemory(async (memory) => {
    const there = scopeAt(scope, push.host);
    const stored = there && (await openStored(scope.env, push, memory));
    if (there === null || stored === null) return false;
    await removeAt(there, stored.kept.target, push.intent.prHash);
    return true;
  }).catch((error: unknown) => {
    scope.logger.warn('a push that was given up could not be removed from the code host', { error });
    return false;
  });
}

/**
 * Removes what an attempt has left at the host, because nobody else would: if the push fails for
 * good now, or meanwhile has ended unpublished or waits for review.
 * @throws Refusal
 */
async function removeIfOver(
  scope: HostScope,
  push: LeasedPush,
  target: KeptPush['target'],
  prHash: string,
  isFinal = false,
): Promise<void> {
  const objects = delayedPushesOf(scope.env);
  const view = await objects.view(push.name);
  const isGoingOn = view?.state === 'published' || (view?.state === 'waiting' && !view.waitsForReview);
  const isOver = !isGoingOn || (isFinal && (await objects.open(leaseOf(push))) !== null);
  if (isOver) await removeAt(scope, target, prHash);
}

/** Removes a pull request that has begun. Rejects if the host refuses. */
function removeAt(scope: HostScope, target: KeptPush['target'], prHash: string): Promise<void> {
  return inMemory(async (memory) => {
    const run = runOf(scope, { target, owed: null }, 'operator', memory);
    try {
      await removeBegun(run, prHash);
    } finally {
      await run.end(true);
    }
  });
}
