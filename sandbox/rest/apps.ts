/** The App by its own token: what it is, where it is installed, its tokens there, its webhook. */
import { type App, covers, type Installation, type Permissions } from '../records.ts';
import type { Answer, ApiCall } from './api-call.ts';
import { Refusal, json, notFound, numberParam, page } from './api-call.ts';
import { requireActive } from './app-token.ts';
import { renderApp, renderInstallation } from './render-app.ts';
import { listedRepository } from './render-repository.ts';
import { type Route, repositoryRoute } from './route.ts';

const DOCUMENTATION = 'apps/apps';

export const appRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/app',
    documentation: `${DOCUMENTATION}#get-the-authenticated-app`,
    handle: ({ host }) => {
      const { installations } = host.store.records;
      return json(200, {
        ...renderApp(host, requireApp(host.apps.app)),
        installations_count: installations.length,
      });
    },
  },
  {
    method: 'GET',
    path: '/app/installations',
    documentation: `${DOCUMENTATION}#list-installations-for-the-authenticated-app`,
    handle: (call) => page(call, call.host.store.records.installations, (one) => rendered(call, one)),
  },
  repositoryRoute(
    'GET',
    '/installation',
    `${DOCUMENTATION}#get-a-repository-installation-for-the-authenticated-app`,
    (call, repository) => {
      const installation = call.host.apps.ofRepository(repository);
      if (!installation) throw notFound();
      return json(200, rendered(call, installation));
    },
  ),
  {
    method: 'POST',
    path: '/app/installations/:id/access_tokens',
    documentation: `${DOCUMENTATION}#create-an-installation-access-token-for-an-app`,
    handle: createToken,
  },
  {
    method: 'GET',
    path: '/app/hook/config',
    documentation: 'apps/webhooks#get-a-webhook-configuration-for-an-app',
    handle: ({ host }) => {
      const { webhook } = requireApp(host.apps.app);
      if (webhook === null) throw notFound();
      return json(200, { content_type: 'json', insecure_ssl: '0', secret: '********', url: webhook.url });
    },
  },
];

function requireApp(app: App | null): App {
  if (app === null) throw notFound();
  return app;
}

function rendered({ host }: ApiCall, installation: Installation) {
  return renderInstallation(host, requireApp(host.apps.app), installation);
}

/**
 * Makes a token, for fewer repositories and permissions if the call says so. Sources of the
 * refusals: peter-murray/workflow-application-token-action#48 for permissions, 5dive-ai/5dive#383
 * for repositories.
 */
function createToken(call: ApiCall): Answer {
  const { host, payload } = call;
  const installation = host.apps.byId(numberParam(call, 'id'));
  if (!installation) throw notFound();
  requireActive({ installation });
  const { permissions = installation.permissions } = payload;
  if (!isWithin(permissions as Permissions, installation.permissions)) {
    throw new Refusal(422, 'The permissions requested are not granted to this installation.');
  }
  const repositoryIds = narrowedTo(call, installation);
  const granted = { metadata: 'read', ...(permissions as Permissions) } as const;
  const { token, expiresAt } = host.apps.createToken({ installation, repositoryIds, permissions: granted });
  const repositories = host.apps
    .repositoriesOf(installation)
    .filter((repository) => covers({ repositoryIds }, repository));
  const isNarrowed = repositoryIds !== null || installation.repositoryIds !== null;
  return json(201, {
    token,
    expires_at: `${expiresAt.toISOString().slice(0, 19)}Z`,
    permissions: granted,
    repository_selection: isNarrowed ? 'selected' : 'all',
    ...(repositoryIds !== null && { repositories: repositories.map((one) => listedRepository(host, one)) }),
  });
}

function isWithin(wanted: Permissions, granted: Permissions): boolean {
  const levels = Object.entries({ metadata: 'read', ...granted });
  const has = (name: string, level: string): boolean =>
    levels.some(([other, own]) => other === name && (own === level || own === 'write'));
  return Object.entries(wanted).every(([name, level]) => has(name, level));
}

/** Reads the repositories that the call names; `null`: it names none. */
function narrowedTo({ host, payload }: ApiCall, installation: Installation): number[] | null {
  const { repositories, repository_ids } = payload;
  if (repositories === undefined && repository_ids === undefined) return null;
  const known = host.apps.repositoriesOf(installation);
  const found = [
    ...listed(repositories).map((name) => known.find((one) => one.name === name)),
    ...listed(repository_ids).map((id) => known.find((one) => one.id === id)),
  ];
  return found.map((repository) => {
    if (repository) return repository.id;
    const rule = 'does not exist or is not accessible to the parent installation.';
    throw new Refusal(422, `There is at least one repository that ${rule}`);
  });
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
