/** What GitHub says of a repository. */
import type { Repository } from '../code-host.ts';
import { rememberVisibility } from '../git/visibility.ts';
import type { RepositoryName } from '../repository-name.ts';
import { expectFlag, expectNumber, expectRepository, expectSize } from '../rest/answer.ts';
import type { RestCalls } from '../rest/octokit.ts';

/** @throws HostError */
export async function lookUp(
  { octokit, retried, apiUrl, clock }: RestCalls,
  { owner, name }: RepositoryName,
): Promise<Repository> {
  return retried(async () => {
    const { data } = await octokit.rest.repos.get({ owner, repo: name });
    const id = expectNumber(data.id);
    const current = expectRepository(data);
    const isPrivate = expectFlag(data.private);
    for (const known of [{ owner, name }, current]) {
      rememberVisibility(apiUrl, known, isPrivate, clock.now());
    }
    return {
      ...current,
      id,
      networkId: data.source?.id ?? id,
      isPrivate,
      isArchived: expectFlag(data.archived),
      sizeKb: expectSize(data.size),
    };
  });
}
