/**
 * Records of the host besides Git objects: users, repositories, issues, pull requests, comments,
 * reviews, notification threads, an App with its installations, and ntfy messages. A pull request
 * is an issue with a `pull` part, as on GitHub: they share their numbers and their comments.
 * Everything here is plain JSON, so that one file can keep it.
 */

export interface User {
  readonly id: number;
  login: string;
  readonly createdAt: string;
}

export interface Comment {
  readonly id: number;
  readonly author: string;
  readonly createdAt: string;
  body: string;
  updatedAt: string;
  /** The accounts that have given it a thumb. Absent in records of earlier versions. */
  thumbs?: string[];
}

export interface Pull {
  readonly headRepositoryId: number;
  readonly headRef: string;
  /**
   * Tip of the head when it was last read. It no longer changes once the pull request is closed.
   */
  headSha: string;
  baseRef: string;
  baseSha: string;
  readonly maintainerCanModify: boolean;
  readonly draft: boolean;
  mergedAt: string | null;
  mergedBy: string | null;
  mergeCommitSha: string | null;
}

export interface Issue {
  readonly id: number;
  readonly number: number;
  author: string;
  readonly createdAt: string;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  stateReason: 'completed' | 'not_planned' | 'reopened' | null;
  labels: string[];
  /** Absent in records of earlier versions. */
  locked?: boolean;
  updatedAt: string;
  closedAt: string | null;
  closedBy: string | null;
  readonly comments: Comment[];
  /** The accounts that have given it a thumb. Absent in records of earlier versions. */
  thumbs?: string[];
  readonly pull: Pull | null;
}

export interface Repository {
  readonly id: number;
  readonly createdAt: string;
  private: boolean;
  parentId: number | null;
  owner: string;
  name: string;
  defaultBranch: string;
  archived: boolean;
  /** Accounts that may open a pull request; `collaborators` is the owner only. */
  pullRequests: 'all' | 'collaborators' | 'none';
  /** Accounts that belong to it besides its owner. Absent in records of earlier versions. */
  collaborators?: string[];
  /** Most pull requests, drafts excluded, that an account without write access may have open. */
  pullRequestCap: number | null;
  /** `false` while a fork is an empty shell whose Git objects have yet to arrive. */
  ready: boolean;
  /** Size to report in place of the measured one, so that a huge repository need not be made. */
  reportedSizeKb: number | null;
  updatedAt: string;
  pushedAt: string;
  /** Full names of the repository before it was renamed, which redirect. */
  formerNames: string[];
  labels: string[];
  /** Whether anybody may report a vulnerability. Absent in records of earlier versions. */
  takesPrivateReports?: boolean;
  /** Absent in records of earlier versions. */
  privateReports?: PrivateReport[];
  /** Issues by number: issue n is at n - 1, because numbers have no gaps. */
  readonly issues: Issue[];
}

/** A vulnerability that was reported privately. */
export interface PrivateReport {
  readonly ghsaId: string;
  readonly author: string;
  readonly createdAt: string;
  readonly summary: string;
  readonly description: string;
  readonly severity: 'critical' | 'high' | 'medium' | 'low' | null;
  readonly cvssVector: string | null;
  readonly cweIds: readonly string[];
  readonly vulnerabilities: readonly ReportedPackage[];
}

export interface ReportedPackage {
  readonly ecosystem: string;
  readonly name: string | null;
  readonly vulnerableVersionRange: string | null;
  readonly patchedVersions: string | null;
}

/** A review of a whole pull request, with remarks on lines. */
export interface Review {
  readonly id: number;
  readonly repositoryId: number;
  readonly issueNumber: number;
  readonly author: string;
  readonly body: string;
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED';
  readonly commitId: string;
  readonly submittedAt: string;
  /** Remarks on lines of files. Absent in records of earlier versions. */
  readonly remarks?: readonly ReviewRemark[];
}

export interface ReviewRemark {
  readonly id: number;
  readonly path: string;
  readonly body: string;
  /** The accounts that have given it a thumb. Absent in records of earlier versions. */
  thumbs?: string[];
}

export interface NotificationThread {
  readonly id: number;
  readonly repositoryId: number;
  readonly issueNumber: number;
  /** Latest reason for a notification. */
  reason: 'author' | 'mention';
  unread: boolean;
  updatedAt: string;
  lastReadAt: string | null;
  latestCommentId: number | null;
}

export interface NtfyAction {
  readonly id: string;
  readonly action: string;
  readonly label: string;
  readonly url?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly [field: string]: unknown;
}

export interface NtfyMessage {
  readonly id: string;
  readonly time: number;
  readonly expires: number;
  readonly event: 'message';
  readonly topic: string;
  readonly message: string;
  readonly title?: string;
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly click?: string;
  readonly actions?: readonly NtfyAction[];
}

/** Permissions by their names, such as `pull_requests`. */
export type Permissions = Readonly<Record<string, 'read' | 'write'>>;

/** The GitHub App of this host, which has at most one. */
export interface App {
  readonly id: number;
  readonly slug: string;
  readonly owner: string;
  /** The private key as GitHub gives it to the App's owner: PEM, PKCS#1. */
  readonly key: string;
  readonly createdAt: string;
  /** The permissions that an account grants who installs it now. */
  permissions: Permissions;
  events: readonly string[];
  /** The address and the secret of its webhook; `null`: it has none. */
  webhook: { readonly url: string; readonly secret: string } | null;
}

/** The App in the repositories of one account. */
export interface Installation {
  readonly id: number;
  readonly account: string;
  readonly createdAt: string;
  /** The repositories by their numbers; `null`: all of the account's. */
  repositoryIds: number[] | null;
  permissions: Permissions;
  updatedAt: string;
  suspendedAt: string | null;
}

export interface Records {
  lastId: number;
  app: App | null;
  readonly installations: Installation[];
  readonly users: User[];
  readonly repositories: Repository[];
  readonly reviews: Review[];
  readonly threads: NotificationThread[];
  readonly messages: NtfyMessage[];
}

/** Writes a date as GitHub does, in whole seconds. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** Names the account under which an App writes. */
export function botOf({ slug }: Pick<App, 'slug'>): string {
  return `${slug}[bot]`;
}

/** Answers whether a repository is among those that something is narrowed to. */
export function covers(
  { repositoryIds }: { readonly repositoryIds: readonly number[] | null },
  { id }: Repository,
) {
  return repositoryIds === null || repositoryIds.includes(id);
}
