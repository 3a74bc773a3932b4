/**
 * In place of act three: a publishable push is kept, encrypted, and published later (release.ts). Its person has the
 * hash, and its page says how it stands.
 */
import type { HeldView, HoldReason } from '../../durable/held-pushes/held-push-record.ts';
import { randomMoment } from '../../secret/random-moment.ts';
import type { Spool } from '../../spool/spool.ts';
import { type HeldHashes, heldHashesOf, type Pushed } from '../push-hashes.ts';
import { keyToShow } from '../pr-key.ts';
import type { PushRun } from '../push-run.ts';
import type { PushOptions } from '../receive/push-options.ts';
import type { HeldFacts, HoldWindow } from '../reply/banner.ts';
import { repeatCommand } from '../reply/repeat.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate, type Publishable } from '../verdict/verdict.ts';
import { encodeHeld } from './held-push.ts';
import { isMomentary } from './release.ts';

const HOUR_MS = 60 * 60 * 1000;
/** No push is held for longer. */
const LIFE_MS = 14 * 24 * HOUR_MS;
/** One that waits only for the code host. */
const BUSY_LIFE_MS = 24 * HOUR_MS;
/** Before it is tried for the first time. */
const BUSY_PAUSE_MS = 60_000;

/** The answer of a push that is held. */
export interface HeldOutcome {
  readonly kind: 'held';
  readonly facts: HeldFacts;
}

/** The held push that a push takes the place of: nobody else can publish it any more. */
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

/** Whether a push waits if the host does not take it. */
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
   * What is held under the hash that this push names. Null: nothing. If it is the same push, it stays held; otherwise this
   * one takes its place. @param found what is known of it. @throws Refusal
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
   * Whether the host must not hear yet of the hash that this push names. @param found as `earlier` has it. If it was
   * begun, the host may have a pull request of it, which this push then updates.
   */
  isUnheardOf(found: HeldView | null): boolean {
    if (found?.state !== 'held' || found.host !== this.#run.host.hostKey || found.isUpdate) return false;
    return !found.isBegun;
  }

  /** As `earlier` for a push that names no hash, and that its client has held before. @throws Refusal */
  async earlierSame(): Promise<HeldOutcome | Replaced | null> {
    const { push } = await this.#hashes();
    return this.earlier(await this.#run.host.findHeld(push));
  }

  /** Null: it is published now. */
  async plan({ repository }: Publishable, replaced: Replaced | null): Promise<HoldPlan | null> {
    const { host, settings } = this.#run;
    const { delayMs } = this.#pushed.options;
    const now = host.clock.now();
    // What takes the place of a held push is published when that would have been.
    const window =
      replaced !== null && delayMs === null
        ? replaced.view
        : delayed(now, delayMs ?? settings.publishDelayMs);
    const isNew = settings.review === 'new' && !(await host.isKnownRepository(repository));
    if (settings.review === 'all' || isNew) return { reason: 'review', window };
    return window.to > now ? { reason: 'delay', window } : null;
  }

  /**
   * For a push that could not be published: what it is held as until the host takes it. @throws the error, if it is not.
   */
  afterFailure(error: unknown): HoldPlan {
    if (!(error instanceof Refusal && isMomentary(error))) throw error;
    if (!mayWait(this.#run, this.#pushed.options)) throw withAdvice(error);
    const now = this.#run.host.clock.now();
    return { reason: 'busy', window: { from: now, to: now + BUSY_LIFE_MS } };
  }

  /**
   * @returns null: the same push was held before, and nothing was done.
   * @throws Refusal if there is no room for it, or it cannot be kept. Then nothing of it is left.
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
    // Two of the same at once would be held as two. One that was begun to be published is locked already.
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

/** From the delay on, and at most twice as long, so that the time of the push does not follow. */
function delayed(now: number, delayMs: number): HoldWindow {
  return { from: now + delayMs, to: now + 2 * delayMs };
}

/** Told nobody. Null: when the operator has seen it. */
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
