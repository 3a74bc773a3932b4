/**
 * Whether a push is accepted (contract, 4.6): first the panic switch, then the limits of its address and what is left
 * to the bot account, then its work.
 *
 * Fails closed: without the panic switch and the limits, an anonymous service could be flooded.
 */
import type { TrackedPullRequest } from '../guard/tracked-pull-request.ts';
import { RateLimitError } from '../host/account/rate-limit.ts';
import { Refusal } from './reply/refusal.ts';

export interface Admission {
  /**
   * Counts a push attempt, before anything else. Answers why pushes are refused now, or null. Never rejects.
   * @param mayOpen whether it may open a pull request.
   */
  enter(mayOpen: boolean): Promise<Refusal | null>;
  /**
   * Takes one of the pull requests that an address may open within an hour. Called before the work that opens it.
   * @param key of the pull request to be opened. A repeated push has the same key, and takes no second place.
   * @throws Refusal if there is none left.
   */
  reserve(key: string): Promise<Place>;
  /** The push has ended. Gives back to the bot account what it was to create and has not. Never rejects. */
  leave(): Promise<void>;
}

export interface Place {
  /** The pull request is open. Never rejects. */
  opened(pullRequest: Omit<TrackedPullRequest, 'pushedAt'>): Promise<void>;
  /** Nobody knows whether it was opened: the place, and the share of the bot account, stay taken for a while. */
  keep(): void;
  /** No pull request was opened, so the place is free again. Never rejects; does nothing after `opened`. */
  release(): Promise<void>;
}

export const suspended = (): Refusal =>
  new Refusal(
    'service temporarily suspended',
    [
      'SERVICE TEMPORARILY SUSPENDED',
      'The service is suspended due to detected bot activity sending mass PRs.',
      'Please retry in 15 minutes.',
    ],
    { outcome: 'suspended' },
  );

/** The code host wants to be left alone: a push would fail half-way, and going on can cost the account. */
export function heldBack(hostName: string, pauseMs: number): Refusal {
  const cause = new RateLimitError(hostName, pauseMs);
  return new Refusal(
    'the code host asks to wait',
    [cause.publicMessage, 'Nothing was sent to it. Push again after that.'],
    { cause },
  );
}

/** @param whose `IP` in the contract. */
export const rateLimited = (most: number, whose: string): Refusal =>
  new Refusal(
    'rate limit exceeded',
    [`Rate limit exceeded: max ${most} PRs per hour per ${whose}.`, 'Please try again later.'],
    { outcome: 'rate-limited' },
  );

/** @param explanation which limit, and how long to wait. */
export const tooManyPushes = (explanation: string): Refusal =>
  new Refusal('too many pushes', [explanation], { outcome: 'rate-limited' });

/** @param explanation why, and how long to wait. */
export const othersFirst = (explanation: string): Refusal =>
  new Refusal('the bot account has little left', [explanation, 'Nothing was sent.'], {
    outcome: 'rate-limited',
  });

export const unguarded = (cause: unknown): Refusal =>
  new Refusal('the service cannot check its limits', ['Nothing was changed. Push again in a few minutes.'], {
    cause,
  });
