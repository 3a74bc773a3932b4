/**
 * Repositories, forks and pull requests by the REST interface of Forgejo and Gitea; where that cannot do it, by Git.
 *
 * Reads, and writes with the same result when repeated (fork, sync, delete), are retried. Opening a pull request is
 * retried only after checking whether it has been opened.
 */
import type { Clock } from '../../isolate/clock.ts';
import type { Oid } from '../../git/objects/oid.ts';
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
import { isolateMemory } from '../../isolate/memory-budget.ts';
import { GitTransport } from '../git/git-transport.ts';
import { SmartHttp } from '../git/smart-http.ts';
import { visibilityAt } from '../git/visibility.ts';
import { HostError } from '../../host-error.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { expectLogin, expectNumber, expectText } from '../rest/answer.ts';
import { openCalls, type RestAccess, type RestCalls } from '../rest/octokit.ts';
import { underCurrentName } from '../rest/renamed.ts';
import type { AnsweredUser } from './answers.ts';
import { call, lookUp } from './calls.ts';
import { addBranch, deleteBranch, type ForkBranchTools, syncBranch } from './fork-branches.ts';
import { forkOf } from './forks.ts';
import {
  type AnsweredEntry,
  changedSubmodules,
  closePullRequest,
  editPullRequest,
  openPullRequest,
  pullRequest,
} from './pull-requests.ts';
import { findPullRequest } from './pull-search.ts';

/** The REST interface stands below the pages. */
const API_PATH = '/api/v1';
const MAX_FILE_BYTES = 1024 * 1024;

export class ForgejoRepositories implements RepositoryHost {
  readonly #calls: RestCalls;
  readonly #smartHttp: SmartHttp;
  readonly #clock: Clock;
  #account: Account | null = null;

  constructor(access: RestAccess & { clock: Clock }) {
    const { apiUrl, http, clock } = access;
    this.#calls = openCalls(access);
    this.#smartHttp = new SmartHttp(apiUrl.slice(0, -API_PATH.length), access, http);
    this.#clock = clock;
  }

  async account(): Promise<Account> {
    this.#account ??= await this.#calls.retried(async () => {
      const { data } = await call<AnsweredUser>(this.#calls.octokit, 'GET /user');
      return { id: expectNumber(data.id), login: expectLogin(data.login) };
    });
    return this.#account;
  }

  async repository(name: RepositoryName): Promise<Repository> {
    return lookUp(this.#calls, name);
  }

  async file({ owner, name: repo }: RepositoryName, path: string): Promise<FileAnswer> {
    const { octokit, retried } = this.#calls;
    try {
      return await retried(async () => {
        const query = { owner, repo, path };
        const { data } = await call<AnsweredEntry>(
          octokit,
          'GET /repos/{owner}/{repo}/contents/{path}',
          query,
        );
        if (Array.isArray(data)) return { kind: 'unreadable' };
        const isFile = expectText(data.type) === 'file' && data.encoding === 'base64';
        const isWhole = isFile && typeof data.content === 'string' && data.size <= MAX_FILE_BYTES;
        return isWhole
          ? { kind: 'file', content: Buffer.from(data.content ?? '', 'base64') }
          : { kind: 'unreadable' };
      });
    } catch (error) {
      if (error instanceof HostError && error.code === 'missing') return { kind: 'missing' };
      throw error;
    }
  }

  async fork(repository: Repository): Promise<RepositoryName> {
    const { login } = await this.account();
    return this.#renamed(repository, (name) => forkOf(this.#calls, { ...repository, ...name }, login));
  }

  async syncBranch(fork: RepositoryName, branch: UpstreamBranch): Promise<void> {
    return this.#withGit((tools) => syncBranch(tools, fork, branch));
  }

  async addBranch(fork: RepositoryName, branch: UpstreamBranch, ground: Oid): Promise<void> {
    return this.#withGit((tools) => addBranch(tools, fork, branch, ground));
  }

  async deleteBranch(fork: RepositoryName, branch: string): Promise<void> {
    return this.#renamed(fork, (name) => this.#withGit((tools) => deleteBranch(tools, name, branch)));
  }

  async pullRequest(repository: RepositoryName, number: number): Promise<PullRequest | null> {
    return pullRequest(this.#calls, repository, number);
  }

  async findPullRequest(repository: RepositoryName, head: Head): Promise<PullRequest | null> {
    return findPullRequest(this.#calls, repository, head);
  }

  async openPullRequest(repository: RepositoryName, request: NewPullRequest): Promise<PullRequest> {
    return this.#renamed(repository, (name) => openPullRequest(this.#calls, name, request));
  }

  async editPullRequest(
    repository: RepositoryName,
    number: number,
    changes: PullRequestChanges,
  ): Promise<void> {
    await this.#renamed(repository, (name) => editPullRequest(this.#calls, name, number, changes));
  }

  async closePullRequest(repository: RepositoryName, number: number): Promise<ClosedPullRequest> {
    return this.#renamed(repository, (name) => closePullRequest(this.#calls, name, number));
  }

  async changedSubmodules(repository: RepositoryName, number: number): Promise<readonly Submodule[]> {
    return changedSubmodules(this.#calls, repository, number);
  }

  /** Memory for the history that the work reads is given back when it ends. */
  async #withGit<T>(work: (tools: ForkBranchTools) => Promise<T>): Promise<T> {
    const memory = isolateMemory.open(this.#clock);
    try {
      const visibility = visibilityAt(this, this.#calls.apiUrl, this.#clock);
      const transport = new GitTransport(this.#smartHttp, this.#clock, memory, visibility);
      return await work({ calls: this.#calls, transport });
    } finally {
      memory.end();
    }
  }

  #renamed<T>(repository: RepositoryName, write: (repository: RepositoryName) => Promise<T>): Promise<T> {
    return underCurrentName((name) => this.repository(name), repository, write);
  }
}
