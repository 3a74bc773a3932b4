/**
 * Whether a push is let in (contract, 4.6): the panic switch first, then the window of its address, then its work.
 *
 * When it cannot be asked, a push is turned away: an anonymous service without its brake is worse than none.
 */
import type { TrackedPullRequest } from '../guard/tracked-pull-request.ts';
import { RateLimitError } from '../host/rate-limit.ts';
import { Refusal } from './refusal.ts';

export interface Admission {
  /** Counts a push attempt; before anything else. Answers why no push is let in now, or null. Never rejects. */
  enter(): Promise<Refusal | null>;
  /**
   * Takes a place among the pull requests that an address may open within an hour; before the work that opens one.
   * @param key of the pull request to be opened. A push that is repeated has the same, and takes no second place.
   * @throws Refusal if there is none left.
   */
  reserve(key: string): Promise<Place>;
}

export interface Place {
  /** The pull request is open. Never rejects. */
  opened(pullRequest: Omit<TrackedPullRequest, 'pushedAt'>): Promise<void>;
  /** None was opened, and the place is free again. Never rejects; nothing happens after `opened`. */
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

export const rateLimited = (): Refusal =>
  new Refusal(
    'rate limit exceeded',
    ['Rate limit exceeded: max 5 PRs per hour per IP.', 'Please try again later.'],
    { outcome: 'rate-limited' },
  );

export const unguarded = (cause: unknown): Refusal =>
  new Refusal('the service cannot check its limits', ['Nothing was changed. Push again in a few minutes.'], {
    cause,
  });
