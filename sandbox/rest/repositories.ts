/** Repositories: reading and deleting them. */
import { deleteRepository } from '../delete-repository.ts';
import type { Repository } from '../records.ts';
import { type Answer, type ApiCall, empty, json, page, Refusal, requireViewer } from './api-call.ts';
import { fullRepository, listedRepository } from './render-repository.ts';
import type { Route } from './route.ts';
import { repositoryRoute } from './route.ts';

export const repositoryRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/user/repos',
    documentation: 'repos/repos#list-repositories-for-the-authenticated-user',
    handle: listOwnRepositories,
  },
  repositoryRoute('GET', '', 'repos/repos#get-a-repository', (call, repository) =>
    json(200, fullRepository(call.host, repository)),
  ),
  repositoryRoute('DELETE', '', 'repos/repos#delete-a-repository', removeRepository),
];

function listOwnRepositories(call: ApiCall): Answer {
  const { login } = requireViewer(call);
  const own = call.host.store.records.repositories.filter(({ owner }) => owner === login);
  return page(call, own, (repository) => listedRepository(call.host, repository));
}

/**
 * Deletes a repository. A token without the scope gets the same answer as one without the right
 * (rundel/ghclass#120).
 */
async function removeRepository(call: ApiCall, repository: Repository): Promise<Answer> {
  const { host } = call;
  const { login } = requireViewer(call);
  if (login !== repository.owner || !host.botScopes.includes('delete_repo')) {
    throw new Refusal(403, 'Must have admin rights to Repository.');
  }
  await host.inTurn(repository, () => deleteRepository(host, repository));
  return empty(204);
}
