/**
 * Routes as data: method, path, where GitHub documents it (its errors say so), and its action. Most
 * routes are about a repository, so this file finds it, refuses what may not be seen, and redirects
 * what was renamed.
 */
import type { Issue, Repository } from '../records.ts';
import { reaches } from './app-permissions.ts';
import type { Answer, ApiCall } from './api-call.ts';
import { Refusal, notFound, numberParam } from './api-call.ts';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Page and anchor, relative to the documentation's address. */
  readonly documentation: string;
  readonly handle: (call: ApiCall) => Answer | Promise<Answer>;
}

type RepositoryHandler = (call: ApiCall, repository: Repository) => Answer | Promise<Answer>;

/** Makes a route below `/repos/:owner/:repo`. */
export function repositoryRoute(
  method: Route['method'],
  path: string,
  documentation: string,
  handle: RepositoryHandler,
): Route {
  return {
    method,
    path: `/repos/:owner/:repo${path}`,
    documentation,
    handle: (call) => handle(call, calledRepository(call)),
  };
}

/** Finds the issue or pull request that the path names. */
export function calledIssue(call: ApiCall, repository: Repository): Issue {
  const issue = repository.issues[numberParam(call, 'number') - 1];
  if (!issue) throw notFound();
  return issue;
}

function calledRepository(call: ApiCall): Repository {
  const { host } = call;
  const { owner = '', repo = '' } = call.params;
  const repository = host.store.findRepository(owner, repo);
  if (repository && canRead(call, repository)) return repository;
  const renamed = host.store.findRenamedRepository(owner, repo);
  if (renamed && canRead(call, renamed)) throw movedPermanently(call, renamed);
  throw notFound();
}

/** Answers whether the caller sees a repository: an App sees where it is installed, too. */
function canRead({ host, viewer, credential }: ApiCall, repository: Repository): boolean {
  if (credential === 'app') return host.apps.ofRepository(repository) !== undefined;
  return host.canRead(viewer, repository) || (credential !== null && reaches(credential, repository));
}

/** Redirects to the repository's number, as GitHub does, because no later renaming changes it. */
function movedPermanently(call: ApiCall, repository: Repository): Refusal {
  const rest = call.url.pathname.split('/').slice(6);
  const url = [`${call.host.apiUrl}/repositories/${repository.id}`, ...rest].join('/') + call.url.search;
  const status = call.method === 'GET' ? 301 : 307;
  const message = status === 301 ? 'Moved Permanently' : 'Temporary Redirect';
  return new Refusal(status, message, { url, headers: { location: url } });
}
