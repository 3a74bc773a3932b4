/**
 * The values that a code host's methods take and return, in the service's own words. `open.ts`
 * opens the hosts.
 */
import type { Oid } from '../git/objects/oid.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import type { Ecosystem, Severity } from './kinds.ts';

/** The bot, as the host knows it. */
export interface Account {
  /** The number of the account, which stays the same when it is renamed. */
  readonly id: number;
  readonly login: string;
}

export interface Repository extends RepositoryName {
  readonly id: number;
  /** The id of the network of forks that it belongs to, or its own if there is none. */
  readonly networkId: number;
  readonly isPrivate: boolean;
  readonly isArchived: boolean;
  /** The accounts whose pull requests it takes. `collaborators` means that the bot is none. */
  readonly pullRequests: 'all' | 'collaborators' | 'none';
  readonly sizeKb: number;
}

/** A repository by its number, which it keeps when its name changes. */
export type NumberedRepository = Pick<Repository, 'id' | 'owner' | 'name'>;

/** The reason why an issue is not open, as the end of a sentence. */
export type NotOpen = 'does not exist' | 'was moved' | 'is a pull request' | 'is closed';

export type FileAnswer =
  | { readonly kind: 'file'; readonly content: Uint8Array }
  /**
   * An answer without a file. `unreadable` is no file, such as a folder or a submodule, or one of
   * more than 1 MB. `missing` means that there is no such path, or no such repository.
   */
  | { readonly kind: 'unreadable' | 'missing' };

/**
 * The common part of all pull requests of one pr_hash: a branch of the bot's, or a topic of its
 * pushes to upstream.
 */
export interface Head {
  /** The bot's login. */
  readonly owner: string;
  readonly branch: string;
}

/** The place of a pull request when it was recorded. */
export interface PullRequestPlace {
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  /** The host's number of the repository. Absent in records of earlier versions. */
  readonly repositoryId?: number;
  /** The host's own number for it, see `HostPullRequest`. */
  readonly id?: number;
  /** The number of the App that has opened it; absent: the account has. */
  readonly app?: number;
}

/** The ref that has the commits of a pull request. */
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
  readonly isMerged: boolean;
  /** The branch to merge into. */
  readonly base: string;
  /** The ref with its commits, or null if its fork is gone. */
  readonly source: Source | null;
  /** The bot's fork that has its branch, or null if that is gone, or there never was one. */
  readonly fork: RepositoryName | null;
  /**
   * The host's own number for it, which stays the same after a rename. It is set where
   * `PullRequestState` has it in place of the branch.
   */
  readonly id?: number;
  /** The App that has opened it; absent: the account has. */
  readonly app?: { readonly number: number; readonly login: string };
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
  /** It was closed. `at` is the time as the host writes it, or null if the host does not say. */
  | { readonly kind: 'closed'; readonly at: string | null }
  /** It had been merged already, so there was nothing to close. */
  | { readonly kind: 'merged' };

/**
 * The content of a push to `refs/for/<base>`, which opens a pull request, or updates the open one
 * of its topic.
 */
export interface AgitRequest {
  readonly base: string;
  readonly topic: string;
  /** The new text, or null to keep the text of the open one. */
  readonly text: Pick<NewPullRequest, 'title' | 'body' | 'isDraft'> | null;
  /** True if commits may be removed from the open one. */
  readonly isForced: boolean;
}

/** The App that has posted something; absent: the account has. */
interface Posted {
  readonly app?: number;
}

export interface PostedComment extends Posted {
  readonly id: number;
  readonly url: string;
}

export interface CommentWithText extends PostedComment {
  readonly text: string;
}

export interface NewIssue {
  readonly title: string;
  readonly body: string;
  /**
   * The names of labels. A host ignores those that it does not know, or that the bot may not set.
   */
  readonly labels: readonly string[];
}

export interface PostedIssue extends Posted {
  readonly number: number;
  readonly url: string;
}

/** A vulnerability to be told to the maintainers alone. */
export interface PrivateReport {
  readonly summary: string;
  /** Markdown, with the service's lines below it. */
  readonly description: string;
  /** A word or a CVSS vector. Hosts do not take both. */
  readonly rating: { readonly severity: Severity } | { readonly cvss_vector_string: string };
  readonly package: { readonly ecosystem: Ecosystem; readonly name: string };
  /** Versions in the host's own words; empty: they are not known. */
  readonly vulnerableVersions: string;
  readonly patchedVersions: string;
  /** Such as `CWE-79`. */
  readonly cweIds: readonly string[];
}

export interface SentReport {
  /** The host's id of the report, such as `GHSA-2222-3333-4444`. */
  readonly id: string;
  /** Its page, which only its readers see. */
  readonly url: string;
}

/** A pull request or an issue that someone touched. */
export interface FeedThread {
  readonly id: string;
  readonly isIssue: boolean;
  /**
   * True if the host says that the bot opened it. False proves nothing, because the host may name
   * another reason, or none.
   */
  readonly isByBot: boolean;
  readonly repository: RepositoryName;
  readonly number: number;
  /** The time of the last change, in milliseconds since 1970, rounded to seconds. */
  readonly updatedAt: number;
}

export interface Feed {
  /** The threads, or null if nothing has changed since the answer of `lastModified`. */
  readonly threads: readonly FeedThread[] | null;
  /** A text to be sent back unchanged in the next request. It is null if the host sends none. */
  readonly lastModified: string | null;
  readonly pollIntervalMs: number;
}

/**
 * The rights of a person in a repository. A `maintainer` belongs to it, as far as the host says,
 * but may only be allowed to read.
 */
export type Role = 'owner' | 'maintainer' | 'none';

/** The author of a comment, as the host names them now. */
export interface Speaker {
  readonly login: string;
  /** GitHub's `author_association`, or null if the host does not say. */
  readonly association: string | null;
}

/** A thread that the bot has opened, and that is open. */
export interface OpenThread {
  readonly number: number;
  readonly url: string;
  readonly isPullRequest: boolean;
  /** The number of the App that has opened it; null: the account has. */
  readonly app: number | null;
}

/** The kinds of texts on a thread, each with numbers of its own. A `line` is a remark on code. */
export type SaidIn = 'comment' | 'review' | 'line';

/** An open issue or pull request, as a list shows it. */
export interface ListedThread {
  readonly number: number;
  readonly title: string;
  readonly isPullRequest: boolean;
  /** The time when it was opened, in ISO 8601. */
  readonly openedAt: string;
}

/** A comment, a review with all its remarks, or one of these. */
export interface Remark {
  /** The key among all remarks: kind and number, such as `comment:12`. */
  readonly key: string;
  /** The number of the author's account, whose name may change. */
  readonly authorId: number | null;
  readonly url: string;
  /** The time in ISO 8601, or an empty text if the host does not say. */
  readonly at: string;
  /** The verdict of a review, or the kind of a remark without one. */
  readonly kind: 'commented' | 'reviewed' | 'approved' | 'changes-requested';
  readonly text: string;
  /** Set for what a person wrote, whose account still exists. No host shows edits of a review. */
  readonly comment?: {
    readonly id: number;
    readonly in: SaidIn;
    readonly isEdited: boolean;
    readonly by: Speaker;
  };
}

/** The remarks on a thread, as far as they were read. */
export interface ReadRemarks {
  /** Oldest first, but reviews behind comments. */
  readonly remarks: readonly Remark[];
  /** The time of the last comment that was read, if there are more; null: all were read. */
  readonly readTo: number | null;
  /** Remarks on lines of code, each of a review among the others, so they are no news. */
  readonly lines: readonly Remark[];
}

export interface PullRequestState {
  readonly number: number;
  readonly url: string;
  readonly authorId: number | null;
  /** The branch to be merged, or null if the host does not say. */
  readonly branch: string | null;
  /** The host's own number, if the branch is null. */
  readonly id?: number;
  readonly mergedAt: string | null;
  readonly closedAt: string | null;
}

/**
 * A text that somebody has written on a thread: its description, a comment, a review or a remark on
 * a line.
 */
export interface ThreadComment {
  /** The author's login, or null if the account is gone. */
  readonly author: string | null;
  /** ISO 8601. */
  readonly at: string;
  /** The Markdown source. */
  readonly text: string;
  /** The file that it is about, or null if there is none. */
  readonly path: string | null;
}

/** An issue or a pull request, with what was written on it. */
export interface Conversation {
  readonly title: string;
  readonly state: 'open' | 'closed' | 'merged';
  /**
   * The time when it was closed or merged, as the host writes it. It is null if it is open, or the
   * host does not say.
   */
  readonly closedAt: string | null;
  /** True if only the people of the repository may comment. */
  readonly isLocked: boolean;
  /** The text with which it was opened, or null if that is empty. */
  readonly description: ThreadComment | null;
  /** The newest comments first, at most 50. */
  readonly comments: readonly ThreadComment[];
  /** True if earlier comments are left out. */
  readonly hasEarlier: boolean;
}

/** An issue that was transferred to another public repository. */
export interface MovedThread {
  readonly movedTo: string;
}
