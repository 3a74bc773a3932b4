/** The repository itself. */
import { deleteRepository } from '../delete-repository.ts';
import type { Repository } from '../records.ts';
import { type Answer, type ApiCall, empty, json, Refusal, requireViewer } from './api-call.ts';
import { fullRepository } from './render-repository.ts';
import type { Route } from './route.ts';
import { repositoryRoute } from './route.ts';

export const repositoryRoutes: readonly Route[] = [
  repositoryRoute('GET', '', 'repos/repos#get-a-repository', (call, repository) =>
    json(200, fullRepository(call.host, repository)),
  ),
  repositoryRoute('DELETE', '', 'repos/repos#delete-a-repository', removeRepository),
];

/** Without the scope, the answer is the same as without the right (rundel/ghclass#120). */
async function removeRepository(call: ApiCall, repository: Repository): Promise<Answer> {
  const { host } = call;
  const { login } = requireViewer(call);
  if (login !== repository.owner || !host.botScopes.includes('delete_repo')) {
    throw new Refusal(403, 'Must have admin rights to Repository.');
  }
  await host.inTurn(repository, () => deleteRepository(host, repository));
  return empty(204);
}
