/**
 * A request to post a comment under a pseudonym, its answer, and how the host is asked for it.
 * Proved by test/durable/identity/identity.test.ts and test/durable/identity/comments.test.ts.
 */
import type { PostedComment } from '../../host/code-host.ts';
import type { ThreadHost } from '../../host/open.ts';
import { Recent } from '../../isolate/recent.ts';
import type { Claim, Denied } from '../../limits/claim.ts';
import { type Failure, HostError } from '../../words/host-error.ts';
import type { CommentAttempt } from './comments.ts';
import { type ModerationFacts, postingDecision } from './moderation.ts';
import type { Pseudonym } from './pseudonym.ts';

/** The requests whose comment the host may have been asked for. */
const asked = new Recent<true>({ most: 10_000 });

/**
 * Answers whether the host may have got the comment of a request that ended without an answer.
 * Believe `false` on one machine only: there, the object runs in the isolate that asks.
 */
export const mayBePosted = (requestId: string): boolean => asked.get(requestId) !== null;

/** Notes that the host is asked for the comment of a request. */
export const noteAsked = (requestId: string): void => asked.set(requestId, true);

export interface CommentRequest {
  /** A random id. */
  readonly id: string;
  /** The key of the code host. */
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  /** The author's own words. */
  readonly body: string;
  /** Scheme and host for the footer's link, such as `https://veil.example`. */
  readonly origin: string;
  /** The limits in which it counts. */
  readonly claim: Claim;
}

/**
 * The answer to a comment. `busy`: too many of this pseudonym wait, or it has waited for too long.
 * `maxCharacters`: room for the author. `denied`: a limit is full, or cannot be asked.
 */
export type CommentOutcome =
  | { readonly kind: 'posted'; readonly url: string; readonly karma: number }
  | { readonly kind: 'blocked' | 'busy' }
  | { readonly kind: 'cooldown'; readonly leftMs: number }
  | { readonly kind: 'too-long'; readonly maxCharacters: number }
  | Denied
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Refuses a pseudonym that may not post now; null: it may. */
export function silencedBy(facts: ModerationFacts): CommentOutcome | null {
  const now = Date.now();
  const decision = postingDecision(facts, now);
  if (decision === 'blocked') return { kind: 'blocked' };
  return decision === 'cooldown' ? { kind: 'cooldown', leftMs: facts.cooldownUntil - now } : null;
}

/**
 * Asks the host once, and searches the thread if the answer is lost. If that is in vain, the
 * attempt stays open.
 */
export async function makeComment(
  { comments }: Pick<Pseudonym, 'comments'>,
  host: ThreadHost,
  attempt: CommentAttempt,
  text: string,
): Promise<PostedComment | Failure> {
  try {
    return await host.createComment(attempt.repository, attempt.number, text);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const { failure } = error;
    if (failure.effect === 'none') {
      comments.forget(attempt);
      return failure;
    }
    const isIt = (other: string): boolean => withoutReturns(other) === withoutReturns(text);
    return (await comments.find(host, attempt, isIt).catch(() => null)) ?? failure;
  }
}

/** Leaves out what a host may change: line breaks. */
const withoutReturns = (text: string): string => text.replaceAll('\r\n', '\n').trim();
