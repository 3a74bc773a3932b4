/**
 * Decides whether a push that was judged is published now or later, and publishes it.
 * Proved by test/push/session.test.ts and test/e2e/delayed/delayed-busy.test.ts.
 */
import type { DelayedView } from '../durable/delayed-pushes/delayed-push.ts';
import { changesText } from '../text/commit-changes.ts';
import { workBranch } from '../words/pr-hash.ts';
import { busyPlan, type DelayPlan, isFull, mayWait, withAdvice } from './delay/keep.ts';
import type { JudgedPush } from './judge-push.ts';
import { mayBeOpen } from './publish/delivery.ts';
import { enterNow } from './publish/live-attempt.ts';
import { type Entered, publish } from './publish/publish.ts';
import type { Slot } from './push-host.ts';
import type { PushRun } from './push-run.ts';
import type { Received } from './receive/receive.ts';
import type { BannerFacts } from './reply/banner.ts';
import { isUpdate } from './verdict.ts';

type Decided =
  | { readonly kind: 'now'; readonly entered: Entered }
  | { readonly kind: 'later'; readonly plan: DelayPlan; readonly slot: Slot | null }
  /** The same push waits, and is published when that was to be. */
  | { readonly kind: 'waits'; readonly view: DelayedView };

/**
 * Decides whether the push is published now or later. Nothing has been written at the host yet.
 * @throws Refusal
 */
export async function nowOrLater(
  run: PushRun,
  { options, pack }: Received,
  { work, place: says, slotHash, receivedHash, claim, updates, updated, compared }: JudgedPush,
  planned: DelayPlan | null,
): Promise<Decided> {
  const { host, limits, settings, store } = run;
  const slot = updates ? null : await limits.slot(slotHash);
  const later = (plan = busyPlan(host.clock.now())): Decided => ({ kind: 'later', plan, slot });
  if (says === null) return later(planned ?? undefined);
  const push = { ...work, ...says };
  const pushHash = await store.attemptHash(receivedHash);
  const changes = async () => updated;
  const publication = { push, spool: pack.spool, pushHash, claim, changes, compared, slot };
  try {
    const finding = slot === null ? null : store.findWaiting(receivedHash);
    // Without a slot, nothing is told of what is found.
    finding?.catch(() => {});
    run.consent.stillThere();
    const entered = await enterNow(run, publication);
    const view = await finding;
    if (view === null) return { kind: 'now', entered };
    // Who has asked for a delay must not become public because a retry lacks the option.
    await slot?.release();
    return { kind: 'waits', view };
  } catch (error) {
    await slot?.release();
    // Nothing was sent.
    run.claims.failed(false);
    if (!isFull(error)) throw error;
    if (!mayWait(settings, options)) throw withAdvice(run, options, error);
    return later();
  }
}

/** Publishes it, and says what the person is told. @throws Refusal */
export async function publishedNow(
  run: PushRun,
  { options, taken }: Received,
  entered: Entered,
  { updated }: JudgedPush,
): Promise<BannerFacts> {
  const { settings } = run;
  const { push, slot } = entered.publication;
  try {
    const published = await publish(run, entered);
    const { prHash, key, isRepeated, isUnchanged, hasEdited, isDouble } = published;
    const { pullRequest, author, newRemarks } = published;
    return {
      updated: isUpdate(push),
      changes: isUnchanged ? '' : updated && changesText(updated),
      hasEdited,
      isRepeated,
      isDouble,
      prUrl: pullRequest.url,
      author,
      branch: workBranch(prHash),
      prHash,
      key: prHash === push.prHash ? null : key,
      prKey: settings.prUpdatePolicy === 'key' ? (key ?? '<key>') : null,
      isSignedOff: push.isSignedOff,
      stripsTrails: push.stripsTrails,
      isSquashed: options.squash,
      isDraft: push.isDraft,
      base: options.base,
      pageUrl: settings.pageUrl(prHash),
      newRemarks,
      subscribeUrl: settings.topicUrl(prHash),
      remoteUrl: settings.remoteUrl(push.repository),
      refName: taken.command.refName,
      door: settings.door,
    };
  } catch (error) {
    if (!mayBeOpen(error)) await slot?.release();
    throw error;
  }
}
