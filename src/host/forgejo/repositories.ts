/** How Forgejo and Gitea are asked for repositories and pull requests. A push to upstream opens those (`agit.ts`). */
import type { Oid } from '../../git/objects/oid.ts';
import type { Clock } from '../../isolate/clock.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import type { AgitHost, AgitRequest, PullRequest, Submodule } from '../code-host.ts';
import { expectList, expectNumber, expectText } from '../rest/answer.ts';
import type { RestAccess, RestCalls } from '../rest/octokit.ts';
import type { ThreadPlace } from '../rest/reads.ts';
import { type RepositoryDialect, RestRepositories } from '../rest/repositories.ts';
import { unlessMissing } from '../rest/unless-missing.ts';
import { agitPush, hasText, isOvertaken, shownText } from './agit.ts';
import { type AnsweredPull, isBots, withBranch } from './answers.ts';
import { call, PAGE_SIZE, pagesOf, PULL } from './calls.ts';
import { FORGEJO_READS } from './reads.ts';

/** Each costs a request. */
const MAX_SUBMODULES = 10;
const CONTENTS = '/repos/{owner}/{repo}/contents/{path}';

interface AnsweredEntry {
  readonly type: string;
  readonly sha: string;
  readonly size: number;
  readonly encoding?: string | null;
  readonly content?: string | null;
}

const PULLS = 'GET /repos/{owner}/{repo}/pulls';
const BY_HEAD = 'GET /repos/{owner}/{repo}/pulls/{base}/{head}';
/** Each costs a request. */
const MAX_BASES = 5;
/** Of the bot's pull requests in a repository, the newest first: the wanted one was opened or updated a moment ago. */
const MAX_PAGES = 4;

const DIALECT: RepositoryDialect = {
  ...FORGEJO_READS,
  contents: (octokit, at) => call<AnsweredEntry>(octokit, `GET ${CONTENTS}`, { ...at }),

  /** By the server's own number for it, which stays when the repository is renamed. */
  isRecorded: ({ user, id }, { owner }, repository, recorded) =>
    isBots({ user }, owner) &&
    (recorded.id === undefined
      ? fullName(repository).toLowerCase() === `${recorded.owner}/${recorded.repo}`.toLowerCase()
      : recorded.id === id),

  /**
   * By base and head, of which the server shows the oldest. The bases are those of the bot's newest ones, the default
   * branch before the others.
   */
  async findPull({ octokit, retried }, { owner, name: repo }, head) {
    const place = { owner, repo };
    const query = { ...place, state: 'all', poster: head.owner, limit: PAGE_SIZE };
    const bases = await retried(async () => {
      const { data } = await call<readonly AnsweredPull[]>(octokit, PULLS, query);
      // Older servers do not know the filter by author, and answer with all.
      const own = expectList(data).filter(
        (pull) => expectNumber(pull.number) > 0 && isBots(pull, head.owner),
      );
      const named = new Set(own.map(({ base }) => expectText(base.ref)));
      const main = own[0]?.base.repo?.default_branch;
      return [...named].toSorted((one, other) => Number(other === main) - Number(one === main));
    });
    let closed: AnsweredPull | null = null;
    for (const base of bases.slice(0, MAX_BASES)) {
      const at = { ...place, base, head: `${head.owner.toLowerCase()}/${head.branch}` };
      const found = await unlessMissing(() => retried(() => call<AnsweredPull>(octokit, BY_HEAD, at)));
      if (found?.data.state === 'open' && isBots(found.data, head.owner)) return withBranch(found.data);
      closed ??= found?.data ?? null;
    }
    return closed === null || !isBots(closed, head.owner) ? null : withBranch(closed);
  },

  sourceOf: ({ number }, repository) => ({
    repository: { owner: repository.owner, name: repository.name },
    refName: `refs/pull/${number}/head`,
  }),

  changePull: (octokit, at, data) => call<AnsweredPull>(octokit, `PATCH ${PULL}`, { ...at, data }),
  changedSubmodules,
};

export class AgitRepositories extends RestRepositories implements AgitHost {
  readonly way = 'agit';
  readonly agitPush = agitPush;
  readonly isOvertaken = isOvertaken;

  constructor(access: RestAccess & { readonly clock: Clock }) {
    super(access, DIALECT);
  }

  async delivered(
    repository: RepositoryName,
    index: number,
    text: AgitRequest['text'],
  ): Promise<PullRequest> {
    const place = { owner: repository.owner, repo: repository.name, index };
    const { pull, shown } = await this.retried(async (octokit) => {
      const { data } = await call<AnsweredPull>(octokit, `GET ${PULL}`, place);
      return {
        pull: this.toPullRequest(withBranch(data), repository),
        shown: { title: expectText(data.title), body: data.body ?? '' },
      };
    });
    if (text === null || hasText(shown, shownText(text))) return pull;
    await this.editPullRequest(repository, index, shownText(text));
    return pull;
  }

  async findDelivered(repository: RepositoryName, owner: string, tip: Oid): Promise<PullRequest | null> {
    const query = { owner: repository.owner, repo: repository.name, state: 'open', poster: owner };
    return this.retried(async (octokit) => {
      let pages = 0;
      for await (const page of pagesOf<AnsweredPull>(octokit, PULLS, query)) {
        const found = page.find(
          (pull) => pull.head.sha === tip && isBots(pull, owner) && pull.state === 'open',
        );
        if (found !== undefined) return this.toPullRequest(withBranch(found), repository);
        if ((pages += 1) === MAX_PAGES) break;
      }
      return null;
    });
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
  const place = { owner, repo, ref: expectText(head.sha) };
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
