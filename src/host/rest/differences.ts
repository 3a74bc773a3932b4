/**
 * What differs between the REST interface of GitHub and the one that Gitea and Forgejo share. Everything else is asked for
 * and read alike. "Gitea" is its source at 1.26; docs.github.com/rest is "REST".
 *
 * A field that only one of them has needs no entry: where it is missing, it counts as unset. Those are `source`,
 * `pull_request_creation_policy`, `patch` and `reason` of GitHub (REST), and `internal`, `mirror`, `owner.visibility` and
 * `is_locked` of Gitea (modules/structs/{repo,user,issue}.go).
 */
import type { HostKind } from '../kinds.ts';

export interface Differences {
  /**
   * How the bot proposes commits: from a branch of its fork, or by a push to upstream, whose pull request names no branch
   * (Gitea: services/agit/agit.go).
   */
  readonly way: 'fork' | 'agit';
  /** Asks for the longest page. REST: "Using pagination". Gitea: `[api] MAX_RESPONSE_ITEMS`, unless it allows more. */
  readonly page: Readonly<Record<string, number>>;
  /** Of the notifications. REST: at most 50 a page. Gitea: routers/api/v1/notify/user.go. */
  readonly feedQuery: Readonly<Record<string, unknown>>;
  /** False: the comments of a thread come all at once (Gitea: ListIssueComments in routers/api/v1/repo/issue_comment.go). */
  readonly hasCommentPages: boolean;
  /** A comment on a missing issue is a 500, as if it might have been posted (Gitea: CreateIssueComment, there). */
  readonly looksBeforeComment: boolean;
  /** An issue takes its labels by number (Gitea: CreateIssueOption in modules/structs/issue.go). */
  readonly labelsByNumber: boolean;
  /**
   * The profile and the pull requests of an account that the host has flagged are missing for everybody else
   * (backstrokeapp/server#84, streamlink/streamlink#622).
   */
  readonly hidesFlagged: boolean;
  /** False: the remarks on lines are listed by review only (Gitea: routers/api/v1/repo/pull_review.go). */
  readonly hasRemarkList: boolean;
}

const GITHUB: Differences = {
  way: 'fork',
  page: { per_page: 100 },
  feedQuery: { participating: true, per_page: 50 },
  hasCommentPages: true,
  looksBeforeComment: false,
  labelsByNumber: false,
  hidesFlagged: true,
  hasRemarkList: true,
};

const GITEA: Differences = {
  way: 'agit',
  page: { limit: 50 },
  feedQuery: { 'subject-type': 'Pull' },
  hasCommentPages: false,
  looksBeforeComment: true,
  labelsByNumber: true,
  hidesFlagged: false,
  hasRemarkList: false,
};

export const DIFFERENCES: Readonly<Record<HostKind, Differences>> = {
  github: GITHUB,
  gitea: GITEA,
  forgejo: GITEA,
};
