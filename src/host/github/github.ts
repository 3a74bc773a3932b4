/**
 * The parts of GitHub's REST API that the service needs: the bot's account, forks and their branches, pull requests.
 *
 * Reads, and writes with the same result when repeated (fork, sync, delete), are retried. Opening a pull request is
 * retried only after checking whether it has been opened.
 */
import type { Octokit } from '@octokit/rest';
import type { Clock } from '../../clock.ts';
import type { Oid } from '../../git/oid.ts';
import {
  expectFlag,
  expectList,
  expectLogin,
  expectNumber,
  expectRepository,
  expectSize,
  expectStatus,
  expectText,
} from '../rest/answer.ts';
import { isFrom, toPullRequest } from '../rest/answered-pull.ts';
import { addBranch, syncBranch } from './fork-branches.ts';
import { HostError } from '../host-error.ts';
import {
  openOctokit,
  type RestAccess,
  type RestCalls,
  type RetriedCalls,
  retriedCalls,
} from '../rest/octokit.ts';
import { Opening } from '../rest/opening.ts';
import { underCurrentName } from '../rest/renamed.ts';
import type { RepositoryName } from '../repository-name.ts';
import { rememberVisibility } from '../git/visibility.ts';

/** The most that GitHub gives at once. */
const PULLS_PER_PAGE = 100;

export interface Repository extends RepositoryName {
  readonly id: number;
  /** Id of the repository that it is a fork of in the end; its own if it is no fork. */
  readonly networkId: number;
  readonly isPrivate: boolean;
  readonly isArchived: boolean;
  readonly sizeKb: number;
}

export interface PullRequest {
  readonly number: number;
  readonly url: string;
  readonly isOpen: boolean;
  /** The branch to merge into. */
  readonly base: string;
  /** The repository of its branch; null if that is gone. */
  readonly fork: RepositoryName | null;
}

export interface NewPullRequest {
  /** `owner:branch` of the fork. */
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

export interface ClosedPullRequest {
  /** As the host writes it. */
  readonly closedAt: string | null;
  /** True if it was already merged, so there was nothing to close. */
  readonly isMerged: boolean;
}

export interface HostFile {
  /** Null: a folder or a submodule, or more than 1 MB. */
  readonly content: Uint8Array | null;
}

/** A submodule, and the commit of its own repository that it stands for. */
export interface Submodule {
  readonly path: string;
  readonly oid: Oid;
}

/** The most that GitHub gives at once. */
const FILES_PER_PAGE = 100;

export class GitHub {
  readonly #calls: RestCalls;
  readonly #octokit: Octokit;
  readonly #retried: RetriedCalls;
  readonly #clock: Clock;
  readonly #apiUrl: string;

  constructor(options: RestAccess & { clock: Clock }) {
    this.#octokit = openOctokit(options);
    this.#clock = options.clock;
    this.#apiUrl = options.apiUrl;
    this.#retried = retriedCalls(options);
    this.#calls = { octokit: this.#octokit, retried: this.#retried };
  }

  /** The bot account's name. */
  async botLogin(): Promise<string> {
    return this.#retried(async () =>
      expectLogin((await this.#octokit.rest.users.getAuthenticated()).data.login),
    );
  }

  /** The repository under its current name; the host follows renames. */
  async repository({ owner, name }: RepositoryName): Promise<Repository> {
    return this.#retried(async () => {
      const { data } = await this.#octokit.rest.repos.get({ owner, repo: name });
      const id = expectNumber(data.id);
      const current = expectRepository(data);
      const isPrivate = expectFlag(data.private);
      const now = this.#clock.now();
      rememberVisibility(this.#apiUrl, { owner, name }, isPrivate, now);
      rememberVisibility(this.#apiUrl, current, isPrivate, now);
      return {
        ...current,
        id,
        networkId: data.source?.id ?? id,
        isPrivate,
        isArchived: expectFlag(data.archived),
        sizeKb: expectSize(data.size),
      };
    });
  }

  /**
   * A file at the tip of the default branch; null if there is no such path, or no such repository. Asked for as JSON and
   * not as raw bytes: of more than 1 MB the host then sends nothing.
   */
  async file({ owner, name: repo }: RepositoryName, path: string): Promise<HostFile | null> {
    try {
      return await this.#retried(async () => {
        const { data } = await this.#octokit.rest.repos.getContent({ owner, repo, path });
        if (Array.isArray(data)) return { content: null };
        expectText(data.type);
        const isWhole = data.type === 'file' && data.encoding === 'base64';
        return { content: isWhole ? Buffer.from(data.content, 'base64') : null };
      });
    } catch (error) {
      if (error instanceof HostError && error.code === 'missing') return null;
      throw error;
    }
  }

  /**
   * The bot's fork: the one that exists, or a new one whose objects appear later. It may have another name. An account
   * has one fork in a network, which may be a fork of another of its repositories.
   */
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

  /** Brings a branch of the fork to where upstream has it. */
  async syncBranch(fork: RepositoryName, branch: string, upstreamTip: Oid): Promise<void> {
    return syncBranch(this.#calls, fork, branch, upstreamTip);
  }

  /** Gives the fork a branch of upstream's that it lacks. @param ground a commit that the fork has. */
  async addBranch(fork: RepositoryName, branch: string, upstreamTip: Oid, ground: Oid): Promise<void> {
    return addBranch(this.#calls, fork, branch, upstreamTip, ground);
  }

  async deleteBranch({ owner, name: repo }: RepositoryName, branch: string): Promise<void> {
    await this.#retried(async () => {
      const answer = await this.#octokit.rest.git.deleteRef({ owner, repo, ref: `heads/${branch}` });
      expectStatus(answer, 204);
    });
  }

  /**
   * The pull request from `head` (`owner:branch`): the open one, else the newest; null if there never was one. The host
   * may know nothing yet of one that was opened a moment ago.
   */
  async findPullRequest({ owner, name: repo }: RepositoryName, head: string): Promise<PullRequest | null> {
    return this.#retried(async () => {
      const query = {
        head,
        state: 'all',
        sort: 'created',
        direction: 'desc',
        per_page: PULLS_PER_PAGE,
      } as const;
      const answer = await this.#octokit.rest.pulls.list({ owner, repo, ...query });
      const all = expectList(answer.data);
      const found = all.filter((pull) => isFrom(head, pull.head));
      // A host that does not know the filter sends others; the one that is looked for may be on a later page.
      if (found.length === 0 && all.length === PULLS_PER_PAGE) {
        throw new TypeError('the host does not filter pull requests');
      }
      const best = found.find(({ state }) => state === 'open') ?? found[0];
      return best === undefined ? null : toPullRequest(best);
    });
  }

  /**
   * Opens a pull request once: if a failure leaves it unknown whether it was created, this asks the host before it
   * retries.
   */
  async openPullRequest(repository: RepositoryName, request: NewPullRequest): Promise<PullRequest> {
    return this.#renamed(repository, async ({ owner, name: repo }) => {
      const opening = new Opening({
        clock: this.#clock,
        find: () => this.findPullRequest({ owner, name: repo }, request.head),
        create: async () => {
          const answer = await this.#octokit.rest.pulls.create({ owner, repo, ...request });
          expectStatus(answer, 201);
          if (!isFrom(request.head, answer.data.head)) throw new TypeError('another pull request was opened');
          return toPullRequest(answer.data);
        },
      });
      return this.#retried(() => opening.attempt()).catch((error: unknown) => {
        throw opening.failure(error);
      });
    });
  }

  /** The submodules whose commits an open pull request changes, among its first files. */
  async changedSubmodules(
    { owner, name: repo }: RepositoryName,
    number: number,
  ): Promise<readonly Submodule[]> {
    return this.#retried(async () => {
      const list = { owner, repo, pull_number: number, per_page: FILES_PER_PAGE };
      const { data } = await this.#octokit.rest.pulls.listFiles(list);
      return expectList(data).flatMap(({ filename, patch }) => {
        const oid = /^\+Subproject commit ([0-9a-f]{40})$/m.exec(patch ?? '')?.[1];
        return oid === undefined ? [] : [{ path: expectText(filename), oid }];
      });
    });
  }

  /** Closes a pull request; one that is closed already stays as it is. */
  async closePullRequest(repository: RepositoryName, number: number): Promise<ClosedPullRequest> {
    return this.#renamed(repository, ({ owner, name: repo }) =>
      this.#retried(async () => {
        const change = { owner, repo, pull_number: number, state: 'closed' } as const;
        const { data } = await this.#octokit.rest.pulls.update(change);
        const isClosed = expectNumber(data.number) === number && data.state === 'closed';
        if (!isClosed) throw new TypeError('the pull request is not closed');
        return { closedAt: data.closed_at, isMerged: data.merged };
      }),
    );
  }

  /** Changes the text or the base of an open pull request. */
  async editPullRequest(
    repository: RepositoryName,
    number: number,
    changes: Partial<Pick<NewPullRequest, 'title' | 'body' | 'base'>>,
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
    return underCurrentName(this.#calls, repository, write);
  }
}

export function headOf(fork: RepositoryName, branch: string): string {
  return `${fork.owner}:${branch}`;
}
