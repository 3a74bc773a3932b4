/** What Forgejo's and Gitea's REST interface answers with, as far as it is read here; and what that means. */
import type { Repository } from '../code-host.ts';
import { expectFlag, expectNumber, expectRepository, expectSize } from '../rest/answer.ts';

export interface AnsweredUser {
  readonly id: number;
  readonly login: string;
}

export interface AnsweredRepository {
  readonly id: number;
  readonly name: string;
  readonly owner: AnsweredUser & { readonly visibility?: string };
  readonly private: boolean;
  /** Its owner shows it only to people who are signed in. */
  readonly internal?: boolean;
  readonly archived: boolean;
  readonly has_pull_requests?: boolean;
  /** It follows another server's repository, and takes no pull requests (`CanEnablePulls` in models/repo/repo.go). */
  readonly mirror?: boolean;
  readonly size: number;
}

export interface AnsweredPull {
  /** Of all pull requests on the server. */
  readonly id: number;
  readonly number: number;
  readonly title: string;
  readonly body?: string | null;
  readonly html_url: string;
  readonly user: AnsweredUser | null;
  readonly state: string;
  readonly merged: boolean;
  readonly merged_at: string | null;
  readonly closed_at: string | null;
  readonly base: { readonly ref: string; readonly repo?: { readonly default_branch?: string } | null };
  /** `refs/pull/<number>/head`: one that was opened by a push to upstream has no branch, and no label. */
  readonly head: { readonly ref: string; readonly sha: string; readonly repo: AnsweredRepository | null };
}

export interface AnsweredComment {
  readonly id: number;
  readonly html_url: string;
  readonly user: AnsweredUser | null;
  readonly body: string;
  /** ISO 8601. */
  readonly created_at: string;
}

export interface AnsweredReview {
  readonly id: number;
  readonly user: AnsweredUser | null;
  readonly state: string;
  readonly html_url: string;
  readonly body: string;
  /** ISO 8601. */
  readonly submitted_at: string;
  /** Of its remarks on lines. */
  readonly comments_count: number;
}

/** A request for a review, or one that is being written, is none yet. */
export function isSent({ state }: AnsweredReview): boolean {
  return state !== 'REQUEST_REVIEW' && state !== 'PENDING';
}

export function toRepository(data: AnsweredRepository): Repository {
  const id = expectNumber(data.id);
  // An owner may be visible to nobody, or only to people who are signed in, as the bot is.
  const isOwnerPublic = (data.owner.visibility ?? 'public') === 'public';
  return {
    ...expectRepository(data),
    id,
    // Forks share no objects, and an account may fork each repository of a network.
    networkId: id,
    isPrivate: expectFlag(data.private) || data.internal === true || !isOwnerPublic,
    isArchived: expectFlag(data.archived),
    pullRequests: data.has_pull_requests === false || data.mirror === true ? 'none' : 'all',
    sizeKb: expectSize(data.size),
  };
}

/** Nothing says which topic it was pushed with. */
export function withBranch(pull: AnsweredPull): AnsweredPull & { readonly branch: null } {
  return { ...pull, branch: null };
}

/** @param login the bot's */
export function isBots(
  { user }: { readonly user: { readonly login: string } | null },
  login: string,
): boolean {
  return user?.login.toLowerCase() === login.toLowerCase();
}
