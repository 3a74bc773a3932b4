/**
 * Repositories, forks and pull requests by GitHub's REST API.
 *
 * Reads, and writes with the same result when repeated (fork, sync, delete), are retried. Opening a pull request is
 * retried only after checking whether it has been opened.
 */
import type { Octokit } from '@octokit/rest';
import type { Clock } from '../../isolate/clock.ts';
import type { Oid } from '../../git/objects/oid.ts';
import {
  expectList,
  expectLogin,
  expectNumber,
  expectRepository,
  expectStatus,
  expectText,
} from '../rest/answer.ts';
import type {
  Account,
  ClosedPullRequest,
  FileAnswer,
  Head,
  NewPullRequest,
  PullRequest,
  PullRequestChanges,
  Repository,
  RepositoryHost,
  Submodule,
  UpstreamBranch,
} from '../code-host.ts';
import { addBranch, syncBranch } from './fork-branches.ts';
import { HostError } from '../../host-error.ts';
import { lookUp } from './look-up.ts';
import { isFrom, isHeadUnknown } from './pull-heads.ts';
import { toPullRequest } from '../rest/answered-pull.ts';
import { openCalls, type RestAccess, type RestCalls, type RetriedCalls } from '../rest/octokit.ts';
import { Opening } from '../rest/opening.ts';
import { underCurrentName } from '../rest/renamed.ts';
import { unlessGone } from '../rest/unless-gone.ts';
import type { RepositoryName } from '../../repository-name.ts';

/** The most that GitHub gives at once. */
const ENTRIES_PER_PAGE = 100;

export class GitHubRepositories implements RepositoryHost {
  readonly #calls: RestCalls;
  readonly #retried: RetriedCalls;

  constructor(access: RestAccess & { clock: Clock }) {
    this.#calls = openCalls(access);
    this.#retried = this.#calls.retried;
  }

  get #octokit(): Octokit {
    return this.#calls.octokit;
  }

  async account(): Promise<Account> {
    return this.#retried(async () => {
      const { data } = await this.#octokit.rest.users.getAuthenticated();
      return { id: expectNumber(data.id), login: expectLogin(data.login) };
    });
  }

  async repository(name: RepositoryName): Promise<Repository> {
    return lookUp(this.#calls, name);
  }

  /** Asked for as JSON and not as raw bytes: of more than 1 MB the host then sends nothing. */
  async file({ owner, name: repo }: RepositoryName, path: string): Promise<FileAnswer> {
    try {
      return await this.#retried(async () => {
        const { data } = await this.#octokit.rest.repos.getContent({ owner, repo, path });
        if (Array.isArray(data)) return { kind: 'unreadable' };
        expectText(data.type);
        const isWhole = data.type === 'file' && data.encoding === 'base64';
        return isWhole
          ? { kind: 'file', content: Buffer.from(data.content, 'base64') }
          : { kind: 'unreadable' };
      });
    } catch (error) {
      if (error instanceof HostError && error.code === 'missing') return { kind: 'missing' };
      throw error;
    }
  }

  async fork(repository: Repository): Promise<RepositoryName> {
    return this.#renamed(repository, ({ owner, name: repo }) =>
      this.#retried(async () => {
        const answer = await this.#octokit.rest.repos.createFork({ owner, repo });
        // Not declared, but a host of another make may answer a fork that exists with 200.
        expectStatus(answer, 200, 201, 202);
        const fork = expectRepository(answer.data);
        const { parent, source } = answer.data;
        const origins = new Set<unknown>([parent?.id, source?.id]);
        const isItsFork = origins.has(repository.id) || origins.has(repository.networkId);
        if (isItsFork) return fork;
        throw new HostError('refused', 'The code host answered with a repository that is not its fork.');
      }),
    );
  }

  async syncBranch(fork: RepositoryName, branch: UpstreamBranch): Promise<void> {
    return syncBranch(this.#calls, fork, branch);
  }

  async addBranch(fork: RepositoryName, branch: UpstreamBranch, ground: Oid): Promise<void> {
    return addBranch(this.#calls, fork, branch, ground);
  }

  async deleteBranch(fork: RepositoryName, branch: string): Promise<void> {
    await this.#renamed(fork, ({ owner, name: repo }) =>
      this.#retried(async () => {
        const answer = await this.#octokit.rest.git.deleteRef({ owner, repo, ref: `heads/${branch}` });
        expectStatus(answer, 204);
      }),
    );
  }

  async pullRequest({ owner, name: repo }: RepositoryName, number: number): Promise<PullRequest | null> {
    return this.#retried(() =>
      unlessGone(async () => {
        const { data } = await this.#octokit.rest.pulls.get({ owner, repo, pull_number: number });
        if (data.number !== number) throw new TypeError('the host answers with another pull request');
        return toPullRequest(data, data.head.ref);
      }),
    );
  }

  async findPullRequest({ owner, name: repo }: RepositoryName, head: Head): Promise<PullRequest | null> {
    const label = labelOf(head);
    return this.#retried(async () => {
      const query = {
        head: label,
        state: 'all',
        sort: 'created',
        direction: 'desc',
        per_page: ENTRIES_PER_PAGE,
      } as const;
      const answer = await this.#octokit.rest.pulls.list({ owner, repo, ...query });
      const all = expectList(answer.data);
      const found = all.filter((pull) => isFrom(label, pull.head));
      // A host that does not know the filter sends others; the one that is looked for may be on a later page.
      if (found.length === 0 && all.length === ENTRIES_PER_PAGE) {
        throw new TypeError('the host does not filter pull requests');
      }
      const best = found.find(({ state }) => state === 'open') ?? found[0];
      return best === undefined ? null : toPullRequest(best, best.head.ref);
    });
  }

  async openPullRequest(
    repository: RepositoryName,
    { head, isDraft: draft, ...text }: NewPullRequest,
  ): Promise<PullRequest> {
    const label = labelOf(head);
    return this.#renamed(repository, async ({ owner, name: repo }) => {
      const opening = new Opening({
        clock: this.#calls.clock,
        find: () => this.findPullRequest({ owner, name: repo }, head),
        isHeadUnknown,
        create: async () => {
          const answer = await this.#octokit.rest.pulls.create({ owner, repo, ...text, head: label, draft });
          expectStatus(answer, 201);
          if (!isFrom(label, answer.data.head)) throw new TypeError('another pull request was opened');
          return toPullRequest(answer.data, answer.data.head.ref);
        },
      });
      return this.#retried(() => opening.attempt()).catch((error: unknown) => {
        throw withReason(opening.failure(error));
      });
    });
  }

  async changedSubmodules(
    { owner, name: repo }: RepositoryName,
    number: number,
  ): Promise<readonly Submodule[]> {
    return this.#retried(async () => {
      const list = { owner, repo, pull_number: number, per_page: ENTRIES_PER_PAGE };
      const { data } = await this.#octokit.rest.pulls.listFiles(list);
      return expectList(data).flatMap(({ filename, patch }) => {
        const oid = /^\+Subproject commit ([0-9a-f]{40})$/m.exec(patch ?? '')?.[1];
        return oid === undefined ? [] : [{ path: expectText(filename), oid }];
      });
    });
  }

  async closePullRequest(repository: RepositoryName, number: number): Promise<ClosedPullRequest> {
    return this.#renamed(repository, ({ owner, name: repo }) =>
      this.#retried(async () => {
        const change = { owner, repo, pull_number: number, state: 'closed' } as const;
        const { data } = await this.#octokit.rest.pulls.update(change);
        const isClosed = expectNumber(data.number) === number && data.state === 'closed';
        if (!isClosed) throw new TypeError('the pull request is not closed');
        return data.merged ? { kind: 'merged' } : { kind: 'closed', at: data.closed_at };
      }),
    );
  }

  async editPullRequest(
    repository: RepositoryName,
    number: number,
    changes: PullRequestChanges,
  ): Promise<void> {
    await this.#renamed(repository, ({ owner, name: repo }) =>
      this.#retried(async () => {
        const { data } = await this.#octokit.rest.pulls.update({
          owner,
          repo,
          pull_number: number,
          ...changes,
        });
        if (expectNumber(data.number) !== number) throw new TypeError('another pull request was edited');
      }),
    );
  }

  #renamed<T>(repository: RepositoryName, write: (repository: RepositoryName) => Promise<T>): Promise<T> {
    return underCurrentName((name) => this.repository(name), repository, write);
  }
}

/**
 * "Not Found" is all that GitHub says to an account that may not open a pull request: one that has as many open as the
 * repository allows, for example (https://github.com/citrineos/citrineos-core/pull/1103).
 */
function withReason(error: unknown): unknown {
  if (!(error instanceof HostError) || error.code !== 'missing') return error;
  const sentence =
    'The code host does not let this service open a pull request there, and does not say why. ' +
    'The repository may limit how many pull requests an account has open.';
  return new HostError('refused', sentence, error);
}

/** As GitHub names a branch of another repository of the network. */
function labelOf({ fork, branch }: Head): string {
  return `${fork.owner}:${branch}`;
}
