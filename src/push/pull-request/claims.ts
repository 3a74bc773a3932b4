/**
 * What a push locks before it begins: itself, so that a retry resumes it and two of the same never run at once; and the
 * pull request that it updates, so that two updates never mix.
 *
 * Both are locked in parallel with the look-ups at the host, and released after the answer was sent.
 */
import { recordName } from '../../config/hosts.ts';
import type { DatedCommits } from '../../durable/pull-request/record.ts';
import type { PushIntent } from '../../durable/pending-push.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { keyedHash } from '../../identity/keyed-hash.ts';
import type { PushHost } from '../push-host.ts';
import type { PushOptions } from '../command/push-options.ts';
import { Refusal } from '../reply/refusal.ts';

export interface PushSubject {
  readonly target: RepositoryName;
  readonly tip: string;
  readonly refName: string;
  readonly options: PushOptions;
}

export interface Claimed {
  readonly intent: PushIntent;
  /** True: an earlier attempt at the same push was not answered. */
  readonly isRepeated: boolean;
  /** Of the pull request that the push names; null if it names none, or one that is not listed. */
  readonly update: ClaimedUpdate | null;
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
  readonly #ends: ((isAnswered: boolean) => Promise<void>)[] = [];
  #isRepeated = false;

  constructor(host: PushHost) {
    this.#host = host;
  }

  /** An earlier attempt at the very same push has not been answered. */
  get isRepeated(): boolean {
    return this.#isRepeated;
  }

  /**
   * @param proposed what the push decides unless it is a retry. @param needsKey to update a pull request.
   * @throws Refusal if another push is in progress, or the key is wrong.
   */
  async claim(subject: PushSubject, proposed: PushIntent, needsKey: boolean): Promise<Claimed> {
    const { prHash, prKey } = subject.options;
    const [{ intent, isRepeated }, update] = await Promise.all([
      this.#begin(subject, proposed),
      prHash === null ? null : this.claimListed(prHash, needsKey ? (prKey ?? '') : null),
    ]);
    return { intent, isRepeated, update };
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
    throw new Refusal('the pr-hash is of another code host', [
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
    this.#ends.push(async () => {
      const claimed = await claiming;
      if (claimed?.kind === 'claimed') await object.release(claimed.lease);
    });
    const claimed = await claiming;
    if (claimed === null || claimed.kind === 'elsewhere') return null;
    if (claimed.kind === 'claimed') return claimed;
    if (claimed.kind === 'wrong-key') throw wrongKey();
    throw new PushInProgress('another push to this pull request is in progress', [
      'Push again when it has ended. If its connection broke, push again in a few minutes.',
    ]);
  }

  /** @param isAnswered false if a retry may resume the push. Never rejects. */
  async end(isAnswered: boolean): Promise<void> {
    await Promise.allSettled(this.#ends.splice(0).map((end) => end(isAnswered)));
  }

  async #begin(subject: PushSubject, proposed: PushIntent) {
    const beginning = this.#hashOf(subject).then(async (hash) => {
      const object = this.#host.pendingPush(hash);
      const begun = await object.begin(this.#host.hostKey, subject.target, proposed, this.#host.clock.now());
      const end = async (isAnswered: boolean) => {
        if (begun.kind === 'begun') await object.end(begun.lease, isAnswered);
      };
      return { begun, end };
    });
    this.#ends.push(async (isAnswered) => (await beginning).end(isAnswered));
    const { begun } = await beginning;
    if (begun.kind === 'begun') {
      this.#isRepeated = begun.isRepeated;
      return begun;
    }
    throw new PushInProgress('this push is already in progress', [
      'Wait for its answer. If its connection broke, push again in a few minutes. The service then resumes it.',
    ]);
  }

  async #hashOf({ target, tip, refName, options }: PushSubject): Promise<string> {
    // A ref name contains no space.
    const place = recordName({ key: this.#host.hostKey }, target).toLowerCase();
    const parts = [place, tip, refName, options.base ?? '', options.prHash ?? ''];
    return keyedHash(await this.#host.secret(), 'push', parts.join(' '));
  }
}

/** Whoever waits for the other push may try again. */
export class PushInProgress extends Refusal {}

export function wrongKey(): Refusal {
  return new Refusal('the pr-key is missing or wrong', [
    'This service requires the key that was shown when the pull request was opened:',
    '  git push -o pr-hash=<hash> -o pr-key=<key> ...',
    'If you do not have the key, push without pr-hash. That opens a new pull request.',
  ]);
}
