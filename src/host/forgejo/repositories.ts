/** How Forgejo and Gitea are asked for repositories, forks and pull requests; for branches also by Git. */
import type { Clock } from '../../isolate/clock.ts';
import { isolateMemory } from '../../isolate/memory-budget.ts';
import { GitTransport } from '../git/git-transport.ts';
import { SmartHttp } from '../git/smart-http.ts';
import { visibilityAt } from '../git/visibility.ts';
import type { RepositoryName } from '../../repository-name.ts';
import type { Submodule } from '../code-host.ts';
import { expectList, expectRepository, expectText } from '../rest/answer.ts';
import type { RestAccess, RestCalls } from '../rest/octokit.ts';
import type { ThreadPlace } from '../rest/reads.ts';
import type { RepositoryDialect } from '../rest/repositories.ts';
import { type AnsweredPull, isFrom, withBranch } from './answers.ts';
import { call, PAGE_SIZE, PULL } from './calls.ts';
import { addBranch, deleteBranch, syncBranch } from './fork-branches.ts';
import { forkOf } from './forks.ts';
import { findPull } from './pull-search.ts';
import { FORGEJO_READS } from './reads.ts';

/** The REST interface stands below the pages. */
const API_PATH = '/api/v1';
/** Each costs a request. */
const MAX_SUBMODULES = 10;
const CONTENTS = '/repos/{owner}/{repo}/contents/{path}';
/** The default of `WORK_IN_PROGRESS_PREFIXES` in a server's app.ini; their case does not matter. */
const DRAFT_TITLE = /^(?:WIP:|\[WIP\])/i;

interface AnsweredEntry {
  readonly type: string;
  readonly sha: string;
  readonly size: number;
  readonly encoding?: string | null;
  readonly content?: string | null;
}

export function forgejoRepositories(access: RestAccess & { readonly clock: Clock }): RepositoryDialect {
  const { apiUrl, http, clock } = access;
  const smartHttp = new SmartHttp(apiUrl.slice(0, -API_PATH.length), access, http);

  /** Memory for the history that the work reads is given back when it ends. */
  async function withGit<T>(calls: RestCalls, work: (transport: GitTransport) => Promise<T>): Promise<T> {
    const memory = isolateMemory.open(clock);
    try {
      const repository = (name: RepositoryName) => FORGEJO_READS.lookUp(calls, name);
      const visibility = visibilityAt({ repository }, apiUrl, clock);
      return await work(new GitTransport(smartHttp, clock, memory, visibility));
    } finally {
      memory.end();
    }
  }

  return {
    ...FORGEJO_READS,
    contents: (octokit, at) => call<AnsweredEntry>(octokit, `GET ${CONTENTS}`, { ...at }),
    fork: async (calls, repository, login) => forkOf(calls, repository, await login()),
    syncBranch: (calls, fork, branch) =>
      withGit(calls, (transport) => syncBranch({ calls, transport }, fork, branch)),
    addBranch: (calls, fork, branch, ground) =>
      withGit(calls, (transport) => addBranch({ calls, transport }, fork, branch, ground)),
    deleteBranch: (calls, fork, branch) =>
      withGit(calls, (transport) => deleteBranch({ calls, transport }, fork, branch)),
    findPull,

    async createPull(octokit, at, { head, base, title, body, isDraft }) {
      const data = {
        head: `${head.fork.owner}:${head.branch}`,
        base,
        // There is no other way to say it.
        title: isDraft && !DRAFT_TITLE.test(title) ? `WIP: ${title}` : title,
        body,
      };
      const route = 'POST /repos/{owner}/{repo}/pulls';
      const answer = await call<AnsweredPull>(octokit, route, { ...at, data });
      if (!isFrom(head, answer.data)) throw new TypeError('another pull request was opened');
      return { status: answer.status, data: withBranch(answer.data) };
    },

    changePull: (octokit, at, data) => call<AnsweredPull>(octokit, `PATCH ${PULL}`, { ...at, data }),
    changedSubmodules,
  };
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
async function changedSubmodules(
  { octokit, retried }: RestCalls,
  { owner, repo, index }: ThreadPlace,
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
  const { head } = await retried(async () => {
    return (await call<AnsweredPull>(octokit, `GET ${PULL}`, { owner, repo, index })).data;
  });
  // The objects are where they were pushed to.
  const fork = head.repo === null ? { owner, name: repo } : expectRepository(head.repo);
  const place = { owner: fork.owner, repo: fork.name, ref: expectText(head.sha) };
  const entries = await Promise.all(
    candidates.map((path) =>
      retried(async () => {
        const { data } = await call<AnsweredEntry>(octokit, `GET ${CONTENTS}`, { ...place, path });
        return data.type === 'submodule' ? { path, oid: expectText(data.sha) } : null;
      }),
    ),
  );
  return entries.filter((entry) => entry !== null);
}
