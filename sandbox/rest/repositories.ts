/** The repository itself. */
import { json } from './api-call.ts';
import { fullRepository } from './render-repository.ts';
import type { Route } from './route.ts';
import { repositoryRoute } from './route.ts';

export const repositoryRoutes: readonly Route[] = [
  repositoryRoute('GET', '', 'repos/repos#get-a-repository', (call, repository) =>
    json(200, fullRepository(call.host, repository)),
  ),
];
