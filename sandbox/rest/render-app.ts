/** Renders the App, its installations and its tokens in GitHub's JSON. */
import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { Host } from '../host.ts';
import { type App, botOf, type Installation, type Repository } from '../records.ts';
import { fullName, minimalRepository } from './render-repository.ts';
import { nodeId, simpleUser } from './render-user.ts';

type Integration = NonNullable<RestEndpointMethodTypes['apps']['getAuthenticated']['response']['data']>;
type AnsweredInstallation = RestEndpointMethodTypes['apps']['getRepoInstallation']['response']['data'];

/** Renders the App as its comments and issues name it. */
export function renderApp(host: Host, app: App): Integration {
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    client_id: `Iv23li${app.id}`,
    owner: simpleUser(host, app.owner),
    name: app.slug,
    description: null,
    external_url: host.url,
    html_url: `${host.url}/apps/${app.slug}`,
    created_at: app.createdAt,
    updated_at: app.createdAt,
    permissions: app.permissions,
    events: [...app.events],
  };
}

/** Renders the App that an account belongs to; `null`: it is no App's. */
export function performedVia(host: Host, login: string): Integration | null {
  const { app } = host.apps;
  return app !== null && login === botOf(app) ? renderApp(host, app) : null;
}

export function renderInstallation(host: Host, app: App, installation: Installation): AnsweredInstallation {
  const { id, account, permissions, repositoryIds, suspendedAt } = installation;
  const url = `${host.apiUrl}/app/installations/${id}`;
  return {
    id,
    client_id: `Iv23li${app.id}`,
    account: simpleUser(host, account),
    repository_selection: repositoryIds === null ? 'all' : 'selected',
    access_tokens_url: `${url}/access_tokens`,
    repositories_url: `${host.apiUrl}/installation/repositories`,
    html_url: `${host.url}/settings/installations/${id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: host.store.ensureUser(account).id,
    target_type: 'User',
    permissions,
    events: [...app.events],
    created_at: installation.createdAt,
    updated_at: installation.updatedAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: suspendedAt === null ? null : simpleUser(host, account),
    suspended_at: suspendedAt,
  };
}

/** Renders a repository as events of installations name it. */
export function namedRepository(host: Host, repository: Repository) {
  const { id, node_id, name, private: isPrivate } = minimalRepository(host, repository);
  return { id, node_id, name, full_name: fullName(repository), private: isPrivate };
}
