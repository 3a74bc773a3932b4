/** What GitHub says of a repository. */
import type { Repository } from '../code-host.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { expectFlag, expectNumber, expectRepository, expectSize } from '../rest/answer.ts';
import { lookUpWith } from '../git/visibility.ts';
import type { RestCalls } from '../rest/octokit.ts';

/** @throws HostError */
export async function lookUp(calls: RestCalls, name: RepositoryName): Promise<Repository> {
  return lookUpWith(calls, name, async () => {
    const { data } = await calls.octokit.rest.repos.get({ owner: name.owner, repo: name.name });
    const id = expectNumber(data.id);
    return {
      ...expectRepository(data),
      id,
      networkId: data.source?.id ?? id,
      isPrivate: expectFlag(data.private),
      isArchived: expectFlag(data.archived),
      sizeKb: expectSize(data.size),
    };
  });
}
