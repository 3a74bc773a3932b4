/** How GitHub is asked for repositories and pull requests; the bot pushes to forks, and opens pull requests from there. */
import { HostError } from '../../host-error.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { Clock } from '../../isolate/clock.ts';
import type { RepositoryName } from '../../repository-name.ts';
import type {
  ForkHost,
  Head,
  NewPullRequest,
  PullRequest,
  Repository,
  UpstreamBranch,
} from '../code-host.ts';
import { expectList, expectRepository, expectStatus, expectText } from '../rest/answer.ts';
import type { RestAccess } from '../rest/octokit.ts';
import { Opening } from '../rest/opening.ts';
import { type RepositoryDialect, RestRepositories } from '../rest/repositories.ts';
import { addBranch, syncBranch } from './fork-branches.ts';
import { GITHUB_READS, PAGE_SIZE, withBranch } from './reads.ts';

const DIALECT: RepositoryDialect = {
  ...GITHUB_READS,

  contents: async ({ rest }, at) => {
    const { status, data } = await rest.repos.getContent({ ...at });
    return { status, data };
  },

  isRecorded: ({ branch }, head) => branch === head.branch,

  findPull: ({ octokit: { rest }, retried }, { owner, name: repo }, head) =>
    retried(async () => {
      const query = { head: labelOf(head), state: 'all', sort: 'created', direction: 'desc' } as const;
      const answer = await rest.pulls.list({ owner, repo, ...query, per_page: PAGE_SIZE });
      const all = expectList(answer.data);
      const found = all.filter((pull) => isFrom(head, pull.head));
      // A host that does not know the filter sends others; the one that is looked for may be on a later page.
      if (found.length === 0 && all.length === PAGE_SIZE) {
        throw new TypeError('the host does not filter pull requests');
      }
      const best = found.find(({ state }) => state === 'open') ?? found[0];
      return best === undefined ? null : withBranch(best);
    }),

  sourceOf: ({ branch, head }) =>
    head.repo === null
      ? null
      : { repository: expectRepository(head.repo), refName: `refs/heads/${expectText(branch)}` },

  changePull: ({ rest }, { index, ...at }, changes) =>
    rest.pulls.update({ ...at, pull_number: index, ...changes }),

  changedSubmodules: ({ octokit, retried }, { index, ...at }) =>
    retried(async () => {
      const list = { ...at, pull_number: index, per_page: PAGE_SIZE };
      const { data } = await octokit.rest.pulls.listFiles(list);
      return expectList(data).flatMap(({ filename, patch }) => {
        const oid = /^\+Subproject commit ([0-9a-f]{40})$/m.exec(patch ?? '')?.[1];
        return oid === undefined ? [] : [{ path: expectText(filename), oid }];
      });
    }),
};

export class GitHubRepositories extends RestRepositories implements ForkHost {
  readonly way = 'fork';

  constructor(access: RestAccess & { readonly clock: Clock }) {
    super(access, DIALECT);
  }

  async fork(repository: Repository): Promise<RepositoryName> {
    const { id, networkId } = repository;
    return this.created(repository, ({ owner, name: repo }) =>
      this.retried(async ({ rest }) => {
        const answer = await rest.repos.createFork({ owner, repo });
        // Not declared, but a host of another make may answer a fork that exists with 200.
        expectStatus(answer, 200, 201, 202);
        const fork = expectRepository(answer.data);
        const { parent, source } = answer.data;
        const origins = new Set<unknown>([parent?.id, source?.id]);
        if (origins.has(id) || origins.has(networkId)) return fork;
        throw new HostError('refused', 'The code host answered with a repository that is not its fork.');
      }),
    );
  }

  async syncBranch(fork: RepositoryName, branch: UpstreamBranch): Promise<void> {
    return syncBranch(this.calls, fork, branch);
  }

  async addBranch(fork: RepositoryName, branch: UpstreamBranch, ground: Oid): Promise<void> {
    return addBranch(this.calls, fork, branch, ground);
  }

  async deleteBranch(fork: RepositoryName, branch: string): Promise<void> {
    return this.renamed(fork, ({ owner, name: repo }) =>
      this.retried(async ({ rest }) => {
        expectStatus(await rest.git.deleteRef({ owner, repo, ref: `heads/${branch}` }), 204);
      }),
    );
  }

  async openPullRequest(repository: RepositoryName, request: NewPullRequest): Promise<PullRequest> {
    return this.created(repository, async (name) => {
      const opening = new Opening({
        clock: this.calls.clock,
        find: () => this.findPullRequest(name, request.head, null),
        create: () => this.#create(name, request),
      });
      return this.retried(() => opening.attempt()).catch((error: unknown) => {
        throw opening.failure(error);
      });
    });
  }

  async #create(name: RepositoryName, { head, isDraft: draft, ...text }: NewPullRequest) {
    const at = { owner: name.owner, repo: name.name };
    const { rest } = this.calls.octokit;
    const answer = await rest.pulls.create({ ...at, ...text, head: labelOf(head), draft });
    if (!isFrom(head, answer.data.head)) throw new TypeError('another pull request was opened');
    expectStatus(answer, 201);
    return this.toPullRequest(withBranch(answer.data), name);
  }
}

/** GitHub's types promise a user; its answers have none where the account was deleted. */
interface AnsweredHead {
  readonly label: string | null;
  readonly ref: string;
  readonly user: { readonly login: string } | null;
}

/** Whether a pull request is the one of this head. Logins are compared without regard to case. */
function isFrom(wanted: Head, { label, ref, user }: AnsweredHead): boolean {
  const names = [label, user === null ? null : `${user.login}:${ref}`];
  return names.some((name) => name?.toLowerCase() === labelOf(wanted).toLowerCase());
}

/** As GitHub names a branch of another repository of the network. */
function labelOf({ owner, branch }: Head): string {
  return `${owner}:${branch}`;
}
