/**
 * Whether a push is accepted (contract, 4.6): before its pack is read, the panic switch and the limit of pushes; before
 * the first write at the host, a place of its address, and what is left to the repository and to the bot account.
 *
 * Fails closed: without the panic switch and the limits, an anonymous service could be flooded.
 */
import type { TrackedPullRequest } from '../durable/guard/tracked-pull-request.ts';
import { RateLimitError } from '../host/account/rate-limit.ts';
import { waitText } from '../limits/limits.ts';
import type { Limit } from '../limits/sliding-window.ts';
import type { RepositoryName } from '../repository-name.ts';
import { Refusal } from './reply/refusal.ts';

export interface Admission {
  /**
   * Counts a push attempt, before anything else. Answers why pushes are refused now, or null. Never rejects.
   * @param isWithdrawal it takes something back, however much its client has caused.
   * @param pushHash if it can only open a pull request: what `place` will be asked with.
   * @param mayWait it is held if the code host wants to be left alone.
   */
  enter(isWithdrawal: boolean, pushHash?: () => Promise<string>, mayWait?: boolean): Promise<Refusal | null>;
  /**
   * For a pull request that the push opens. Takes nothing yet.
   * @param pushHash one that is repeated shares its place. @throws Refusal
   */
  place(pushHash: string): Promise<Place>;
  /** Why a place would be refused now; null: it would not. Takes and counts nothing. Never rejects. */
  peek(pushHash: string): Promise<Refusal | null>;
  /**
   * Counts a look-up of a pr_hash that is not listed: before the host is asked, which may know it.
   * @throws Refusal if the client has looked up too many.
   */
  lookUp(): Promise<void>;
  /**
   * Takes a write in the name of the bot account that creates nothing, before the first write at the host.
   * @throws Refusal if the host is to be left alone, or others come first.
   */
  takeShare(): Promise<void>;
  /**
   * Takes what it costs to fork a repository: it counts as something created, whatever becomes of the push.
   * @throws Refusal if the client has had too many, or the account has too little left.
   */
  takeFork(): Promise<void>;
}

/**
 * For one pull request: one of those that an address may open within an hour. Stays taken if nobody knows whether that was
 * opened.
 */
export interface Place {
  /**
   * Takes it, with one of the things that the bot account may create and one of those that may be opened in the
   * repository: all or nothing, before the first write. @param policyLimits those of the repository.
   * @throws Refusal if there is none left, or as `takeShare`.
   */
  take(repository: RepositoryName, policyLimits: readonly Limit[]): Promise<void>;
  /** Takes the place alone, for a pull request that is opened later. @throws Refusal if there is none left. */
  reserve(): Promise<void>;
  /**
   * The push has begun, and no other attempt at it runs. If it has none but a shared place, makes sure that there still
   * is one, or that it has another. @throws Refusal if there is none left.
   */
  settle(isAnother: boolean): Promise<void>;
  /** The pull request is open. Never rejects. */
  opened(pullRequest: Omit<TrackedPullRequest, 'pushedAt'>): Promise<void>;
  /** No pull request was opened. Never rejects; the second time, nothing happens. */
  release(): Promise<void>;
}

export const suspended = (): Refusal =>
  new Refusal('suspended', 'service temporarily suspended', [
    'SERVICE TEMPORARILY SUSPENDED',
    'The service is suspended due to detected bot activity sending mass PRs.',
    'Please retry in 15 minutes.',
  ]);

/** The code host wants to be left alone: a push would fail half-way, and going on can cost the account. */
export function heldBack(hostName: string, pauseMs: number): Refusal {
  const cause = new RateLimitError(hostName, pauseMs);
  return new Refusal(
    'account',
    'the code host asks to wait',
    [cause.publicMessage, 'Nothing was changed there. Push again after that.'],
    { cause, waitMs: pauseMs },
  );
}

/** @param whose `IP` in the contract. @param waitMs null: nobody knows. */
export const rateLimited = (most: number, whose: string, waitMs: number | null): Refusal =>
  new Refusal(
    'rate-limited',
    'rate limit exceeded',
    [
      `Rate limit exceeded: max ${most} PRs per hour per ${whose}.`,
      'Please try again later.',
      ...(waitMs === null ? [] : [`Try again in ${waitText(waitMs)}.`]),
    ],
    { ...(waitMs !== null && { waitMs }) },
  );

/** @param explanation which limit, and how long to wait. */
export const tooManyPushes = (explanation: string): Refusal =>
  new Refusal('rate-limited', 'too many pushes', [explanation]);

/** @param explanation which limit, and how long to wait. */
export const tooManyLookUps = (explanation: string): Refusal =>
  new Refusal('rate-limited', 'too many look-ups', [explanation]);

/** @param explanation which limit, and how long to wait. */
export const tooManyCalls = (explanation: string): Refusal =>
  new Refusal('rate-limited', 'too many requests', [explanation]);

/** @param explanation which limit, and how long to wait. */
export const tooManyForks = (explanation: string): Refusal =>
  new Refusal('rate-limited', 'too many forks', [explanation, 'Nothing was changed.']);

/** @param explanation which limit, and how long to wait. */
export const tooManyThere = (explanation: string, waitMs: number): Refusal =>
  new Refusal(
    'rate-limited',
    'too many pull requests for this repository',
    [explanation, 'Nothing was changed.'],
    { waitMs },
  );

/** @param explanation why, and how long to wait. */
export const othersFirst = (explanation: string, waitMs: number): Refusal =>
  new Refusal('account', 'the bot account has little left', [explanation, 'Nothing was changed.'], {
    outcome: 'rate-limited',
    waitMs,
  });

/** What is left to the bot account is not known. @param explanation how long to wait. */
export const unchecked = (explanation: string, waitMs: number): Refusal =>
  new Refusal('account', 'the service cannot check its limits', [explanation, 'Nothing was changed.'], {
    outcome: 'rate-limited',
    waitMs,
  });

export const unguarded = (cause: unknown): Refusal =>
  new Refusal(
    'unguarded',
    'the service cannot check its limits',
    ['Nothing was changed. Push again in a few minutes.'],
    { cause },
  );
