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
      pullRequests: pullRequestsOf(data),
      sizeKb: expectSize(data.size),
    };
  });
}

/** What Octokit does not declare yet. */
interface Answered {
  readonly has_pull_requests?: boolean;
  readonly pull_request_creation_policy?: string;
  readonly permissions?: { readonly push: boolean };
}

/** An older GitHub Enterprise Server says nothing of it. */
function pullRequestsOf(data: Answered): Repository['pullRequests'] {
  if (data.has_pull_requests === false) return 'none';
  const isCollaborator = data.permissions?.push === true;
  const isClosed = data.pull_request_creation_policy === 'collaborators_only' && !isCollaborator;
  return isClosed ? 'collaborators' : 'all';
}
