/**
 * The parts of GitHub's REST API that the service needs: the bot's account, forks and their branches, pull requests.
 *
 * Reads, and writes with the same result when repeated (fork, sync, delete), are retried. Opening a pull request is
 * retried only after checking whether it has been opened.
 */
import type { Octokit } from '@octokit/rest';
import type { Clock } from '../clock.ts';
import type { Oid } from '../git/oid.ts';
import { HostError } from './host-error.ts';
import { openOctokit, type RestAccess, type RetriedCalls, retriedCalls } from './octokit.ts';
import type { RepositoryName } from './repository-name.ts';

export interface Repository extends RepositoryName {
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
  readonly #octokit: Octokit;
  readonly #retried: RetriedCalls;

  constructor(options: RestAccess & { clock: Clock }) {
    this.#octokit = openOctokit(options);
    this.#retried = retriedCalls(options);
  }

  /** The bot account's name. */
  async botLogin(): Promise<string> {
    const { data } = await this.#retried(() => this.#octokit.rest.users.getAuthenticated());
    return data.login;
  }

  /** The repository under its current name; the host follows renames. */
  async repository({ owner, name }: RepositoryName): Promise<Repository> {
    const { data } = await this.#retried(() => this.#octokit.rest.repos.get({ owner, repo: name }));
    return {
      owner: data.owner.login,
      name: data.name,
      isPrivate: data.private,
      isArchived: data.archived,
      sizeKb: data.size,
    };
  }

  /**
   * A file at the tip of the default branch; null if there is no such path, or no such repository. Asked for as JSON and
   * not as raw bytes: of more than 1 MB the host then sends nothing.
   */
  async file({ owner, name: repo }: RepositoryName, path: string): Promise<HostFile | null> {
    try {
      const { data } = await this.#retried(() => this.#octokit.rest.repos.getContent({ owner, repo, path }));
      const isWhole = !Array.isArray(data) && data.type === 'file' && data.encoding === 'base64';
      return { content: isWhole ? Buffer.from(data.content, 'base64') : null };
    } catch (error) {
      if (error instanceof HostError && error.code === 'missing') return null;
      throw error;
    }
  }

  /** The bot's fork: the one that exists, or a new one whose objects appear later. It may have another name. */
  async fork({ owner, name }: RepositoryName): Promise<RepositoryName> {
    const { data } = await this.#retried(() => this.#octokit.rest.repos.createFork({ owner, repo: name }));
    return { owner: data.owner.login, name: data.name };
  }

  /**
   * Brings a branch of the fork to where upstream has it. Where the host cannot merge, because upstream was rewritten,
   * the branch is set instead.
   */
  async syncBranch({ owner, name: repo }: RepositoryName, branch: string, upstreamTip: Oid): Promise<void> {
    if (await this.#isDone(() => this.#octokit.rest.repos.mergeUpstream({ owner, repo, branch }))) return;
    const ref = `heads/${branch}`;
    await this.#retried(() =>
      this.#octokit.rest.git.updateRef({ owner, repo, ref, sha: upstreamTip, force: true }),
    );
  }

  /**
   * Gives the fork a branch of upstream's that it lacks. Where forks share objects with upstream, the host takes
   * upstream's commit at once; elsewhere the branch begins at `ground`, which the fork has, and is synced.
   */
  async addBranch(fork: RepositoryName, branch: string, upstreamTip: Oid, ground: Oid): Promise<void> {
    const { owner, name: repo } = fork;
    const ref = `refs/heads/${branch}`;
    const create = (sha: Oid) => this.#octokit.rest.git.createRef({ owner, repo, ref, sha });
    if (await this.#isDone(() => create(upstreamTip))) return;
    await this.#retried(() => create(ground));
    await this.syncBranch(fork, branch, upstreamTip);
  }

  async deleteBranch({ owner, name: repo }: RepositoryName, branch: string): Promise<void> {
    await this.#retried(() => this.#octokit.rest.git.deleteRef({ owner, repo, ref: `heads/${branch}` }));
  }

  /** The pull request from `head` (`owner:branch`): the open one, else the newest; null if there never was one. */
  async findPullRequest({ owner, name: repo }: RepositoryName, head: string): Promise<PullRequest | null> {
    const { data } = await this.#retried(() =>
      this.#octokit.rest.pulls.list({ owner, repo, head, state: 'all', sort: 'created', direction: 'desc' }),
    );
    const found = data.find(({ state }) => state === 'open') ?? data[0];
    if (found === undefined) return null;
    return {
      number: found.number,
      url: found.html_url,
      isOpen: found.state === 'open',
      base: found.base.ref,
      fork: repositoryOf(found.head),
    };
  }

  /**
   * Opens a pull request once: if a failure leaves it unknown whether it was created, this asks the host before it
   * retries.
   */
  async openPullRequest(repository: RepositoryName, request: NewPullRequest): Promise<PullRequest> {
    const { owner, name: repo } = repository;
    let attempts = 0;
    return this.#retried(async () => {
      const created = attempts++ > 0 ? await this.findPullRequest(repository, request.head) : null;
      if (created?.isOpen) return created;
      const { data } = await this.#octokit.rest.pulls.create({ owner, repo, ...request });
      const fork = repositoryOf(data.head);
      return { number: data.number, url: data.html_url, isOpen: true, base: data.base.ref, fork };
    });
  }

  /** The submodules whose commits an open pull request changes, among its first files. */
  async changedSubmodules(
    { owner, name: repo }: RepositoryName,
    number: number,
  ): Promise<readonly Submodule[]> {
    const { data } = await this.#retried(() =>
      this.#octokit.rest.pulls.listFiles({ owner, repo, pull_number: number, per_page: FILES_PER_PAGE }),
    );
    // The host marks them in no other way.
    return data.flatMap(({ filename, patch }) => {
      const oid = /^\+Subproject commit ([0-9a-f]{40})$/m.exec(patch ?? '')?.[1];
      return oid === undefined ? [] : [{ path: filename, oid }];
    });
  }

  /** Closes a pull request; one that is already closed stays unchanged. */
  async closePullRequest({ owner, name: repo }: RepositoryName, number: number): Promise<ClosedPullRequest> {
    const { data } = await this.#retried(() =>
      this.#octokit.rest.pulls.update({ owner, repo, pull_number: number, state: 'closed' }),
    );
    return { closedAt: data.closed_at, isMerged: data.merged };
  }

  /** Changes the text or the base of an open pull request. */
  async editPullRequest(
    { owner, name: repo }: RepositoryName,
    number: number,
    changes: Partial<Pick<NewPullRequest, 'title' | 'body' | 'base'>>,
  ): Promise<void> {
    await this.#retried(() =>
      this.#octokit.rest.pulls.update({ owner, repo, pull_number: number, ...changes }),
    );
  }

  /** False if the host refused. */
  async #isDone(call: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.#retried(call);
      return true;
    } catch (error) {
      const saidNo = error instanceof HostError && (error.code === 'refused' || error.code === 'missing');
      if (saidNo) return false;
      throw error;
    }
  }
}

/** GitHub's types promise a repository, but its answers have null if it was deleted. */
function repositoryOf({
  repo,
}: {
  repo: { name: string; owner: { login: string } } | null;
}): RepositoryName | null {
  return repo === null ? null : { owner: repo.owner.login, name: repo.name };
}

export function headOf(fork: RepositoryName, branch: string): string {
  return `${fork.owner}:${branch}`;
}
