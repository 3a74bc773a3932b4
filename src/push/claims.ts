/**
 * What a push lays hold of before it begins: itself, so that a repetition goes on where it broke off and two of the
 * same do not run at once; and the pull request that it updates, so that two of those do not mix.
 *
 * Both are asked for beside the look-ups at the host, and given back when the answer has gone out.
 */
import type { DatedCommits } from '../durable/pull-request/record.ts';
import type { PushIntent } from '../durable/pending-push.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import { keyedHash } from '../identity/keyed-hash.ts';
import type { PushHost } from './push-host.ts';
import type { PushOptions } from './push-options.ts';
import { Refusal } from './refusal.ts';

export interface PushSubject {
  readonly target: RepositoryName;
  readonly tip: string;
  readonly refName: string;
  readonly options: PushOptions;
}

export interface Claimed {
  readonly intent: PushIntent;
  /** An earlier attempt at the very same push has not been answered. */
  readonly isRepeated: boolean;
  /** Of the pull request that the push names; null if it names none. */
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
  /** Give back what was claimed; they wait for claims that are under way. */
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
   * @param proposed what the push decides, if it is not a repetition. @param needsKey to update a pull request.
   * @throws Refusal if someone else is at work, or the key is wrong.
   */
  async claim(subject: PushSubject, proposed: PushIntent, needsKey: boolean): Promise<Claimed> {
    const { prHash, prKey } = subject.options;
    const [{ intent, isRepeated }, update] = await Promise.all([
      this.#begin(subject, proposed),
      prHash === null ? null : this.claimPullRequest(prHash, needsKey ? (prKey ?? '') : null),
    ]);
    return { intent, isRepeated, update };
  }

  /** @param key null: none is asked for. @throws Refusal */
  async claimPullRequest(prHash: string, key: string | null): Promise<ClaimedUpdate> {
    const object = this.#host.pullRequest(prHash);
    const claiming = object.claim(key, this.#host.clock.now());
    this.#ends.push(async () => {
      const claimed = await claiming;
      if (claimed.kind === 'claimed') await object.release(claimed.lease);
    });
    const claimed = await claiming;
    if (claimed.kind === 'wrong-key') throw wrongKey();
    if (claimed.kind === 'claimed') return claimed;
    throw new Refusal('another push to this pull request is under way', [
      'Push again when it has ended; if it broke off, in a few minutes.',
    ]);
  }

  /** @param isAnswered false: the push may be repeated, and goes on then. Never rejects. */
  async end(isAnswered: boolean): Promise<void> {
    await Promise.allSettled(this.#ends.splice(0).map((end) => end(isAnswered)));
  }

  async #begin(subject: PushSubject, proposed: PushIntent) {
    const beginning = this.#hashOf(subject).then(async (hash) => {
      const object = this.#host.pendingPush(hash);
      const begun = await object.begin(subject.target, proposed, this.#host.clock.now());
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
    throw new Refusal('this push is under way already', [
      'Wait for its answer. If it broke off, push again in a few minutes: it then goes on where it was.',
    ]);
  }

  async #hashOf({ target, tip, refName, options }: PushSubject): Promise<string> {
    // A ref name holds no space.
    const parts = [fullName(target).toLowerCase(), tip, refName, options.base ?? '', options.prHash ?? ''];
    return keyedHash(await this.#host.secret(), 'push', parts.join(' '));
  }
}

export function wrongKey(): Refusal {
  return new Refusal('the pr-key is missing or wrong', [
    'This service asks for the key that was shown when the pull request was opened:',
    '  git push -o pr-hash=<hash> -o pr-key=<key> ...',
    'Without it, push without pr-hash: that opens a new pull request.',
  ]);
}
