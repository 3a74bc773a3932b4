/**
 * The service's own paths of a repository, which its remote and its forms share.
 * Proved by test/e2e/people/change-form.test.ts.
 */
import { type HostConfig, repositoryPath } from '../config/hosts.ts';
import type { RepositoryName } from '../words/repository-name.ts';

/** Gives the path of a repository's remote: `/v1/gh/octo/hello`. */
export function remotePath(host: Pick<HostConfig, 'key'>, repository: RepositoryName): string {
  return `/v1/${repositoryPath(host, repository)}`;
}

/** Paths of the forms, below that of the remote. */
export const ISSUE_FORM = '/new-issue';
export const REPLY_FORM = '/reply';
export const CHANGE_FORM = '/change';
export const FILE_FORM = '/send-file';
export const WITHDRAW_FORM = '/withdraw';
/** Like the code host's own, for people who replace only its name. */
export const SECURITY_FORM = '/security';
