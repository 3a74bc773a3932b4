/** Pull requests by Forgejo's and Gitea's REST interface. */
import type {
  ClosedPullRequest,
  NewPullRequest,
  PullRequest,
  PullRequestChanges,
  Submodule,
} from '../code-host.ts';
import { HostError } from '../../host-error.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { expectList, expectNumber, expectRepository, expectStatus, expectText } from '../rest/answer.ts';
import { Opening } from '../rest/opening.ts';
import type { RestCalls } from '../rest/octokit.ts';
import { failureStatus } from '../rest/request-failure.ts';
import { unlessGone } from '../rest/unless-gone.ts';
import { toPullRequest } from '../rest/answered-pull.ts';
import { type AnsweredPull, isFrom } from './answers.ts';
import { call, PAGE_SIZE } from './calls.ts';
import { findPullRequest } from './pull-search.ts';

/** Each costs a request. */
const MAX_SUBMODULES = 10;
const PULL = '/repos/{owner}/{repo}/pulls/{index}';
/** The default of `WORK_IN_PROGRESS_PREFIXES` in a server's app.ini; their case does not matter. */
const DRAFT_TITLE = /^(?:WIP:|\[WIP\])/i;

export async function pullRequest(
  { octokit, retried }: RestCalls,
  { owner, name: repo }: RepositoryName,
  index: number,
): Promise<PullRequest | null> {
  return retried(() =>
    unlessGone(async () => {
      const { data } = await call<AnsweredPull>(octokit, `GET ${PULL}`, { owner, repo, index });
      if (data.number !== index) throw new TypeError('the host answers with another pull request');
      return toPullRequest(data, data.head.label);
    }),
  );
}

export async function openPullRequest(
  calls: RestCalls,
  repository: RepositoryName,
  { head, base, title, body, isDraft }: NewPullRequest,
): Promise<PullRequest> {
  const { owner, name: repo } = repository;
  const opening = new Opening({
    clock: calls.clock,
    find: () => findPullRequest(calls, repository, head),
    create: async () => {
      const data = {
        head: `${head.fork.owner}:${head.branch}`,
        base,
        // There is no other way to say it.
        title: isDraft && !DRAFT_TITLE.test(title) ? `WIP: ${title}` : title,
        body,
      };
      const answer = await call<AnsweredPull>(calls.octokit, 'POST /repos/{owner}/{repo}/pulls', {
        owner,
        repo,
        data,
      });
      expectStatus(answer, 201);
      if (!isFrom(head.fork.owner, head.branch, answer.data)) {
        throw new TypeError('another pull request was opened');
      }
      return toPullRequest(answer.data, answer.data.head.label);
    },
    // A branch is known as soon as its push was answered.
    isHeadUnknown: () => false,
  });
  return calls
    .retried(() => opening.attempt())
    .catch((error: unknown) => {
      throw opening.failure(error);
    });
}

export async function editPullRequest(
  { octokit, retried }: RestCalls,
  { owner, name: repo }: RepositoryName,
  index: number,
  changes: PullRequestChanges,
): Promise<void> {
  await retried(async () => {
    const answer = await call<AnsweredPull>(octokit, `PATCH ${PULL}`, { owner, repo, index, data: changes });
    // 201, although nothing is new.
    expectStatus(answer, 200, 201);
    if (expectNumber(answer.data.number) !== index) throw new TypeError('another pull request was edited');
  });
}

export async function closePullRequest(
  { octokit, retried }: RestCalls,
  { owner, name: repo }: RepositoryName,
  index: number,
): Promise<ClosedPullRequest> {
  const place = { owner, repo, index };
  try {
    return await retried(async () => {
      const answer = await call<AnsweredPull>(octokit, `PATCH ${PULL}`, {
        ...place,
        data: { state: 'closed' },
      });
      expectStatus(answer, 200, 201);
      const { number, state, merged, closed_at } = answer.data;
      const isClosed = expectNumber(number) === index && state === 'closed';
      if (!isClosed) throw new TypeError('the pull request is not closed');
      return merged ? { kind: 'merged' } : { kind: 'closed', at: closed_at };
    });
  } catch (error) {
    // "cannot change state of this pull request, it was already merged"
    if (!(error instanceof HostError) || failureStatus(error) !== 412) throw error;
    const { data } = await retried(() => call<AnsweredPull>(octokit, `GET ${PULL}`, place));
    if (data.merged) return { kind: 'merged' };
    throw error;
  }
}

interface AnsweredFile {
  readonly filename: string;
  readonly status: string;
  readonly additions: number;
  readonly deletions: number;
}

/**
 * The list of files does not say what is a submodule, but one counts as a file with a single line. Those are looked at,
 * the first few of them.
 */
export async function changedSubmodules(
  { octokit, retried }: RestCalls,
  { owner, name: repo }: RepositoryName,
  index: number,
): Promise<readonly Submodule[]> {
  const files = await retried(async () => {
    const query = { owner, repo, index, limit: PAGE_SIZE };
    return expectList((await call<readonly AnsweredFile[]>(octokit, `GET ${PULL}/files`, query)).data);
  });
  const candidates = files
    .filter(({ status, additions, deletions }) => status !== 'deleted' && additions === 1 && deletions <= 1)
    .slice(0, MAX_SUBMODULES)
    .map(({ filename }) => expectText(filename));
  if (candidates.length === 0) return [];
  const { data } = await retried(() => call<AnsweredPull>(octokit, `GET ${PULL}`, { owner, repo, index }));
  const { head } = data;
  // The objects are where they were pushed to.
  const fork = head.repo === null ? { owner, name: repo } : expectRepository(head.repo);
  const place = { owner: fork.owner, repo: fork.name, ref: expectText(head.sha) };
  const entries = await Promise.all(
    candidates.map((path) =>
      retried(async () => {
        const query = { ...place, path };
        const answer = await call<AnsweredEntry>(octokit, 'GET /repos/{owner}/{repo}/contents/{path}', query);
        return answer.data.type === 'submodule' ? { path, oid: expectText(answer.data.sha) } : null;
      }),
    ),
  );
  return entries.filter((entry) => entry !== null);
}

/** What is at a path. */
export interface AnsweredEntry {
  readonly type: string;
  readonly sha: string;
  readonly size: number;
  readonly encoding?: string | null;
  readonly content?: string | null;
}
