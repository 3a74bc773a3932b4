/**
 * A code host in the service's own words. Everything outside this folder speaks to a host through these interfaces and
 * through `GitTransport`; which kind of host it is, only `open.ts` knows.
 *
 * All methods reject with HostError; its code says what the caller may conclude:
 * - `refused`, `missing`, `moved`, `rate-limited`: the host has understood, and has done nothing.
 * - `unreachable`: nobody knows whether it was done. A method that is marked as **repeatable** may be called again,
 *   with the same result. What a method does that is marked as **once** must be looked for before anybody tries again;
 *   some of these methods do that themselves, and say so.
 *
 * A write to a repository that was renamed goes to its new name, if that is public.
 */
import type { Oid } from '../git/objects/oid.ts';
import type { RepositoryName } from '../repository-name.ts';

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
  /** A folder or a submodule, or more than 1 MB. */
  | { readonly kind: 'unreadable' }
  /** No such path, or no such repository. */
  | { readonly kind: 'missing' };

/** What the pull requests of one pr_hash have in common: a branch of the bot's, or the topic of its pushes to upstream. */
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
  /** As `PullRequest` has it. */
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

export interface PullRequest {
  readonly number: number;
  readonly url: string;
  readonly isOpen: boolean;
  /** The branch to merge into. */
  readonly base: string;
  /** Null: its fork is gone. */
  readonly source: Source | null;
  /** The bot's fork that has its branch; null: it is gone, or there never was one. */
  readonly fork: RepositoryName | null;
  /** The host's own number, where `PullRequestState` has it in place of the branch. Stays the same after a rename. */
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

/** Repositories, and the bot's pull requests there. */
export interface RepositoryHost {
  /** Repeatable. */
  account(): Promise<Account>;

  /** The repository under its current name; renames are followed. Repeatable. */
  repository(name: RepositoryName): Promise<Repository>;

  /** A file at the tip of the default branch. Repeatable. */
  file(repository: RepositoryName, path: string): Promise<FileAnswer>;

  /** The names in a folder there, those of folders with a slash at the end; none if there is no such folder. Repeatable. */
  list(repository: RepositoryName, folder: string): Promise<readonly string[]>;

  /**
   * The pull request of a head: the one that was recorded last, if the host shows it with that number; else what its
   * lists say, which may lack the newest one for a while: the open one, else one that is closed; null if there never was
   * one. Repeatable.
   */
  findPullRequest(
    repository: RepositoryName,
    head: Head,
    recorded?: PullRequestPlace | null,
  ): Promise<PullRequest | null>;

  /** Why a number is not that of an open issue; null: it is. Repeatable. */
  whyNotOpen(repository: RepositoryName, number: number): Promise<NotOpen | null>;

  /** Repeatable. */
  editPullRequest(repository: RepositoryName, number: number, changes: PullRequestChanges): Promise<void>;

  /** One that is closed already stays as it is. Repeatable. */
  closePullRequest(repository: RepositoryName, number: number): Promise<ClosedPullRequest>;
}

/** A host on which the bot pushes to a fork of its own, and opens the pull request from there. */
export interface ForkHost extends RepositoryHost {
  readonly way: 'fork';

  /**
   * The bot's fork: the one that exists, or a new one, whose objects may appear later. It may have another name. Where
   * forks share their objects, an account has one fork in a network, which may be a fork of another of its
   * repositories. Repeatable.
   */
  fork(repository: Repository): Promise<RepositoryName>;

  /** Brings a branch of the fork to where upstream has it, be it by force. Repeatable. */
  syncBranch(fork: RepositoryName, branch: UpstreamBranch): Promise<void>;

  /**
   * Gives the fork a branch of upstream's that it lacks; if the branch exists by then, that is fine, too. Repeatable.
   * @param ground a commit that the fork has.
   */
  addBranch(fork: RepositoryName, branch: UpstreamBranch, ground: Oid): Promise<void>;

  /** Repeatable; `missing` or `refused` if there is no such branch. */
  deleteBranch(fork: RepositoryName, branch: string): Promise<void>;

  /** Once: where an answer is lost, this looks for the pull request before it asks for it again. */
  openPullRequest(repository: RepositoryName, request: NewPullRequest): Promise<PullRequest>;
}

/** What a push to `refs/for/<base>` is to do: to open a pull request, or to update the open one of its topic. */
export interface AgitRequest {
  readonly base: string;
  readonly topic: string;
  /** Null: the open one keeps its text. */
  readonly text: Pick<NewPullRequest, 'title' | 'body' | 'isDraft'> | null;
  /** Whether commits may go from the open one. */
  readonly isForced: boolean;
}

/**
 * A host that opens a pull request when it is pushed to (AGit flow): there is no fork, and no branch. One push opens or
 * updates it, for anybody who may read the repository.
 */
export interface AgitHost extends RepositoryHost {
  readonly way: 'agit';

  /** What such a push consists of, besides the commits. Nothing in it but what `request` names. */
  readonly agitPush: (request: AgitRequest) => {
    readonly refName: string;
    readonly pushOptions: readonly string[];
  };

  /** Whether a push was refused because the open pull request has other commits than was thought. */
  readonly isOvertaken: (reason: string) => boolean;

  /** What a push has opened or updated. Where it was opened with another text, it gets the right one. Repeatable. */
  delivered(repository: RepositoryName, number: number, text: AgitRequest['text']): Promise<PullRequest>;

  /** The open pull request of the bot that ends in a commit; null if none does. Repeatable. */
  findDelivered(repository: RepositoryName, owner: string, tip: Oid): Promise<PullRequest | null>;
}

export type CodeHost = ForkHost | AgitHost;

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

/** What the bot writes: comments on issues and pull requests, and issues. */
export interface ThreadHost {
  /** Once, and never tried again: a second comment would be worse than an error. */
  createComment(repository: RepositoryName, number: number, text: string): Promise<PostedComment>;

  /** Once, and never tried again. */
  createIssue(repository: RepositoryName, issue: NewIssue): Promise<PostedIssue>;

  /**
   * The bot's comments on a thread that were created or changed since a moment. Repeatable.
   * @param since milliseconds since 1970.
   */
  ownComments(repository: RepositoryName, number: number, since: number): Promise<readonly CommentWithText[]>;

  /** Replaces a comment's text by `change(text)`; null leaves it. A comment that is gone is no error. Repeatable. */
  editComment(repository: RepositoryName, id: number, change: (text: string) => string | null): Promise<void>;

  /** A comment that is gone is no error. Repeatable. */
  deleteComment(repository: RepositoryName, id: number): Promise<void>;

  /** An issue that is gone is no error. Repeatable. */
  closeIssue(repository: RepositoryName, number: number): Promise<void>;
}

/** A pull request that someone touched. */
export interface FeedThread {
  readonly id: string;
  /** True: the host says that the bot opened it. False proves nothing: the host may name another reason, or none. */
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

/** What somebody has written on a thread: its description, a comment, a review or a remark on a line. */
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
  /** When it was closed or merged, as the host writes it; null: it is open, or the host does not say. */
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

/**
 * What others do to the bot's pull requests, and what is said on a thread. Nothing is written, and nothing is marked as read, because the operator
 * may use the account in a browser. Nothing is tried again: the caller comes back in a minute.
 */
export interface ActivityHost {
  account(): Promise<Account>;

  /** Whether the host hides the bot's account, and so its pull requests, from everybody else; null: it does not say. */
  isHidden(login: string): Promise<boolean | null>;

  /**
   * The pull requests that were touched since a moment, unless nothing has changed since `ifModifiedSince`.
   * @param since milliseconds since 1970.
   * @param wantsMore is handed each page, the newest first, and says whether to go on to the next one.
   */
  feed(
    since: number,
    ifModifiedSince: string | null,
    wantsMore: (page: readonly FeedThread[]) => boolean,
  ): Promise<Feed>;

  /** Null if the host no longer shows it. */
  pullRequest(repository: RepositoryName, number: number): Promise<PullRequestState | null>;

  /** What was said on a pull request since a moment; null if the host no longer shows it. */
  remarks(repository: RepositoryName, number: number, since: number): Promise<readonly Remark[] | null>;

  /**
   * An issue or a pull request as the public sees it; null if there is none, or not for the public. Up to ten calls,
   * however much was written.
   */
  conversation(repository: RepositoryName, number: number): Promise<Conversation | MovedThread | null>;
}
