/**
 * Renders accounts in GitHub's JSON. The types are GitHub's own, so a missing or misspelt field
 * does not compile.
 */
import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { Host } from '../host.ts';
import type { User } from '../records.ts';

type SimpleUser = RestEndpointMethodTypes['repos']['get']['response']['data']['owner'];
type PrivateUser = RestEndpointMethodTypes['users']['getAuthenticated']['response']['data'];

/** Makes an id that is opaque to clients, as GitHub's are. */
export function nodeId(kind: string, id: number | string): string {
  return Buffer.from(`${kind}:${id}`).toString('base64url');
}

/** Renders the account as other answers name it. */
export function simpleUser(host: Host, login: string): SimpleUser {
  const user = host.store.ensureUser(login);
  const url = `${host.apiUrl}/users/${encodeURIComponent(user.login)}`;
  const [, slug = null] = /^(.+)\[bot\]$/.exec(user.login) ?? [];
  return {
    login: user.login,
    id: user.id,
    node_id: nodeId('User', user.id),
    avatar_url: `${host.url}/avatars/${user.id}`,
    gravatar_id: '',
    url,
    html_url: slug === null ? `${host.url}/${user.login}` : `${host.url}/apps/${slug}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: slug === null ? 'User' : 'Bot',
    user_view_type: 'public',
    site_admin: false,
  };
}

/** Renders the account by itself, for anyone. */
export function fullUser(host: Host, user: User) {
  const owned = host.store.records.repositories.filter((repository) => repository.owner === user.login);
  return {
    ...simpleUser(host, user.login),
    user_view_type: 'public',
    name: null,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    twitter_username: null,
    public_repos: owned.filter((repository) => !repository.private).length,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: user.createdAt,
    updated_at: user.createdAt,
  };
}

/** Renders the account as it sees itself. */
export function privateUser(host: Host, user: User): PrivateUser {
  const owned = host.store.records.repositories.filter((repository) => repository.owner === user.login);
  const privateCount = owned.filter((repository) => repository.private).length;
  return {
    ...fullUser(host, user),
    user_view_type: 'private',
    private_gists: 0,
    total_private_repos: privateCount,
    owned_private_repos: privateCount,
    disk_usage: 0,
    collaborators: 0,
    two_factor_authentication: true,
  };
}
