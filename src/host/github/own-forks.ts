/** What the deletion of the bot's old forks asks of GitHub. */
import type { Account, Repository } from '../code-host.ts';
import { expectRepository, expectStatus } from '../rest/answer.ts';
import { lastOpen } from '../rest/last-open.ts';
import type { RestCalls } from '../rest/octokit.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';

/** The most that GitHub gives at once. */
const ISSUES_PER_PAGE = 100;

export async function forkUsedAt(
  { octokit, retried }: RestCalls,
  fork: RepositoryName,
  repository: Repository,
  bot: Account,
): Promise<number | null> {
  return retried(async () => {
    const { data } = await octokit.rest.repos.get({ owner: fork.owner, repo: fork.name });
    const isItsFork =
      data.fork &&
      data.owner.id === bot.id &&
      data.parent?.id === repository.id &&
      fullName(expectRepository(data)) === fullName(fork);
    if (!isItsFork) return null;
    // A new fork has the date of its upstream's last push.
    const usedAt = Math.max(Date.parse(data.created_at), Date.parse(data.pushed_at));
    if (Number.isNaN(usedAt)) throw new TypeError('the host does not say when it was used');
    return usedAt;
  });
}

/** A classic token needs the scope `delete_repo`, or the answer is 403. */
export async function deleteFork({ octokit, retried }: RestCalls, fork: RepositoryName): Promise<void> {
  await retried(async () => {
    expectStatus(await octokit.rest.repos.delete({ owner: fork.owner, repo: fork.name }), 204);
  });
}

export async function lastOpenPullRequest(
  { octokit, retried }: RestCalls,
  { owner, name: repo }: RepositoryName,
  bot: Account,
): Promise<number | null> {
  const pages = async function* () {
    const list = { owner, repo, creator: bot.login, state: 'all', per_page: ISSUES_PER_PAGE } as const;
    for await (const { data } of octokit.paginate.iterator(octokit.rest.issues.listForRepo, list)) yield data;
  };
  return retried(() => lastOpen(bot, pages()));
}
