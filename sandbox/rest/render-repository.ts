/**
 * Renders repositories in GitHub's JSON: the short form that other answers contain, and the full
 * one.
 */
import type { RestEndpointMethodTypes } from '@octokit/rest';
import { packedSizeKb } from '../bare-repository.ts';
import type { Host } from '../host.ts';
import type { Repository } from '../records.ts';
import { nodeId, simpleUser } from './render-user.ts';

type FullRepository = RestEndpointMethodTypes['repos']['get']['response']['data'];
type ListedRepository = NonNullable<FullRepository['parent']>;

export function fullName(repository: Repository): string {
  return `${repository.owner}/${repository.name}`;
}

export function repositoryApiUrl(host: Host, repository: Repository): string {
  return `${host.apiUrl}/repos/${fullName(repository)}`;
}

export function repositoryHtmlUrl(host: Host, repository: Repository): string {
  return `${host.url}/${fullName(repository)}`;
}

/** Renders the fields that every form of a repository has. */
export function minimalRepository(host: Host, repository: Repository) {
  const url = repositoryApiUrl(host, repository);
  return {
    id: repository.id,
    node_id: nodeId('Repository', repository.id),
    name: repository.name,
    full_name: fullName(repository),
    private: repository.private,
    owner: simpleUser(host, repository.owner),
    html_url: repositoryHtmlUrl(host, repository),
    description: null,
    fork: repository.parentId !== null,
    url,
    archive_url: `${url}/{archive_format}{/ref}`,
    assignees_url: `${url}/assignees{/user}`,
    blobs_url: `${url}/git/blobs{/sha}`,
    branches_url: `${url}/branches{/branch}`,
    collaborators_url: `${url}/collaborators{/collaborator}`,
    comments_url: `${url}/comments{/number}`,
    commits_url: `${url}/commits{/sha}`,
    compare_url: `${url}/compare/{base}...{head}`,
    contents_url: `${url}/contents/{+path}`,
    contributors_url: `${url}/contributors`,
    deployments_url: `${url}/deployments`,
    downloads_url: `${url}/downloads`,
    events_url: `${url}/events`,
    forks_url: `${url}/forks`,
    git_commits_url: `${url}/git/commits{/sha}`,
    git_refs_url: `${url}/git/refs{/sha}`,
    git_tags_url: `${url}/git/tags{/sha}`,
    hooks_url: `${url}/hooks`,
    issue_comment_url: `${url}/issues/comments{/number}`,
    issue_events_url: `${url}/issues/events{/number}`,
    issues_url: `${url}/issues{/number}`,
    keys_url: `${url}/keys{/key_id}`,
    labels_url: `${url}/labels{/name}`,
    languages_url: `${url}/languages`,
    merges_url: `${url}/merges`,
    milestones_url: `${url}/milestones{/number}`,
    notifications_url: `${url}/notifications{?since,all,participating}`,
    pulls_url: `${url}/pulls{/number}`,
    releases_url: `${url}/releases{/id}`,
    stargazers_url: `${url}/stargazers`,
    statuses_url: `${url}/statuses/{sha}`,
    subscribers_url: `${url}/subscribers`,
    subscription_url: `${url}/subscription`,
    tags_url: `${url}/tags`,
    teams_url: `${url}/teams`,
    trees_url: `${url}/git/trees{/sha}`,
  };
}

/** Renders the form in pull requests and as a fork's parent. */
export function listedRepository(host: Host, repository: Repository): ListedRepository {
  const minimal = minimalRepository(host, repository);
  const gitUrl = `${minimal.html_url}.git`;
  const openIssues = repository.issues.filter((issue) => issue.state === 'open').length;
  const forks = host.store.records.repositories.filter((other) => other.parentId === repository.id).length;
  return {
    ...minimal,
    git_url: gitUrl,
    ssh_url: gitUrl,
    clone_url: gitUrl,
    svn_url: minimal.html_url,
    homepage: null,
    size: repository.reportedSizeKb ?? packedSizeKb(host.pathOf(repository)),
    stargazers_count: 0,
    watchers_count: 0,
    watchers: 0,
    language: null,
    has_issues: true,
    has_projects: false,
    has_downloads: true,
    has_wiki: false,
    has_pages: false,
    has_discussions: false,
    forks_count: forks,
    forks,
    mirror_url: null,
    archived: repository.archived,
    disabled: false,
    open_issues_count: openIssues,
    open_issues: openIssues,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repository.private ? 'private' : 'public',
    default_branch: repository.defaultBranch,
    created_at: repository.createdAt,
    updated_at: repository.updatedAt,
    pushed_at: repository.pushedAt,
  };
}

/** Renders the repository by itself. A fork names its parent and the root of its network. */
export function fullRepository(host: Host, repository: Repository) {
  const parent = repository.parentId === null ? undefined : host.store.repositoryById(repository.parentId);
  const listed = listedRepository(host, repository);
  return {
    ...listed,
    // https://github.blog/changelog/2026-02-13-new-repository-settings-for-configuring-pull-request-access/
    has_pull_requests: repository.pullRequests !== 'none',
    pull_request_creation_policy: repository.pullRequests === 'collaborators' ? 'collaborators_only' : 'all',
    network_count: listed.forks_count,
    subscribers_count: 0,
    ...(parent && {
      parent: listedRepository(host, parent),
      source: listedRepository(host, host.store.rootOf(repository)),
    }),
  };
}
