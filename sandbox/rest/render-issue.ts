/** Renders issues, pull requests and comments in GitHub's JSON. */
import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { Host } from '../host.ts';
import type { Comment, Issue, Pull, Repository } from '../records.ts';
import { performedVia } from './render-app.ts';
import { listedRepository, repositoryApiUrl, repositoryHtmlUrl } from './render-repository.ts';
import { nodeId, simpleUser } from './render-user.ts';

type AuthorAssociation = RestEndpointMethodTypes['issues']['get']['response']['data']['author_association'];

/** Address of the page of an issue or pull request. */
export function issueHtmlUrl(host: Host, repository: Repository, issue: Issue): string {
  return `${repositoryHtmlUrl(host, repository)}/${issue.pull ? 'pull' : 'issues'}/${issue.number}`;
}

/** Renders an issue. A pull request is an issue, too, with links to its other form. */
export function renderIssue(host: Host, repository: Repository, issue: Issue) {
  const url = `${repositoryApiUrl(host, repository)}/issues/${issue.number}`;
  return {
    ...commonFields(host, repository, issue),
    url,
    repository_url: repositoryApiUrl(host, repository),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    timeline_url: `${url}/timeline`,
    comments: issue.comments.length,
    closed_by: issue.closedBy === null ? null : simpleUser(host, issue.closedBy),
    state_reason: issue.stateReason,
    performed_via_github_app: performedVia(host, issue.author),
    reactions: reactionsOf(url, issue.thumbs?.length),
    ...(issue.pull && {
      draft: issue.pull.draft,
      pull_request: {
        url: pullApiUrl(host, repository, issue),
        html_url: issueHtmlUrl(host, repository, issue),
        diff_url: `${issueHtmlUrl(host, repository, issue)}.diff`,
        patch_url: `${issueHtmlUrl(host, repository, issue)}.patch`,
        merged_at: issue.pull.mergedAt,
      },
    }),
  };
}

/** Renders a pull request in a list. */
export function pullSimple(host: Host, repository: Repository, issue: Issue, pull: Pull) {
  const api = repositoryApiUrl(host, repository);
  const url = pullApiUrl(host, repository, issue);
  const htmlUrl = issueHtmlUrl(host, repository, issue);
  const issueUrl = `${api}/issues/${issue.number}`;
  const statusesUrl = `${api}/statuses/${pull.headSha}`;
  return {
    ...commonFields(host, repository, issue),
    url,
    diff_url: `${htmlUrl}.diff`,
    patch_url: `${htmlUrl}.patch`,
    issue_url: issueUrl,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${api}/pulls/comments{/number}`,
    comments_url: `${issueUrl}/comments`,
    statuses_url: statusesUrl,
    merged_at: pull.mergedAt,
    merge_commit_sha: pull.mergeCommitSha,
    requested_reviewers: [],
    requested_teams: [],
    draft: pull.draft,
    auto_merge: null,
    head: headEnd(host, pull),
    base: branchEnd(host, repository, pull.baseRef, pull.baseSha),
    _links: {
      self: { href: url },
      html: { href: htmlUrl },
      issue: { href: issueUrl },
      comments: { href: `${issueUrl}/comments` },
      review_comments: { href: `${url}/comments` },
      review_comment: { href: `${api}/pulls/comments{/number}` },
      commits: { href: `${url}/commits` },
      statuses: { href: statusesUrl },
    },
  };
}

/**
 * Renders a pull request by itself.
 * @param commits number of commits that it would merge.
 */
export function pullFull(host: Host, repository: Repository, issue: Issue, pull: Pull, commits: number) {
  return {
    ...pullSimple(host, repository, issue, pull),
    merged: pull.mergedAt !== null,
    // GitHub also answers null until it has tried the merge in the background.
    mergeable: null,
    rebaseable: null,
    mergeable_state: 'unknown',
    merged_by: pull.mergedBy === null ? null : simpleUser(host, pull.mergedBy),
    comments: issue.comments.length,
    review_comments: 0,
    maintainer_can_modify: pull.maintainerCanModify,
    commits,
    // Nobody who asks this host reads these, and counting would take a git process for each push.
    additions: 0,
    deletions: 0,
    changed_files: 0,
  };
}

export function renderComment(host: Host, repository: Repository, issue: Issue, comment: Comment) {
  const url = commentApiUrl(host, repository, comment.id);
  return {
    url,
    html_url: `${issueHtmlUrl(host, repository, issue)}#issuecomment-${comment.id}`,
    issue_url: `${repositoryApiUrl(host, repository)}/issues/${issue.number}`,
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    user: simpleUser(host, comment.author),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    author_association: association(repository, comment.author),
    body: comment.body,
    reactions: reactionsOf(url, comment.thumbs?.length),
    performed_via_github_app: performedVia(host, comment.author),
  };
}

export function commentApiUrl(host: Host, repository: Repository, id: number): string {
  return `${repositoryApiUrl(host, repository)}/issues/comments/${id}`;
}

export function pullApiUrl(host: Host, repository: Repository, issue: Issue): string {
  return `${repositoryApiUrl(host, repository)}/pulls/${issue.number}`;
}

function commonFields(host: Host, repository: Repository, issue: Issue) {
  return {
    id: issue.id,
    node_id: nodeId(issue.pull ? 'PullRequest' : 'Issue', issue.id),
    html_url: issueHtmlUrl(host, repository, issue),
    number: issue.number,
    title: issue.title,
    user: simpleUser(host, issue.author),
    labels: issue.labels.map((name) => renderLabel(host, repository, name)),
    state: issue.state,
    locked: issue.locked === true,
    active_lock_reason: null,
    assignee: null,
    assignees: [],
    milestone: null,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    author_association: association(repository, issue.author),
    body: issue.body,
  };
}

/**
 * Renders the head. A deleted fork is null, whatever the description promises, and counts as one of
 * the bot's.
 */
function headEnd(host: Host, { headRepositoryId, headRef, headSha }: Pull) {
  const fork = host.store.repositoryById(headRepositoryId);
  if (fork) return branchEnd(host, fork, headRef, headSha);
  const { login } = host.bot;
  return {
    label: `${login}:${headRef}`,
    ref: headRef,
    sha: headSha,
    user: simpleUser(host, login),
    repo: null,
  };
}

function branchEnd(host: Host, repository: Repository, ref: string, sha: string) {
  return {
    label: `${repository.owner}:${ref}`,
    ref,
    sha,
    user: simpleUser(host, repository.owner),
    repo: listedRepository(host, repository),
  };
}

function renderLabel(host: Host, repository: Repository, name: string) {
  const id = repository.id * 1000 + repository.labels.indexOf(name);
  return {
    id,
    node_id: nodeId('Label', id),
    url: `${repositoryApiUrl(host, repository)}/labels/${encodeURIComponent(name)}`,
    name,
    description: null,
    color: 'ededed',
    default: false,
  };
}

export function association(repository: Repository, login: string): AuthorAssociation {
  if (login === repository.owner) return 'OWNER';
  return repository.collaborators?.includes(login) === true ? 'COLLABORATOR' : 'NONE';
}

export function reactionsOf(url: string, thumbs = 0) {
  const counts = { '+1': thumbs, '-1': 0, laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 };
  return { url: `${url}/reactions`, total_count: thumbs, ...counts };
}
