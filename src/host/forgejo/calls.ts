/** Calls of Forgejo's and Gitea's REST interface, which Octokit knows how to make but not by name. */
import type { Octokit } from '@octokit/rest';
import { expectList } from '../rest/answer.ts';
import type { Answer } from '../rest/reads.ts';

export const ISSUE = '/repos/{owner}/{repo}/issues/{index}';
export const PULL = '/repos/{owner}/{repo}/pulls/{index}';

/** The most that a server gives at once unless its operator allows more (`[api] MAX_RESPONSE_ITEMS`). */
export const PAGE_SIZE = 50;

interface AnswerWithHeaders<T> extends Answer<T> {
  readonly headers: {
    readonly link?: string | undefined;
    /** Of the whole list. */
    readonly 'x-total-count'?: string | undefined;
  };
}

/**
 * One call. `T` is what the interface promises; the reader of a field checks it.
 * @param route such as `GET /repos/{owner}/{repo}`; parameters that it does not name become the query, or the body.
 */
export async function call<T>(
  octokit: Octokit,
  route: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<AnswerWithHeaders<T>> {
  return (await octokit.request(route, { ...parameters })) as AnswerWithHeaders<T>;
}

/**
 * Pages of a list, one after the other, as long as there are any and somebody asks for them.
 *
 * Not every list has a link to its next page: those of forks, labels and reviews only say how many entries there are in
 * all (`SetTotalCountHeader` without `SetLinkHeader` in routers/api/v1/repo/{fork,label,pull_review}.go, Gitea 1.26).
 * They may count more than they show.
 */
export async function* pagesOf<T>(
  octokit: Octokit,
  route: string,
  parameters: Readonly<Record<string, unknown>>,
): AsyncGenerator<readonly T[]> {
  let seen = 0;
  for (let page = 1; ; page++) {
    const { data, headers } = await call<readonly T[]>(octokit, route, {
      ...parameters,
      page,
      limit: PAGE_SIZE,
    });
    // A page of another shape must not pass for the end of the list.
    yield expectList(data);
    seen += data.length;
    const isNextNamed = headers.link?.includes('rel="next"') === true;
    const isMoreCounted = Number(headers['x-total-count'] ?? 0) > seen;
    if (data.length === 0 || !(isNextNamed || isMoreCounted)) return;
  }
}
