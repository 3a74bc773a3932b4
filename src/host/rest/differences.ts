/**
 * Lists what differs between the REST interface of GitHub and the one that Gitea and Forgejo share.
 * "Gitea" is its source at 1.26; docs.github.com/rest is "REST". A field that only one of them has
 * needs no entry: where it is missing, it counts as unset. Such are `source`,
 * `pull_request_creation_policy`, `patch` and `reason` of GitHub (REST), and `internal`, `mirror`,
 * `owner.visibility` and `is_locked` of Gitea (modules/structs/{repo,user,issue}.go).
 * Proved by test/host/forgejo/repositories.test.ts and test/sandbox/host-contract.test.ts.
 */
import type { HostKind } from '../kinds.ts';

export type Differences = ReturnType<typeof differencesOf>;

export function differencesOf(kind: HostKind) {
  const isGitHub = kind === 'github';
  /**
   * Parameters for the longest page. REST: "Using pagination". Gitea: `[api] MAX_RESPONSE_ITEMS`,
   * unless it allows more.
   */
  const pageOf = (entries: number): Readonly<Record<string, number>> =>
    isGitHub ? { per_page: entries } : { limit: entries };
  return {
    /**
     * The way in which the bot proposes commits: from its fork, or by a push to upstream (Gitea:
     * services/agit/agit.go).
     */
    flow: isGitHub ? 'fork' : 'agit',
    page: pageOf(isGitHub ? 100 : 50),
    /** Parameters for the beginning of a list that a page of ours shows. */
    beginning: pageOf(30),
    /** Parameters for notifications. REST: at most 50 a page. */
    feedQuery: isGitHub ? { participating: true, per_page: 50 } : {},
    /**
     * True if the comments of a thread come in pages. Gitea sends all at once (ListIssueComments in
     * routers/api/v1/repo/issue_comment.go).
     */
    hasCommentPages: isGitHub,
    /**
     * True if a comment on a missing issue is answered with 500, as if it might have been posted
     * (Gitea: CreateIssueComment, there).
     */
    looksBeforeComment: !isGitHub,
    /**
     * True if a new issue takes labels by number (Gitea: CreateIssueOption in
     * modules/structs/issue.go).
     */
    labelsByNumber: !isGitHub,
    /**
     * True if the host hides flagged accounts from others (backstrokeapp/server#84,
     * streamlink/streamlink#622).
     */
    hidesFlagged: isGitHub,
    /** The parameter that lists the issues of one author. Gitea: routers/api/v1/repo/issue.go. */
    byAuthor: isGitHub ? 'creator' : 'created_by',
    /**
     * True if a vulnerability can be reported to the maintainers alone. Gitea and Forgejo describe
     * no such call (templates/swagger/v1_json.tmpl).
     */
    hasPrivateReports: isGitHub,
    /**
     * True if there is a list of all remarks on lines. Gitea lists them only by review
     * (routers/api/v1/repo/pull_review.go).
     */
    hasRemarkList: isGitHub,
  } as const;
}
