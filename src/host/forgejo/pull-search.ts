/**
 * The pull request of a branch, among all that the bot has in a repository. The list cannot be filtered by branch
 * (`ListPullRequests` in routers/api/v1/repo/pull.go, Gitea 1.26; Forgejo before 16: git-pkgs/forge#111), so it is read
 * page by page, the newest first.
 *
 * Anybody may push with a made-up pr-hash, whose branch is on no page. So the branches that were read are remembered
 * for a while, and one that was not among them is looked for only among newer pull requests.
 */
import { Recent } from '../../isolate/recent.ts';
import type { Head } from '../code-host.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import type { RestCalls } from '../rest/octokit.ts';
import { type AnsweredPull, isFrom, withBranch } from './answers.ts';
import { pagesOf } from './calls.ts';

/** Of the bot's pull requests in one repository. Usually the wanted one was opened a moment ago. */
const MAX_PAGES = 20;
/** A repository may be deleted and created again, with smaller numbers. */
const LIFE_MS = 10 * 60_000;
/** Together at most some 2 MB. */
const MAX_REPOSITORIES = 20;
/** The service's own are much shorter. */
const MAX_BRANCH_LENGTH = 100;

/** What the pages of one repository have shown. */
interface Read {
  readonly branches: ReadonlySet<string>;
  /** The number of the newest pull request. */
  readonly newest: number;
  /** False: there may be more than were read. */
  readonly isWhole: boolean;
}

/** By repository. */
const lastRead = new Recent<Read>({ lifeMs: LIFE_MS, most: MAX_REPOSITORIES });

/**
 * The open one, else the newest; null if there is none.
 * @throws TypeError if there are too many to look through.
 */
export async function findPull(
  { octokit, apiUrl, clock }: RestCalls,
  repository: RepositoryName,
  head: Head,
): Promise<(AnsweredPull & { branch: string }) | null> {
  const { fork, branch } = head;
  const key = `${apiUrl} ${fullName(repository)} ${fork.owner}`.toLowerCase();
  const earlier = lastRead.get(key, clock.now());
  const readTo = earlier === null || earlier.branches.has(branch) ? 0 : earlier.newest;
  // Older servers do not know the filter by author, and answer with all.
  const query = { owner: repository.owner, repo: repository.name, state: 'all', poster: fork.owner };
  const branches = new Set<string>();
  let newest = 0;
  let best: AnsweredPull | null = null;
  let pages = 0;
  let isWhole = true;
  for await (const page of pagesOf<AnsweredPull>(octokit, 'GET /repos/{owner}/{repo}/pulls', query)) {
    const found = page.filter((pull) => isFrom(head, pull));
    const open = found.find(({ state }) => state === 'open');
    if (open !== undefined) return withBranch(open);
    best ??= found[0] ?? null;
    for (const { number, head: shown } of page) {
      newest = Math.max(newest, number);
      if (shown.label.length <= MAX_BRANCH_LENGTH) branches.add(shown.label);
    }
    if (page.some(({ number }) => number <= readTo)) return orUnknown(best, earlier?.isWhole ?? true);
    isWhole = (pages += 1) < MAX_PAGES;
    if (!isWhole) break;
  }
  if (pages > 1) lastRead.set(key, { branches, newest, isWhole }, clock.now());
  return orUnknown(best, isWhole);
}

/** @throws TypeError if the one that is looked for may be on a page that was not read. */
function orUnknown(best: AnsweredPull | null, isWhole: boolean): (AnsweredPull & { branch: string }) | null {
  if (best === null && !isWhole) throw new TypeError('too many pull requests to look through');
  return best === null ? null : withBranch(best);
}
