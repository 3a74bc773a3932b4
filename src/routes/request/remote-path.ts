/** The service's own path of a repository, which its remote and its forms share. */
import { repositoryPath, type HostConfig } from '../../config/hosts.ts';
import type { RepositoryName } from '../../repository-name.ts';

/** `/v1/gh/octo/hello` */
export function remotePath(host: Pick<HostConfig, 'key'>, repository: RepositoryName): string {
  return `/v1/${repositoryPath(host, repository)}`;
}
