/** How GitHub is asked for repositories, forks and pull requests. */
import { HostError } from '../../host-error.ts';
import type { Head } from '../code-host.ts';
import { expectList, expectRepository, expectStatus, expectText } from '../rest/answer.ts';
import type { RepositoryDialect } from '../rest/repositories.ts';
import { addBranch, syncBranch } from './fork-branches.ts';
import { GITHUB_READS, PAGE_SIZE, withBranch } from './reads.ts';

export const GITHUB_REPOSITORIES: RepositoryDialect = {
  ...GITHUB_READS,

  contents: async ({ rest }, at) => {
    const { status, data } = await rest.repos.getContent({ ...at });
    return { status, data };
  },

  fork: ({ octokit, retried }, { owner, name: repo, id, networkId }) =>
    retried(async () => {
      const answer = await octokit.rest.repos.createFork({ owner, repo });
      // Not declared, but a host of another make may answer a fork that exists with 200.
      expectStatus(answer, 200, 201, 202);
      const fork = expectRepository(answer.data);
      const { parent, source } = answer.data;
      const origins = new Set<unknown>([parent?.id, source?.id]);
      if (origins.has(id) || origins.has(networkId)) return fork;
      throw new HostError('refused', 'The code host answered with a repository that is not its fork.');
    }),

  syncBranch,
  addBranch,

  deleteBranch: ({ octokit, retried }, { owner, name: repo }, branch) =>
    retried(async () => {
      expectStatus(await octokit.rest.git.deleteRef({ owner, repo, ref: `heads/${branch}` }), 204);
    }),

  async findPull({ octokit }, { owner, name: repo }, head) {
    const query = { head: labelOf(head), state: 'all', sort: 'created', direction: 'desc' } as const;
    const answer = await octokit.rest.pulls.list({ owner, repo, ...query, per_page: PAGE_SIZE });
    const all = expectList(answer.data);
    const found = all.filter((pull) => isFrom(head, pull.head));
    // A host that does not know the filter sends others; the one that is looked for may be on a later page.
    if (found.length === 0 && all.length === PAGE_SIZE) {
      throw new TypeError('the host does not filter pull requests');
    }
    const best = found.find(({ state }) => state === 'open') ?? found[0];
    return best === undefined ? null : withBranch(best);
  },

  async createPull({ rest }, at, { head, isDraft: draft, ...text }) {
    const { status, data } = await rest.pulls.create({ ...at, ...text, head: labelOf(head), draft });
    if (!isFrom(head, data.head)) throw new TypeError('another pull request was opened');
    return { status, data: withBranch(data) };
  },

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
function labelOf({ fork, branch }: Head): string {
  return `${fork.owner}:${branch}`;
}
