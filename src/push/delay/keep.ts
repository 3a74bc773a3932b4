/** In place of act three: keeps what was judged, encrypted, for release.ts. Only the person gets its page's address. */
import type { DelayedView, DelayReason, DelayWindow } from '../../durable/delayed-pushes/delayed-push.ts';
import { undatedOf } from '../../durable/pull-request/record.ts';
import type { Wants } from '../../limits/wants.ts';
import type { Judged } from '../judge/judge.ts';
import type { Slot, PushSettings } from '../push-host.ts';
import { inProgress, type Pushed, type PushRun } from '../push-run.ts';
import type { PushOptions } from '../receive/push-options.ts';
import type { Received } from '../receive/receive.ts';
import type { DelayedFacts } from '../reply/banner.ts';
import { Refusal } from '../reply/refusal.ts';
import { findSameWork, proposedBefore, tellSameWork, worksOf } from '../same-work.ts';
import type { PushedWork } from '../verdict.ts';
import { encodeKept, type KeptPush } from './kept-push.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Half of it is the longest delay, and the window of that ends with it. */
const LIFE_MS = 14 * 24 * HOUR_MS;
/** For what is due at its end; and for the keys, which a clock that jumps must not expire. */
const REST_MS = 2 * 24 * HOUR_MS;
/** A push that waits only for limits and the code host. */
const BUSY_LIFE_MS = 24 * HOUR_MS;

/** Why and when a push is published later. */
export interface DelayPlan extends DelayWindow {
  readonly reason: DelayReason;
}

/** What is kept of a push, besides its entries. */
interface ToKeep extends Pick<Judged, 'work' | 'claim' | 'updates'>, Pick<KeptPush, 'pushHash'> {
  /** Of the pull request that it opens; null: it opens none. */
  readonly slot: Slot | null;
}

/** Whether a push waits if the limits or the code host have no room for it now. */
export function mayWait(settings: Pick<PushSettings, 'whenBusy'>, { wait }: PushOptions): boolean {
  return wait || settings.whenBusy === 'wait';
}

/** What is decided before a push is judged: that it is published later, and why. Null: it is not. */
export async function planOf(run: PushRun, { delayMs }: PushOptions): Promise<DelayPlan | null> {
  const { host, settings } = run;
  const now = host.clock.now();
  const waitMs = delayMs ?? settings.publishDelayMs;
  // Ends after twice the delay, so that nobody can compute the time of the push.
  const window = { from: now + waitMs, to: now + 2 * waitMs };
  if (await isForReview(run)) return { reason: 'review', ...window };
  return waitMs > 0 ? { reason: 'delay', ...window } : null;
}

/** Whether the operator wants to see it before it is published. */
export async function isForReview({ store, settings, target }: PushRun): Promise<boolean> {
  if (settings.review === 'new') return !(await store.isKnownRepository(target));
  return settings.review === 'all';
}

/** Until the limits and the code host have room. */
export function busyPlan(now: number): DelayPlan {
  return { reason: 'busy', from: now, to: now + BUSY_LIFE_MS };
}

/** By which the same push is found, with any options; and with the same ones. */
async function delayedHashesOf({ host, store, target }: PushRun, { options, taken }: Pushed) {
  const { title, description, base, squash, draft, signOff, ai, issue, prHash } = options;
  const { newId, refName } = taken.command;
  const what = [host.nameOf(target), newId, refName, prHash];
  const others = [title, description, base, squash, draft, signOff, ai, issue];
  const hashOf = (parts: unknown[]): Promise<string> => store.hash('delayed', JSON.stringify(parts));
  return { push: await hashOf(what), same: await hashOf([...what, ...others]) };
}
type DelayedHashes = Awaited<ReturnType<typeof delayedHashesOf>>;

/** The same push that waits, or was published within the last day; null: there is none. Another delay moves it. */
export async function findAgain(run: PushRun, pushed: Pushed, plan: DelayPlan): Promise<DelayedFacts | null> {
  const hashes = await delayedHashesOf(run, pushed);
  const found = await run.store.findDelayed(hashes.push);
  return found === null ? null : again(run, pushed, plan, hashes, found);
}

async function again(
  run: PushRun,
  { options }: Pushed,
  plan: DelayPlan,
  { push, same }: DelayedHashes,
  found: DelayedView,
): Promise<DelayedFacts | null> {
  const { store, settings } = run;
  const { name, state, published } = found;
  const pageUrl = settings.delayedUrl(name);
  const isWaiting = state === 'waiting';
  // An update may be pushed again, and so may what was closed since.
  const isOpen = state === 'published' && published !== null && published.prHash !== options.prHash;
  if (!isWaiting && !(isOpen && (await store.isOpen(published.prHash)))) return null;
  const wantsMove = isWaiting && plan.reason !== 'busy' && options.delayMs !== null;
  const { from, to } = plan;
  const isMoved = wantsMove && (await store.moveDelayed(name, { from, to }));
  if (wantsMove && !isMoved)
    // A promise of time is kept or refused.
    throw new Refusal('delay', 'the delay cannot be changed', [
      'This push waits already. It is being published now, or is not kept for so long.',
      `Look at ${pageUrl}. To publish it at another time, give it up there, then push again.`,
    ]);
  const { reason, waitsForReview, isBegun, ...window } =
    (isMoved && (await store.findDelayed(push))) || found;
  return {
    reason: waitsForReview ? 'review' : reason === 'review' ? 'delay' : reason,
    window,
    isBegun,
    pageUrl,
    found: { isMoved, hasOtherOptions: found.same !== same, url: published?.url ?? null },
  };
}

/**
 * What the person should know before it is published, of a push to no pull request that the service has recorded.
 * @throws Refusal if all of it is open; where the operator wants no doubles, if any of it is
 */
async function tellKnown(run: PushRun, work: PushedWork): Promise<void> {
  const { host, store, reply, settings, target } = run;
  if (work.prHash !== null) {
    const near = await store.openNear(target, work.prHash);
    const question = near === null ? '' : ` Did you mean ${near.prHash}?`;
    await reply.note(
      `The service has recorded no pull request with that pr-hash.${question}`,
      'If the code host knows none either, it opens a new one.',
    );
  }
  const identity = { name: await host.botLogin(true), email: settings.anonEmail };
  const there = { ...work, repository: target };
  const same = await findSameWork(run, there, await worksOf(run, there, undatedOf(work.commits, identity)()));
  if (same === null) return;
  if (same.shared === work.commits.length) throw proposedBefore(same);
  await tellSameWork(run, work, same);
}

/** @returns facts of the same push if it came first. @throws Refusal without room or storage: nothing is kept then. */
export async function keep(
  run: PushRun,
  received: Received,
  { work, pushHash, updates: wasOpen, claim, slot }: ToKeep,
  plan: DelayPlan,
): Promise<DelayedFacts> {
  const { host, store, settings, target, claims } = run;
  const { from, to, reason } = plan;
  const { spool } = received.pack;
  // It is meant for what is there now, and would replace what comes until then, too.
  if (received.options.overwrite)
    throw new Refusal('options', 'overwrite cannot wait', [
      'Nobody can tell now what it would replace when it is published. Push it without delay, or without -o overwrite.',
    ]);
  const recorded = claim?.recorded ?? null;
  if (recorded === null) await tellKnown(run, work);
  await run.tell();
  // An attempt that was not answered may have opened a pull request: to keep the push would open another.
  if ((await claims.begin(pushHash, target, null)).isRepeated)
    throw inProgress(
      'an earlier attempt has begun to publish this push',
      'Push it again without delay, and in a while: the service continues where it stopped.',
    );
  const hashes = await delayedHashesOf(run, received);
  const owed = await settled(slot, reason);
  let isKept = false;
  try {
    const keptAt = host.clock.now();
    const until = keptAt + (reason === 'busy' ? BUSY_LIFE_MS : LIFE_MS + REST_MS);
    const keptUntil = until + REST_MS;
    const { byteLength: entryBytes } = spool;
    const recordedTip = recorded?.tip ?? null;
    await spool.write([encodeKept({ target, pushHash, work, recordedTip, wasOpen, owed })]);
    const commits = work.commits.length;
    const delayed = { reason, ...hashes, entryBytes, commits, keptAt, from, to, until };
    const answer = await store.keepDelayed(delayed, await spool.keep(keptUntil), keptUntil);
    if (answer.kind === 'full')
      throw new Refusal('delays-full', 'too many pushes wait', [
        'There is no room left for this push, in total or for your network. Nothing was kept.',
        reason === 'delay'
          ? 'Push again later, or publish it at once with -o delay=0s.'
          : 'Push again later.',
      ]);
    isKept = answer.kind === 'kept';
    const { view } = answer;
    // Later than was asked for, where the clock was set back.
    if (isKept)
      return { reason, window: view, isBegun: false, pageUrl: settings.delayedUrl(view.name), found: null };
    const other = await again(run, received, plan, hashes, view);
    if (other !== null) return other;
    throw inProgress('the same push has just ended', 'Push again.');
  } finally {
    if (!isKept) await slot?.release();
  }
}

/** Takes what counts in the limit of its network. @returns what cannot be given now, and is owed. @throws Refusal */
async function settled(slot: Slot | null, reason: DelayReason): Promise<Wants | null> {
  // What it asked for in order to be published now.
  await slot?.release();
  try {
    await slot?.settle(true);
    return null;
  } catch (error) {
    if (reason !== 'busy' || !isFull(error)) throw error;
    return slot?.owed() ?? null;
  }
}

/** Whether limits refuse it, or the host asks to be left alone: nothing has been done, and it may wait. */
export function isFull(error: unknown): error is Refusal {
  return error instanceof Refusal && (error.code === 'account' || error.outcome === 'rate-limited');
}

export function withAdvice(refusal: Refusal): Refusal {
  const advice = 'Add -o wait, and the service publishes it as soon as there is room.';
  return new Refusal(refusal.code, refusal.reason, [...refusal.lines, advice], refusal);
}
