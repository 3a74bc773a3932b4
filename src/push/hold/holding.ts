/**
 * Whether a push is held, and why. One for each push; `session.ts` asks it, in the order of the methods.
 */
import type { HeldView, HoldReason } from '../../durable/held-pushes/held-push-record.ts';
import type { Spool } from '../../spool/spool.ts';
import { inProgress, wrongKey } from '../claims.ts';
import type { HeldHashes } from '../push-hashes.ts';
import type { PushRun } from '../push-run.ts';
import type { PushOptions } from '../receive/push-options.ts';
import { updateCommand } from '../reply/banner.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate, type Publishable } from '../verdict/verdict.ts';
import type { TakenHold } from '../push-host.ts';
import { delayed, holdPush, type HoldWindow, whenHostMay } from './hold.ts';
import { isMomentary } from './release.ts';
import type { HeldFacts } from './reply.ts';

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

export class Holding {
  readonly #run: PushRun;
  readonly #options: PushOptions;
  readonly #refName: string;
  readonly #hashes: HeldHashes;
  /** As the push gave it; null: none is required. */
  readonly #key: string | null;
  /** The held push that this one takes the place of. */
  #before: HeldView | null = null;
  #taken: TakenHold | null = null;

  constructor(run: PushRun, options: PushOptions, refName: string, hashes: HeldHashes, key: string | null) {
    this.#run = run;
    this.#options = options;
    this.#refName = refName;
    this.#hashes = hashes;
    this.#key = key;
  }

  /**
   * What is held under the hash that this push names, or as the same push. Null: it goes on. Then nobody else can
   * publish that any more. @param found what is known of it. @throws Refusal
   */
  async stillHeld(found: HeldView | null): Promise<HeldFacts | null> {
    const { host } = this.#run;
    if (found?.state !== 'held' || found.host !== host.hostKey || this.#options.preview) return null;
    if (found.same === this.#hashes.same && this.#options.delayMs !== 0) {
      return this.#facts(found.prHash, found.reason, found, null);
    }
    const taken = await host.holds.take(found.prHash, this.#key);
    if (taken === 'wrong-key') throw wrongKey();
    if (taken === null) throw inProgress('this push is being published', 'Look at its page in a minute.');
    [this.#before, this.#taken] = [found, taken];
    return null;
  }

  /** The same of a push that names no hash, and that somebody has held before. @throws Refusal */
  async heldBefore(): Promise<HeldFacts | null> {
    return this.stillHeld(await this.#run.host.holds.findPush(this.#hashes.push));
  }

  /** Whether it takes the place of a push that was to open a pull request: the host must not hear of its hash yet. */
  get isUnheardOf(): boolean {
    return this.#before?.isUpdate === false;
  }

  /** Whether it takes the place of a held push, and is published now. */
  get isReleasing(): boolean {
    return this.#taken !== null;
  }

  /** The hash of the pull request that it opens. */
  newPrHash(): string {
    return this.#before?.prHash ?? this.#run.settings.newPrHash();
  }

  /** Null: it is published now. */
  async plan({ repository }: Publishable): Promise<HoldPlan | null> {
    const { host, settings } = this.#run;
    const { delayMs } = this.#options;
    const now = host.clock.now();
    // What takes the place of a held push is published when that would have been.
    const isInherited = this.#before !== null && delayMs === null;
    const window = isInherited
      ? (this.#before as HeldView)
      : delayed(now, delayMs ?? settings.publishDelayMs);
    const isNew = settings.review === 'new' && !(await host.isKnownRepository(repository));
    if (settings.review === 'all' || isNew) return { reason: 'review', window };
    return window.to > now ? { reason: 'delay', window } : null;
  }

  /** Whether it waits if the host does not take it. */
  get mayWait(): boolean {
    return mayWait(this.#run, this.#options);
  }

  /**
   * For a push that could not be published: what it is held as until the host takes it. @throws the error, if it is not.
   */
  afterFailure(error: unknown): HoldPlan {
    if (!(error instanceof Refusal && isMomentary(error))) throw error;
    if (!this.mayWait) throw withAdvice(error);
    return { reason: 'busy', window: whenHostMay(this.#run.host.clock.now()) };
  }

  /** @throws Refusal */
  async hold({ reason, window }: HoldPlan, prHash: string, toHold: ToHold): Promise<HeldFacts> {
    const taken = this.#taken;
    const isOld = taken !== null || isUpdate(toHold.push);
    const key = isOld ? this.#key : null;
    const { newKey } = await holdPush(this.#run, {
      reason,
      window,
      prHash,
      hashes: this.#hashes,
      key,
      taken,
      ...toHold,
    });
    this.#taken = null;
    this.#run.claims.held();
    return this.#facts(prHash, reason, window, newKey);
  }

  /** It is a pull request: what it takes the place of is held no more. Never rejects. */
  async published(): Promise<void> {
    await this.#taken?.published();
  }

  /** Never rejects. */
  async end(): Promise<void> {
    const taken = this.#taken;
    this.#taken = null;
    await taken?.giveBack();
  }

  #facts(prHash: string, reason: HoldReason, { from, to }: HoldWindow, prKey: string | null): HeldFacts {
    const { settings, target } = this.#run;
    const needsKey = settings.prUpdatePolicy === 'key';
    const { signOff, squash, base } = this.#options;
    const repeated = {
      prHash,
      prKey: needsKey ? (prKey ?? this.#options.prKey ?? '<key>') : null,
      isSignedOff: signOff,
      isSquashed: squash,
      base,
      remoteUrl: settings.remoteUrl(target),
      refName: this.#refName,
    };
    const command = updateCommand(repeated, textOptions(this.#options));
    return { prHash, reason, window: { from, to }, prKey, pageUrl: settings.pageUrl(prHash), command };
  }
}

/** Those that the pull request would keep, if it were open already. */
function textOptions({ title, description, draft, publishNames }: PushOptions): string[] {
  return [
    ...(title === null ? [] : [`title=${title}`]),
    ...(description?.split('\n').map((line) => `description=${line}`) ?? []),
    ...(draft ? ['draft'] : []),
    ...(publishNames ? ['publish-names'] : []),
  ];
}

export function mayWait({ settings }: Pick<PushRun, 'settings'>, { wait }: PushOptions): boolean {
  return wait || settings.whenBusy === 'hold';
}

function withAdvice(refusal: Refusal): Refusal {
  const { reason, lines, code, cause, outcome, waitMs } = refusal;
  const advice = 'With -o wait, the service holds it and publishes it as soon as the host takes it.';
  return new Refusal(code, reason, [...lines, advice], {
    cause,
    ...(outcome !== null && { outcome }),
    ...(waitMs !== null && { waitMs }),
  });
}
