/** What Forgejo's and Gitea's REST interface answers with, as far as it is read here; and what that means. */
import type { Head, Repository } from '../code-host.ts';
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
  readonly parent?: { readonly id: number } | null;
}

export interface AnsweredPull {
  readonly number: number;
  readonly html_url: string;
  readonly user: AnsweredUser | null;
  readonly state: string;
  readonly merged: boolean;
  readonly merged_at: string | null;
  readonly closed_at: string | null;
  readonly base: { readonly ref: string };
  readonly head: {
    /** The branch. `ref` is `refs/pull/<number>/head` once the branch is gone. */
    readonly label: string;
    readonly sha: string;
    readonly repo: AnsweredRepository | null;
  };
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

export function withBranch(pull: AnsweredPull): AnsweredPull & { readonly branch: string } {
  return { ...pull, branch: pull.head.label };
}

/** Whether a pull request is the one of this head. Where the fork is gone, its author had it. */
export function isFrom({ fork, branch }: Head, { head, user }: AnsweredPull): boolean {
  const login = head.repo?.owner.login ?? user?.login;
  return head.label === branch && login?.toLowerCase() === fork.owner.toLowerCase();
}

export function isForkOf(data: AnsweredRepository, repository: Repository, login: string): boolean {
  return data.parent?.id === repository.id && data.owner.login.toLowerCase() === login.toLowerCase();
}
