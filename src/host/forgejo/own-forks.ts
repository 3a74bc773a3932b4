/** What the deletion of the bot's old forks asks of Forgejo and Gitea. */
import type { Account, Repository } from '../code-host.ts';
import { expectRepository, expectStatus } from '../rest/answer.ts';
import { lastOpen } from '../rest/last-open.ts';
import type { RestCalls } from '../rest/octokit.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { type AnsweredRepository, isForkOf } from './answers.ts';
import { call, pagesOf } from './calls.ts';

type Dates = { readonly created_at: string; readonly updated_at: string };

export async function forkUsedAt(
  { octokit, retried }: RestCalls,
  fork: RepositoryName,
  repository: Repository,
  bot: Account,
): Promise<number | null> {
  return retried(async () => {
    const place = { owner: fork.owner, repo: fork.name };
    const { data } = await call<AnsweredRepository & Dates>(octokit, 'GET /repos/{owner}/{repo}', place);
    const isItsFork =
      isForkOf(data, repository, bot.login) && fullName(expectRepository(data)) === fullName(fork);
    if (!isItsFork) return null;
    const usedAt = Math.max(Date.parse(data.created_at), Date.parse(data.updated_at));
    if (Number.isNaN(usedAt)) throw new TypeError('the host does not say when it was used');
    return usedAt;
  });
}

export async function deleteFork({ octokit, retried }: RestCalls, fork: RepositoryName): Promise<void> {
  await retried(async () => {
    const place = { owner: fork.owner, repo: fork.name };
    expectStatus(await call<unknown>(octokit, 'DELETE /repos/{owner}/{repo}', place), 204);
  });
}

export async function lastOpenPullRequest(
  { octokit, retried }: RestCalls,
  { owner, name: repo }: RepositoryName,
  bot: Account,
): Promise<number | null> {
  const list = { owner, repo, type: 'pulls', created_by: bot.login, state: 'all' };
  return retried(() => lastOpen(bot, pagesOf(octokit, 'GET /repos/{owner}/{repo}/issues', list)));
}
