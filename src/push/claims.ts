/**
 * What a push locks: the pull request that it updates, while it is judged and published, so that two updates never mix;
 * and itself, while it is published, so that two of the same never run at once and a retry resumes it.
 *
 * Both are released when the work is done. Only a push that was published stays locked until its answer was sent: then it
 * is forgotten.
 */
import type { DatedCommits } from '../durable/pull-request/record.ts';
import type { PushIntent } from '../durable/pending-push/pending-push.ts';
import type { RepositoryName } from '../repository-name.ts';
import type { PushHost } from './push-host.ts';
import { Refusal } from './reply/refusal.ts';

export interface BegunPush {
  readonly intent: PushIntent;
  /** True: an earlier attempt at the same push was not answered. */
  readonly isRepeated: boolean;
}

export interface ClaimedUpdate {
  readonly lease: number;
  /** Whether the service knows the pull request. */
  readonly isRecorded: boolean;
  readonly dates: readonly DatedCommits[];
}

export class Claims {
  readonly #host: PushHost;
  /** Release what was claimed. They wait for claims in progress. */
  readonly #updateEnds: (() => Promise<void>)[] = [];
  readonly #pushEnds: ((isAnswered: boolean) => Promise<void>)[] = [];
  /** A retry has something left to do, whether or not this attempt is answered. */
  #isKept = false;
  #isRepeated = false;
  #begunAs: string | null = null;
  #hasFailed = false;
  #isHoldKnown = false;
  #isHeld = false;

  constructor(host: PushHost) {
    this.#host = host;
  }

  /**
   * Null if no pull request of this code host is listed with this pr_hash. It may be older than the list: if the host
   * knows it, claim it then. @throws Refusal as `claimPullRequest`.
   */
  claimListed(prHash: string, key: string | null): Promise<ClaimedUpdate | null> {
    return this.#claimIf(this.#host.mayBeRecorded(prHash), prHash, key);
  }

  /** @param key null if none is required. @throws Refusal */
  async claimPullRequest(prHash: string, key: string | null): Promise<ClaimedUpdate> {
    const claimed = await this.#claimIf(Promise.resolve(true), prHash, key);
    if (claimed !== null) return claimed;
    throw new Refusal('pr-hash', 'the pr-hash is of another code host', [
      'Push without pr-hash. That opens a new pull request.',
    ]);
  }

  /**
   * Null if the answer is no, or it is on another code host. It is released also if the push ends before the answer.
   */
  async #claimIf(
    isWanted: Promise<boolean>,
    prHash: string,
    key: string | null,
  ): Promise<ClaimedUpdate | null> {
    const object = this.#host.pullRequest(prHash);
    const { hostKey, clock } = this.#host;
    const claiming = isWanted.then((wanted) => (wanted ? object.claim(hostKey, key, clock.now()) : null));
    this.#updateEnds.push(async () => {
      const claimed = await claiming;
      if (claimed?.kind === 'claimed') await object.release(claimed.lease);
    });
    const claimed = await claiming;
    if (claimed === null || claimed.kind === 'elsewhere') return null;
    if (claimed.kind === 'claimed') return claimed;
    if (claimed.kind === 'wrong-key') throw wrongKey();
    throw inProgress(
      'another push to this pull request is in progress',
      'Push again when it has ended. If its connection broke, push again in a few minutes.',
    );
  }

  /**
   * Begins to publish, or goes on with what an attempt before this one has begun. No other attempt runs meanwhile.
   * @param pushHash the same for a push that is repeated. @param proposed what the push decides unless it is a retry.
   * @throws Refusal if the same push is in progress; HeldBefore.
   */
  async begin(
    pushHash: string,
    target: RepositoryName,
    proposed: PushIntent & { readonly isHeld?: true },
  ): Promise<BegunPush> {
    const { hostKey, clock } = this.#host;
    const object = this.#host.pendingPush(pushHash);
    const beginning = object.begin(pushHash, hostKey, target, proposed, clock.now(), this.#isHoldKnown);
    this.#pushEnds.push(async (isAnswered) => {
      const begun = await beginning;
      if (begun.kind === 'begun') await object.end(pushHash, begun.lease, isAnswered, this.#isHeld);
    });
    const begun = await beginning;
    if (begun.kind === 'busy') throw pushInProgress();
    if (begun.kind === 'held') throw new HeldBefore();
    this.#isRepeated = begun.isRepeated;
    this.#begunAs = begun.intent.prHash;
    return begun;
  }

  /**
   * No other attempt at the push runs meanwhile, but it is not published.
   * @param prHash under which it will be. @throws Refusal, HeldBefore as `begin`.
   */
  async lock(pushHash: string, target: RepositoryName, prHash: string): Promise<void> {
    await this.begin(pushHash, target, { prHash, committedAt: 0, isHeld: true });
  }

  /** Before anything else of a push becomes public. @throws HeldBefore */
  async checkHeld(pushHash: string): Promise<void> {
    if (this.#isHoldKnown) return;
    const isHeld = await this.#host.pendingPush(pushHash).isHeld(pushHash, this.#host.clock.now());
    if (isHeld) throw new HeldBefore();
  }

  /** The same push was held, and it goes on all the same. */
  holdIsKnown(): void {
    this.#isHoldKnown = true;
  }

  /** It is held now. */
  held(): void {
    this.#isHeld = true;
  }

  /** The hash under which it was begun; null: it was not. */
  get begunAs(): string | null {
    return this.#begunAs;
  }

  /**
   * The push has failed. What is left of it is kept for a retry if this or an earlier attempt may have done something;
   * otherwise it is forgotten, whether or not this attempt is answered.
   */
  failed(isUnknown: boolean): void {
    this.#hasFailed = true;
    this.#isKept ||= isUnknown || this.#isRepeated;
  }

  /** Something is left to do. */
  keep(): void {
    this.#isKept = true;
  }

  /** Others may update the pull request. Never rejects. */
  async endUpdate(): Promise<void> {
    await Promise.allSettled(this.#updateEnds.splice(0).map((end) => end()));
  }

  /** @param isAnswered of one that was published: false if a retry may resume it. Never rejects. */
  async end(isAnswered: boolean): Promise<void> {
    const isOver = (isAnswered || this.#hasFailed) && !this.#isKept;
    const ends = this.#pushEnds.splice(0).map((end) => end(isOver));
    await Promise.allSettled([this.endUpdate(), ...ends]);
  }
}

/** The same push was held, maybe by somebody else: nothing was done. */
export class HeldBefore extends Error {}

/** Whoever waits for the other push may try again. */
export function inProgress(reason: string, advice: string): Refusal {
  return new Refusal('in-progress', reason, [advice]);
}

function pushInProgress(): Refusal {
  return inProgress(
    'this push is already in progress',
    'Wait for its answer. If its connection broke, push again in a few minutes. The service then resumes it.',
  );
}

export function wrongKey(): Refusal {
  return new Refusal('pr-key', 'the pr-key is missing or wrong', [
    'This service requires the key that was shown when the pull request was opened:',
    '  git push -o pr-hash=<hash> -o pr-key=<key> ...',
    'If you do not have the key, push without pr-hash. That opens a new pull request.',
  ]);
}
