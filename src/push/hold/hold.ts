/**
 * Instead of act three: stores a publishable push, encrypted, to be published later (release.ts). The person gets its
 * hash, and its page shows its state.
 */
import type { HeldView, HoldReason } from '../../durable/held-pushes/held-push-record.ts';
import { randomMoment } from '../../secret/random-moment.ts';
import type { Spool } from '../../spool/spool.ts';
import { type HeldHashes, heldHashesOf, type Pushed } from '../push-hashes.ts';
import { keyToShow } from '../pr-key.ts';
import type { PushRun } from '../push-run.ts';
import type { PushOptions } from '../receive/push-options.ts';
import type { HeldFacts, HoldWindow } from '../reply/banner.ts';
import { repeatCommand } from '../reply/banner.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate, type Publishable } from '../verdict/verdict.ts';
import { encodeHeld } from './held-push.ts';
import { isMomentary } from './release.ts';

const HOUR_MS = 60 * 60 * 1000;
/** No push is held for longer. */
const LIFE_MS = 14 * 24 * HOUR_MS;
/** A push that waits only for the code host. */
const BUSY_LIFE_MS = 24 * HOUR_MS;
/** The pause before the first attempt. */
const BUSY_PAUSE_MS = 60_000;

/** The answer of a push that is held. */
export interface HeldOutcome {
  readonly kind: 'held';
  readonly facts: HeldFacts;
}

/** The held push that this push replaces. It is locked, so nobody else can publish it. */
export interface Replaced {
  readonly kind: 'replaced';
  readonly view: HeldView;
  readonly lease: string;
}

/** What is held. */
export interface ToHold {
  readonly push: Publishable;
  readonly spool: Spool;
  readonly pushHash: string;
}

export interface HoldPlan {
  readonly reason: HoldReason;
  readonly window: HoldWindow;
}

/** Whether a push waits if the host does not accept it now. */
export function mayWait({ settings }: Pick<PushRun, 'settings'>, { wait }: PushOptions): boolean {
  return wait || settings.whenBusy === 'hold';
}

/** What one push needs to be held. */
export class Holding {
  readonly #run: PushRun;
  readonly #pushed: Pushed;

  constructor(run: PushRun, pushed: Pushed) {
    this.#run = run;
    this.#pushed = pushed;
  }

  /**
   * What is held under the hash that this push names; null: nothing. If it is the same push, it stays held; otherwise
   * this push replaces it. @param found the record of that hash. @throws Refusal
   */
  async earlier(found: HeldView | null): Promise<HeldOutcome | Replaced | null> {
    const { host, claims } = this.#run;
    const { preview, delayMs } = this.#pushed.options;
    if (found?.state !== 'held' || found.host !== host.hostKey || preview) return null;
    const { same } = await this.#hashes();
    if (found.same === same && delayMs !== 0) {
      return this.#outcome(found.prHash, found.reason, found);
    }
    const { lease } = await claims.takeHold(found.prHash);
    return { kind: 'replaced', view: found, lease };
  }

  /**
   * Whether the hash that this push names must still be kept from the host. @param found as for `earlier`. If
   * publishing has begun, the host may have a pull request with that hash, which this push then updates.
   */
  isUnheardOf(found: HeldView | null): boolean {
    if (found?.state !== 'held' || found.host !== this.#run.host.hostKey || found.isUpdate) return false;
    return !found.isBegun;
  }

  /** Like `earlier`, for a push without a hash that its client has sent before. @throws Refusal */
  async earlierSame(): Promise<HeldOutcome | Replaced | null> {
    const { push } = await this.#hashes();
    return this.earlier(await this.#run.host.findHeld(push));
  }

  /** Why and how long to hold this push; null: publish it now. */
  async plan({ repository }: Publishable, replaced: Replaced | null): Promise<HoldPlan | null> {
    const { host, settings } = this.#run;
    const { delayMs } = this.#pushed.options;
    const now = host.clock.now();
    // A push that replaces a held one is published when that one would have been.
    const window =
      replaced !== null && delayMs === null
        ? replaced.view
        : delayed(now, delayMs ?? settings.publishDelayMs);
    const isNew = settings.review === 'new' && !(await host.isKnownRepository(repository));
    if (settings.review === 'all' || isNew) return { reason: 'review', window };
    return window.to > now ? { reason: 'delay', window } : null;
  }

  /** How to hold a push that could not be published, until the host accepts it. @throws the error, if it is not held. */
  afterFailure(error: unknown): HoldPlan {
    if (!(error instanceof Refusal && isMomentary(error))) throw error;
    if (!mayWait(this.#run, this.#pushed.options)) throw withAdvice(error);
    const now = this.#run.host.clock.now();
    return { reason: 'busy', window: { from: now, to: now + BUSY_LIFE_MS } };
  }

  /**
   * @returns null: the same push was held before, and nothing was done.
   * @throws Refusal if there is no room for it, or it cannot be stored. Then nothing of it is kept.
   */
  async hold(
    { reason, window }: HoldPlan,
    prHash: string,
    { push, spool, pushHash }: ToHold,
    replaced: Replaced | null,
  ): Promise<HeldOutcome | null> {
    const { host, claims } = this.#run;
    const now = host.clock.now();
    const until = now + (reason === 'busy' ? BUSY_LIFE_MS : LIFE_MS);
    const updates = isUpdate(push);
    // Lock it, or the same push sent twice at once would be held twice. If publishing has begun, it is locked already.
    let isBegun = claims.begunAs !== null;
    let heldAs = prHash;
    if (!isBegun) {
      const proposed = { prHash, committedAt: 0, isHeld: true } as const;
      const begun = await claims.begin(pushHash, push.repository, proposed);
      if (begun === null) return null;
      isBegun = begun.isRepeated;
      // An attempt that was not answered may have opened a pull request.
      if (isBegun && replaced === null) heldAs = begun.intent.prHash;
    }
    const entryBytes = spool.byteLength;
    await spool.write([encodeHeld({ push, pushHash })]);
    const kept = await spool.keep(until);
    const isHeld = await host.hold(
      {
        prHash: heldAs,
        reason,
        ...(await this.#hashes()),
        isUpdate: updates,
        isBegun,
        entryBytes,
        commits: push.commits.length,
        heldAt: now,
        from: window.from,
        to: window.to,
        dueAt: dueAt(reason, window, now),
        until,
      },
      kept,
      replaced?.lease ?? null,
    );
    if (!isHeld) throw noRoom();
    claims.held();
    return this.#outcome(heldAs, reason, window);
  }

  /** Few pushes need them. */
  #hashes(): Promise<HeldHashes> {
    return heldHashesOf(this.#run, this.#pushed);
  }

  async #outcome(prHash: string, reason: HoldReason, { from, to }: HoldWindow): Promise<HeldOutcome> {
    const { settings } = this.#run;
    const key = await keyToShow(this.#run, this.#pushed.options, prHash);
    const prKey = settings.prUpdatePolicy === 'key' ? key : null;
    const command = repeatCommand(this.#run, this.#pushed, { prHash, prKey });
    const facts = { prHash, reason, window: { from, to }, key, pageUrl: settings.pageUrl(prHash), command };
    return { kind: 'held', facts };
  }
}

/** Starts after the delay and ends after twice the delay, so that nobody can compute the time of the push. */
function delayed(now: number, delayMs: number): HoldWindow {
  return { from: now + delayMs, to: now + 2 * delayMs };
}

/** A secret moment. Null: when the operator has approved it. */
function dueAt(reason: HoldReason, { from, to }: HoldWindow, now: number): number | null {
  if (reason === 'review') return null;
  return reason === 'busy' ? now + BUSY_PAUSE_MS : randomMoment(from, to);
}

function withAdvice(refusal: Refusal): Refusal {
  const { reason, lines, code, cause, outcome, waitMs } = refusal;
  const advice = 'Add -o wait, and the service publishes it as soon as the host accepts it.';
  return new Refusal(code, reason, [...lines, advice], {
    cause,
    ...(outcome !== null && { outcome }),
    ...(waitMs !== null && { waitMs }),
  });
}

function noRoom(): Refusal {
  return new Refusal('holds-full', 'the service holds too many pushes', [
    'There is no room left for this push, in total or for your network. Nothing was kept.',
    'Push again later, or publish it at once with -o delay=0s.',
  ]);
}
