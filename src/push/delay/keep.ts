/**
 * Keeps what was judged, encrypted, for release.ts, in place of publishing it. The person is told
 * the address of its page.
 * Proved by test/e2e/delayed/delayed-delay.test.ts and test/e2e/delayed/delayed-again.test.ts.
 */
import type {
  DelayedView,
  DelayReason,
  DelayWindow,
  NewDelayedPush,
} from '../../durable/delayed-pushes/delayed-push.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { Claim } from '../../limits/claim.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import type { PushSpool } from '../../spool/spool.ts';
import type { Judged } from '../judge/judge.ts';
import type { Upstream } from '../judge/questions.ts';
import type { PushSettings, PushStore, Slot } from '../push-host.ts';
import { inProgress, type PushRun } from '../push-run.ts';
import type { PushOptions } from '../receive/push-options.ts';
import type { Received } from '../receive/receive.ts';
import { type DelayedFacts, pageLines } from '../reply/banner.ts';
import { Refusal } from '../reply/refusal.ts';
import { proposedBefore, wasProposed } from '../same-work.ts';
import { encodeKept, type KeptPush } from './kept-push.ts';
import { unrecordedLine, WAIT_ADVICE } from './unrecorded.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Twice the longest delay, when the window of that ends. */
const LIFE_MS = 14 * 24 * HOUR_MS;
/**
 * Time that is added for pushes that are due at the end of their life, and for the keys, which must
 * not expire when a clock jumps.
 */
const REST_MS = 2 * 24 * HOUR_MS;
/** The greatest difference between the service's and the code host's clock for a delay. */
const MOST_APART_MS = 5 * 60 * 1000;
/** The longest that a push waits for limits and the code host. */
const BUSY_LIFE_MS = 24 * HOUR_MS;

/** The reason why a push is published later, and the window in which it is. */
export interface DelayPlan extends DelayWindow {
  readonly reason: DelayReason;
}

const NOWHERE = 'The address above leads nowhere:';

/** The parts of a push that are kept besides its entries. */
interface ToKeep
  extends Pick<Judged, 'work' | 'claim' | 'updates' | 'others' | 'compared'>, Pick<Upstream, 'hostAheadMs'> {
  readonly receivedHash: string;
  /** Counts the pull request that it opens; null: it opens none. */
  readonly slot: Slot | null;
}

/** Whether a push waits if the limits or the code host have no room for it now. */
export function mayWait(
  { whenBusy, door }: Pick<PushSettings, 'whenBusy' | 'door'>,
  { wait }: PushOptions,
): boolean {
  return !isOfPatch(door) && (wait || whenBusy === 'wait');
}

/** Whether the host was asked already for the files that it changes, so that it must not wait. */
function isOfPatch(door: PushSettings['door']): boolean {
  return door !== 'git' && door.name === 'patch';
}

/**
 * Decides, before a push is judged, that it is published later, and why. Null: it is published now.
 */
export async function planOf(run: PushRun, { delayMs }: PushOptions): Promise<DelayPlan | null> {
  const { host, settings } = run;
  const now = host.clock.now();
  const waitMs = delayMs ?? settings.publishDelayMs;
  // Ends after twice the delay, so that nobody can compute the time of the push.
  const window = { from: now + waitMs, to: now + 2 * waitMs };
  if (await isForReview(run)) return { reason: 'review', ...window };
  return waitMs > 0 ? { reason: 'delay', ...window } : null;
}

/** The parts of a push that tell whether it is reviewed. */
export interface MaybeReviewed {
  readonly store: Pick<PushStore, 'isKnownRepository'>;
  readonly settings: Pick<PushSettings, 'review'>;
  readonly target: RepositoryName;
}

/** Whether the operator wants to see it before it is published. */
export async function isForReview({ store, settings, target }: MaybeReviewed): Promise<boolean> {
  if (settings.review === 'new') return !(await store.isKnownRepository(target));
  return settings.review === 'all';
}

/** Plans to publish a push as soon as the limits and the code host have room. */
export function busyPlan(now: number): DelayPlan {
  return { reason: 'busy', from: now, to: now + BUSY_LIFE_MS };
}

/**
 * Describes a push that waits as it was described first, but names its page only to a form that is
 * sent again.
 * @param name that this push has chosen; a form chooses the same each time
 */
export function waitingFacts(
  { settings }: PushRun,
  view: DelayedView,
  name = settings.newDelayedName(),
): DelayedFacts {
  const { reason, from, to } = view;
  const pageUrl = view.name === name ? settings.delayedUrl(name) : null;
  return { reason, window: { from, to }, pageUrl };
}

/**
 * Keeps what was judged. Tells the address of its page first, so that nothing waits whose page
 * nobody has.
 * @returns its facts, or those of the same push if that waits already
 * @throws Refusal; nothing is kept then
 */
export async function keep(
  run: PushRun,
  { pack: { spool }, options }: Received,
  push: ToKeep,
  plan: DelayPlan,
): Promise<DelayedFacts> {
  const { work, receivedHash, claim, compared, slot, hostAheadMs } = push;
  const { store, settings, reply } = run;
  // It is meant to replace what is there now, and would replace what comes until then, too.
  if (options.overwrite)
    throw new Refusal('options', 'overwrite cannot wait', [
      'Nobody can tell now what it would replace when it is published. Push it without delay, or without -o overwrite.',
    ]);
  if (plan.reason !== 'busy') refuseWrongClock(run, hostAheadMs, plan.reason);
  const recorded = claim?.recorded ?? null;
  if (recorded === null && work.prHash !== null)
    await reply.note(
      await unrecordedLine(run, work.prHash),
      'If the code host knows none either, it opens a new one.',
    );
  if (compared?.found && wasProposed(work, compared.found)) throw proposedBefore(compared.found);
  await refuseBegun(run, receivedHash);
  const { reason } = plan;
  const owed = await settled(slot, reason);
  let isKept = false;
  try {
    // Whoever knows the hash may update, and twice does no harm: nobody is told that another waits.
    const opening = slot === null ? null : receivedHash;
    const name = settings.newDelayedName();
    const earlier = opening === null ? null : await store.findWaiting(opening);
    if (earlier !== null) return waitingFacts(run, earlier, name);
    await reply.noteSecret(...pageLines(settings.delayedUrl(name)));
    await run.tell();
    const kept = encodeKept(await toBeKept(run, push, owed));
    const delayed = { ...plan, name, push: opening, commits: work.commits.length };
    const answer = await keepIn(run, spool, kept, delayed);
    if (answer.kind === 'full') {
      await reply.noteSecret(`${NOWHERE} nothing was kept.`);
      throw noRoom(reason, answer.clientBytes);
    }
    isKept = answer.kind === 'kept';
    const { view } = answer;
    if (view.name !== name) await reply.noteSecret(`${NOWHERE} the same push came first.`);
    // Later than was asked for, where the clock was set back.
    return waitingFacts(run, view, name);
  } finally {
    if (!isKept) await slot?.release();
  }
}

/** The most commits by others that are known again. */
const MOST_OTHERS = 100;

async function toBeKept(
  run: PushRun,
  { work, receivedHash: pushHash, updates: wasOpen, claim, others }: ToKeep,
  owed: Claim | null,
): Promise<KeptPush> {
  const hashes = others.slice(-MOST_OTHERS).map((oid) => othersHash(run, pushHash, oid));
  const recordedTip = claim?.recorded?.tip ?? null;
  const { target } = run;
  return { target, pushHash, work, recordedTip, wasOpen, owed, others: await Promise.all(hashes) };
}

/** Names a commit of somebody else's among those of one push. */
export function othersHash({ store }: Pick<PushRun, 'store'>, pushHash: string, oid: Oid): Promise<string> {
  return store.hash('others', `${pushHash} ${oid}`);
}

/**
 * Refuses a delay that could end too soon, because one of two clocks is wrong. Later, both have to
 * say that it is over (durable/delayed-pushes).
 * @throws Refusal
 */
function refuseWrongClock({ store }: PushRun, hostAheadMs: number | null, reason: DelayReason): void {
  if (hostAheadMs !== null && Math.abs(hostAheadMs) <= MOST_APART_MS) return;
  store.tellClock(hostAheadMs);
  const why =
    hostAheadMs === null
      ? 'The code host does not say what time it is, so this service cannot check its own clock.'
      : 'The clocks of this service and of the code host differ by more than five minutes, so a delay could end too soon.';
  throw new Refusal('clock', 'one of two clocks is wrong', [
    `${why} Nothing was kept, and the operator is told.`,
    reason === 'delay' ? 'Push again later, or publish it at once with -o delay=0s.' : 'Push again later.',
  ]);
}

/**
 * Refuses a push of which an earlier attempt was not answered: it may have opened a pull request,
 * and the delayed push would open another.
 * @throws Refusal
 */
async function refuseBegun({ store, claims, target }: PushRun, receivedHash: string): Promise<void> {
  const begun = await claims.begin(await store.attemptHash(receivedHash), target, null);
  if (begun.isRepeated && !begun.isAnswered)
    throw inProgress(
      'an earlier attempt has begun to publish this push',
      'Push it again without delay, and in a while: the service continues where it stopped.',
    );
}

/** @param kept follows the entries in the spool */
async function keepIn(
  { host, store }: PushRun,
  spool: PushSpool,
  kept: Uint8Array,
  delayed: DelayPlan & Pick<NewDelayedPush, 'name' | 'push' | 'commits'>,
) {
  const { byteLength: entryBytes } = spool;
  await spool.write([kept]);
  const keptAt = host.clock.now();
  const until = keptAt + (delayed.reason === 'busy' ? BUSY_LIFE_MS : LIFE_MS + REST_MS);
  const keptUntil = until + REST_MS;
  return store.keepDelayed({ ...delayed, entryBytes, keptAt, until }, await spool.keep(keptUntil), keptUntil);
}

/** @param clientBytes how many bytes one network may delay at a time */
function noRoom(reason: DelayReason, clientBytes: number): Refusal {
  const megabytes = clientBytes / 1_000_000;
  return new Refusal('delays-full', 'too many pushes wait', [
    `There is no room left for this push, in total or for your network, which may delay ${megabytes} MB at a time. Nothing was kept.`,
    reason === 'delay' ? 'Push again later, or publish it at once with -o delay=0s.' : 'Push again later.',
  ]);
}

/**
 * Takes the slot that counts in the limit of its network.
 * @returns what cannot be given now, and is owed
 * @throws Refusal
 */
async function settled(slot: Slot | null, reason: DelayReason): Promise<Claim | null> {
  // This was taken in order to publish it now.
  await slot?.release();
  try {
    await slot?.settle(true);
    return null;
  } catch (error) {
    if (reason !== 'busy' || !isFull(error)) throw error;
    return slot?.owed() ?? null;
  }
}

/**
 * Whether limits refuse a push, or the host asks to be left alone: reasons for which a push may
 * wait.
 */
export function isFull(error: unknown): error is Refusal {
  return error instanceof Refusal && (error.code === 'account' || error.outcome === 'rate-limited');
}

/**
 * Names `-o wait` where that helps: not for a client that has made too many requests, to which no
 * waiting time is told.
 */
export function withAdvice(
  { settings }: Pick<PushRun, 'settings'>,
  options: PushOptions | null,
  refusal: Refusal,
): Refusal {
  const isForRoom = isFull(refusal) && refusal.waitMs !== null;
  const cannotWait = options === null || options.preview || options.withdraw || options.overwrite;
  if (!isForRoom || cannotWait || isOfPatch(settings.door) || mayWait(settings, options)) return refusal;
  return new Refusal(refusal.code, refusal.reason, [...refusal.lines, WAIT_ADVICE], refusal);
}
