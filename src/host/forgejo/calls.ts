/** Calls of Forgejo's and Gitea's REST interface, which Octokit knows how to make but not by name. */
import type { Octokit } from '@octokit/rest';
import type { Repository } from '../code-host.ts';
import { rememberVisibility } from '../git/visibility.ts';
import type { RepositoryName } from '../repository-name.ts';
import { expectList } from '../rest/answer.ts';
import type { RestCalls } from '../rest/octokit.ts';
import { type AnsweredRepository, toRepository } from './answers.ts';

/** The most that a server gives at once unless its operator allows more (`[api] MAX_RESPONSE_ITEMS`). */
export const PAGE_SIZE = 50;

export interface Answer<T> {
  readonly status: number;
  readonly data: T;
  readonly headers: { readonly link?: string | undefined };
}

/**
 * One call. `T` is what the interface promises; whoever reads a field checks it.
 * @param route such as `GET /repos/{owner}/{repo}`; parameters that it does not name become the query, or the body.
 */
export async function call<T>(
  octokit: Octokit,
  route: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<Answer<T>> {
  return (await octokit.request(route, { ...parameters })) as Answer<T>;
}

/** Pages of a list, one after the other, as long as there are any and somebody asks for them. */
export async function* pagesOf<T>(
  octokit: Octokit,
  route: string,
  parameters: Readonly<Record<string, unknown>>,
): AsyncGenerator<readonly T[]> {
  for (let page = 1; ; page++) {
    const answer = await call<readonly T[]>(octokit, route, { ...parameters, page, limit: PAGE_SIZE });
    // A page of another shape must not pass for the end of the list.
    yield expectList(answer.data);
    if (answer.headers.link?.includes('rel="next"') !== true) return;
  }
}

/** @throws HostError */
export async function lookUp(
  { octokit, retried, apiUrl, clock }: RestCalls,
  { owner, name }: RepositoryName,
): Promise<Repository> {
  return retried(async () => {
    const place = { owner, repo: name };
    const { data } = await call<AnsweredRepository>(octokit, 'GET /repos/{owner}/{repo}', place);
    const repository = toRepository(data);
    for (const known of [{ owner, name }, repository]) {
      rememberVisibility(apiUrl, known, repository.isPrivate, clock.now());
    }
    return repository;
  });
}
