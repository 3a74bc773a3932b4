/**
 * Requests of the REST interface: routes, as GitHub describes them, with their parameters.
 * Proved by test/host/rest/rest.test.ts.
 */
import type { Endpoints } from '@octokit/types';
import type { Operation } from '../failure.ts';

/**
 * A route that only Gitea and Forgejo have: the pull request of a head that is to be merged into a
 * base.
 */
type HeadRoute = 'GET /repos/{owner}/{repo}/pulls/{base}/{head}';
export type Route = keyof Endpoints | HeadRoute;

/** The operation of a POST by the last word of its path. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  forks: 'fork',
  refs: 'branch',
  pulls: 'open',
  issues: 'post',
  comments: 'post',
  reports: 'post',
};

export interface RestRequest {
  readonly operation: Operation;
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly body: string | null;
}

/** Makes a request. Parameters that the route does not name become the query or the body. */
export function requestOf(route: Route, parameters: Readonly<Record<string, unknown>>): RestRequest {
  const [method = '', template = ''] = route.split(' ', 2);
  const rest: Record<string, unknown> = { ...parameters };
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  const isEmpty = Object.keys(rest).length === 0;
  if (method === 'GET') {
    const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)]));
    return { operation: 'read', method, path: isEmpty ? path : `${path}?${query.toString()}`, body: null };
  }
  const last = template.slice(template.lastIndexOf('/') + 1);
  const operation = (method === 'POST' ? OPERATIONS[last] : null) ?? 'write';
  return { operation, method, path, body: isEmpty ? null : JSON.stringify(rest) };
}
