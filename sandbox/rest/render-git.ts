/** Renders commits and branches in GitHub's JSON. */
import type { Commit, Identity } from '../commits.ts';
import type { Host } from '../host.ts';
import type { Repository } from '../records.ts';
import { timestamp } from '../records.ts';
import { repositoryApiUrl, repositoryHtmlUrl } from './render-repository.ts';
import { nodeId } from './render-user.ts';

/** Renders the bare Git object: `GET /git/commits/:sha`. */
export function gitCommit(host: Host, repository: Repository, commit: Commit) {
  const url = repositoryApiUrl(host, repository);
  const htmlUrl = repositoryHtmlUrl(host, repository);
  return {
    sha: commit.oid,
    node_id: nodeId('Commit', commit.oid),
    url: `${url}/git/commits/${commit.oid}`,
    html_url: `${htmlUrl}/commit/${commit.oid}`,
    author: gitUser(commit.author),
    committer: gitUser(commit.committer),
    tree: { sha: commit.tree, url: `${url}/git/trees/${commit.tree}` },
    message: commit.message,
    parents: commit.parents.map((oid) => ({
      sha: oid,
      url: `${url}/git/commits/${oid}`,
      html_url: `${htmlUrl}/commit/${oid}`,
    })),
    verification: verification(commit),
  };
}

/** Renders the commit as part of a repository's history, for branches and pull requests. */
export function repositoryCommit(host: Host, repository: Repository, commit: Commit) {
  const url = repositoryApiUrl(host, repository);
  const htmlUrl = repositoryHtmlUrl(host, repository);
  return {
    sha: commit.oid,
    node_id: nodeId('Commit', commit.oid),
    commit: {
      author: gitUser(commit.author),
      committer: gitUser(commit.committer),
      message: commit.message,
      tree: { sha: commit.tree, url: `${url}/git/trees/${commit.tree}` },
      url: `${url}/git/commits/${commit.oid}`,
      comment_count: 0,
      verification: verification(commit),
    },
    url: `${url}/commits/${commit.oid}`,
    html_url: `${htmlUrl}/commit/${commit.oid}`,
    comments_url: `${url}/commits/${commit.oid}/comments`,
    // GitHub matches addresses with accounts; here no address belongs to anyone.
    author: null,
    committer: null,
    parents: commit.parents.map((oid) => ({
      sha: oid,
      url: `${url}/commits/${oid}`,
      html_url: `${htmlUrl}/commit/${oid}`,
    })),
  };
}

/** Renders a branch in a list. */
export function shortBranch(host: Host, repository: Repository, name: string, oid: string) {
  const url = repositoryApiUrl(host, repository);
  return { name, commit: { sha: oid, url: `${url}/commits/${oid}` }, protected: false };
}

/** Renders a branch by itself, with its tip. */
export function branchWithProtection(host: Host, repository: Repository, name: string, tip: Commit) {
  const url = `${repositoryApiUrl(host, repository)}/branches/${name}`;
  return {
    name,
    commit: repositoryCommit(host, repository, tip),
    _links: { self: url, html: `${repositoryHtmlUrl(host, repository)}/tree/${name}` },
    protected: false,
    protection: {
      enabled: false,
      required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] },
    },
    protection_url: `${url}/protection`,
  };
}

function gitUser(identity: Identity) {
  return {
    name: identity.name,
    email: identity.email,
    date: timestamp(new Date(identity.time * 1000)),
  };
}

/** Says whether there is a signature. None can be verified, because no key is known here. */
function verification(commit: Commit) {
  return {
    verified: false,
    reason: commit.signature === null ? 'unsigned' : 'unknown_key',
    signature: commit.signature,
    payload: null,
    verified_at: null,
  };
}
