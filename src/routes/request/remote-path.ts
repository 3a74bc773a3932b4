/** The service's own path of a repository, which its remote and its forms share. */
import { fullName, type RepositoryName } from '../../host/repository-name.ts';

/** Of all remotes, with a slash at its end. */
export const REMOTES_PATH = '/v1/gh/';

/** The pattern of its routes. */
export const REMOTE_ROUTE = '/v1/gh/:owner/:repo';

/** `/v1/gh/octo/hello` */
export function remotePath(repository: RepositoryName): string {
  return `${REMOTES_PATH}${fullName(repository)}`;
}
