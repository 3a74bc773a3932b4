/**
 * What the methods of a code host take and give, in the service's own words; `open.ts` opens the
 * hosts.
 */
import type { Oid } from '../git/objects/oid.ts';
import type { RepositoryName } from '../words/repository-name.ts';

/** The bot, as the host knows it. */
export interface Account {
  /** Stays the same when the account is renamed. */
  readonly id: number;
  readonly login: string;
}

export interface Repository extends RepositoryName {
  readonly id: number;
  /** Id of the repository that it shares a network of forks with; its own if there is none. */
  readonly networkId: number;
  readonly isPrivate: boolean;
  readonly isArchived: boolean;
  /** Whose pull requests it takes. `collaborators`: the bot is none. */
  readonly pullRequests: 'all' | 'collaborators' | 'none';
  readonly sizeKb: number;
}

/** What an issue is, as the end of a sentence. */
export type NotOpen = 'does not exist' | 'was moved' | 'is a pull request' | 'is closed';

export type FileAnswer =
  | { readonly kind: 'file'; readonly content: Uint8Array }
  /**
   * `unreadable`: a folder or a submodule, or more than 1 MB. `missing`: no such path, or no such
   * repository.
   */
  | { readonly kind: 'unreadable' | 'missing' };

/**
 * What pull requests of one pr_hash have in common: a branch of the bot's, or a topic of its pushes
 * to upstream.
 */
export interface Head {
  /** The bot's login. */
  readonly owner: string;
  readonly branch: string;
}

/** Where a pull request was when it was recorded. */
export interface PullRequestPlace {
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  /** As `HostPullRequest` has it. */
  readonly id?: number;
}

/** Where the commits of a pull request are. */
export interface Source {
  readonly repository: RepositoryName;
  readonly refName: string;
}

/** A branch upstream, and the commit that it points to. */
export interface UpstreamBranch {
  readonly repository: RepositoryName;
  readonly name: string;
  readonly tip: Oid;
}

export interface HostPullRequest {
  readonly number: number;
  readonly url: string;
  readonly isOpen: boolean;
  /** The branch to merge into. */
  readonly base: string;
  /** Null: its fork is gone. */
  readonly source: Source | null;
  /** The bot's fork that has its branch; null: it is gone, or there never was one. */
  readonly fork: RepositoryName | null;
  /**
   * The host's own number, where `PullRequestState` has it in place of the branch. Stays the same
   * after a rename.
   */
  readonly id?: number;
}

export interface PullRequestChanges {
  readonly title?: string;
  readonly body?: string;
  readonly base?: string;
}

export interface NewPullRequest extends Required<PullRequestChanges> {
  readonly head: Head;
  readonly isDraft: boolean;
}

export type ClosedPullRequest =
  /** @property at as the host writes it; null if it does not say. */
  | { readonly kind: 'closed'; readonly at: string | null }
  /** It was merged already, so there was nothing to close. */
  | { readonly kind: 'merged' };

/**
 * What a push to `refs/for/<base>` is to do: to open a pull request, or to update the open one of
 * its topic.
 */
export interface AgitRequest {
  readonly base: string;
  readonly topic: string;
  /** Null: the open one keeps its text. */
  readonly text: Pick<NewPullRequest, 'title' | 'body' | 'isDraft'> | null;
  /** Whether commits may go from the open one. */
  readonly isForced: boolean;
}

export interface PostedComment {
  readonly id: number;
  readonly url: string;
}

export interface CommentWithText extends PostedComment {
  readonly text: string;
}

export interface NewIssue {
  readonly title: string;
  readonly body: string;
  /** By name. A host drops those that it does not know, or that the bot may not set. */
  readonly labels: readonly string[];
}

export interface PostedIssue {
  readonly number: number;
  readonly url: string;
}

/** A pull request that someone touched. */
export interface FeedThread {
  readonly id: string;
  /**
   * True: the host says that the bot opened it. False proves nothing: the host may name another
   * reason, or none.
   */
  readonly isByBot: boolean;
  readonly repository: RepositoryName;
  readonly number: number;
  /** Milliseconds since 1970, in whole seconds. */
  readonly updatedAt: number;
}

export interface Feed {
  /** Null: nothing has changed since the given time. */
  readonly threads: readonly FeedThread[] | null;
  /** Sent back unchanged in the next request; null if the host knows no such thing. */
  readonly lastModified: string | null;
  readonly pollIntervalMs: number;
}

/** A comment, or a review with all its remarks. */
export interface Remark {
  /** Names it among all remarks of its pull request: `comment:<id>` or `review:<id>`. */
  readonly key: string;
  /** The number of the account: its name may change. */
  readonly authorId: number | null;
  readonly url: string;
  /** ISO 8601. */
  readonly at: string;
  /** What it says of the change, if it is a review with a verdict. */
  readonly kind: 'commented' | 'reviewed' | 'approved' | 'changes-requested';
  readonly text: string;
}

export interface PullRequestState {
  readonly number: number;
  readonly url: string;
  readonly authorId: number | null;
  /** The branch to be merged; null: the host does not say. */
  readonly branch: string | null;
  /** The host's own number, if there is no branch. */
  readonly id?: number;
  readonly mergedAt: string | null;
  readonly closedAt: string | null;
}

/**
 * What somebody has written on a thread: its description, a comment, a review or a remark on a
 * line.
 */
export interface ThreadComment {
  /** The login; null: the account is gone. */
  readonly author: string | null;
  /** ISO 8601. */
  readonly at: string;
  /** As it was typed. */
  readonly text: string;
  /** The file that it is about; null: none. */
  readonly path: string | null;
}

/** An issue or a pull request, with what was written on it. */
export interface Conversation {
  readonly title: string;
  readonly state: 'open' | 'closed' | 'merged';
  /**
   * When it was closed or merged, as the host writes it; null: it is open, or the host does not
   * say.
   */
  readonly closedAt: string | null;
  /** True: only the people of the repository may comment. */
  readonly isLocked: boolean;
  /** The newest first, at most 50. */
  readonly comments: readonly ThreadComment[];
}

/** An issue that was transferred to another public repository. */
export interface MovedThread {
  readonly movedTo: string;
}

/** What a call to the host is made for. */
export type ActivityCall = 'feed' | 'account' | 'pull_request' | 'comments' | 'reviews';
