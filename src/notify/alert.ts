/**
 * The operator's alerts (contract, section 6): what they are about, and what the operator may do.
 */
import type { TokenProblem } from '../host/account/token-problems.ts';

export type Action = 'activate-panic' | 'rollback' | 'deactivate-panic' | 'review' | `pardon ${string}`;

/** Names the action that pardons one pseudonym, so that its token is valid for no other. */
export function pardonOf(hash: string): Action {
  return `pardon ${hash}`;
}

export type Alert =
  /**
   * A burst of pushes or of private reports, or a flood of comments and issues. `most`: those of
   * the busiest client.
   */
  | ({ readonly kind: 'burst' | 'flood' | 'reports'; readonly most: number } & BurstFigures)
  /** `client`: a pseudonym, as no address is stored. `most`: the limit; default: the contract's. */
  | {
      readonly kind: 'rate-limit';
      readonly client: string;
      readonly attempts: number;
      readonly most?: number;
    }
  | { readonly kind: 'token'; readonly account: AccountPlace; readonly problems: readonly TokenProblem[] }
  | { readonly kind: 'renamed'; readonly hostName: string; readonly before: string; readonly login: string }
  /** Reports about a pseudonym. `isLast`: further such alerts wait until the hour is over. */
  | ({ readonly kind: 'moderation'; readonly isLast?: boolean } & ModerationNews)
  /** An appeal. `text`: the words of the pseudonym's author. */
  | ({ readonly kind: 'appeal'; readonly text: string } & Pick<ModerationNews, 'hash' | 'state' | 'reports'>)
  /** Delayed pushes wait for the operator. `waiting`: how many. */
  | { readonly kind: 'review'; readonly waiting: number }
  /** A test of whether alerts arrive. It is sent at once, and never kept. */
  | { readonly kind: 'test' }
  /** `byMs`: how far the code host's clock is ahead; null if the host does not tell its time. */
  | { readonly kind: 'clock'; readonly byMs: number | null }
  /** A sum of those alerts of a kind that were too many to send one by one. */
  | { readonly kind: 'more'; readonly of: CappedKind; readonly count: number };

/**
 * Kinds of alerts that somebody outside can cause often. The words complete "Within the last hour
 * there were 57 more alerts about".
 */
export const CAPPED = {
  burst: 'bursts of pushes',
  flood: 'floods of comments and issues',
  reports: 'bursts of private reports',
  'rate-limit': 'clients over the limit of pull requests',
  token: 'the token of the bot account',
} as const;
export type CappedKind = keyof typeof CAPPED;

/** How many events there were within the last minute, and from how many distinct addresses. */
export type BurstFigures = { readonly events: number; readonly addresses: number };

/** The account that an alert is about: its code host, and the variable that holds its token. */
export type AccountPlace = { readonly hostName: string; readonly variable: string };

/** Consequences of reports for a pseudonym. `comments`: how many are not deleted yet. */
export interface ModerationNews {
  readonly hash: string;
  readonly state: 'flagged' | 'blocked';
  readonly reports: number;
  readonly comments: number;
  /**
   * The repository of its comments: `octo/hello`, or `cb/octo/hello` elsewhere; null: no comments.
   */
  readonly repository: string | null;
}

/** The page on which the operator sees whether alerts arrive. */
export const OPERATOR_PATH = '/admin';
/** The page on which the operator sees delayed pushes. */
export const REVIEW_PATH = '/admin/delayed';

/**
 * Makes the pseudonym that stands in place of an address.
 * @param hash the keyed hash of the address.
 */
export function pseudonymOf(hash: string): string {
  return `client-${hash.slice(0, 8)}`;
}

/** Names what an alert is about, also if it says that there are more of a kind. */
export function subjectOf(alert: Alert): string {
  return alert.kind === 'more' ? alert.of : alert.kind;
}

export function actionsOf(alert: Alert): readonly Action[] {
  if (alert.kind === 'review') return ['review'];
  if ('hash' in alert) return [pardonOf(alert.hash)];
  // No button can replace a token or set a clock.
  const subject = subjectOf(alert);
  if (['token', 'clock', 'renamed', 'test'].includes(subject)) return [];
  // Nothing can take a private report back.
  if (subject === 'reports') return ['activate-panic', 'deactivate-panic'];
  return ['activate-panic', 'rollback', 'deactivate-panic'];
}
