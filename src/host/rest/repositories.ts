/**
 * Repositories, forks and pull requests by a host's REST interface; where that cannot do it, by Git.
 *
 * Reads, and writes with the same result when repeated (fork, sync, delete), are retried. Opening a pull request is
 * retried only after checking whether it has been opened.
 */
import type { Octokit } from '@octokit/rest';
import type { Oid } from '../../git/objects/oid.ts';
import { HostError, hostFailureOf } from '../../host-error.ts';
import type { Clock } from '../../isolate/clock.ts';
import type { RepositoryName } from '../../repository-name.ts';
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
import { expectAddress, expectNumber, expectRepository, expectStatus, expectText } from './answer.ts';
import { openCalls, type RestAccess, type RestCalls } from './octokit.ts';
import { Opening } from './opening.ts';
import {
  type Answer,
  type AnsweredPull,
  readAccount,
  type ReadDialect,
  type RepositoryPlace,
} from './reads.ts';
import { underCurrentName } from './renamed.ts';
import { failureStatus } from './request-failure.ts';
import { unlessMissing } from './unless-missing.ts';

const MAX_FILE_BYTES = 1024 * 1024;

/** What is at a path. */
interface AnsweredEntry {
  readonly type: string;
  readonly size: number;
  readonly encoding?: string | null;
  readonly content?: string | null;
}

type ChangedPull = Pick<AnsweredPull, 'number' | 'state' | 'merged' | 'closed_at'>;
type PullChanges = PullRequestChanges & { readonly state?: 'closed' };

/** How one kind of host is asked. What takes `calls` makes more than one call, and retries each by itself. */
export interface RepositoryDialect extends Pick<ReadDialect, 'account' | 'lookUp' | 'pull'> {
  /** A list: the entries of a folder. */
  contents(
    octokit: Octokit,
    at: RepositoryPlace & { readonly path: string },
  ): Promise<Answer<AnsweredEntry | readonly unknown[]>>;
  /** @param login the bot's. @throws HostError */
  fork(calls: RestCalls, repository: Repository, login: () => Promise<string>): Promise<RepositoryName>;
  /** @throws HostError */
  syncBranch(calls: RestCalls, fork: RepositoryName, branch: UpstreamBranch): Promise<void>;
  /** @throws HostError */
  addBranch(calls: RestCalls, fork: RepositoryName, branch: UpstreamBranch, ground: Oid): Promise<void>;
  /** @throws HostError */
  deleteBranch(calls: RestCalls, fork: RepositoryName, branch: string): Promise<void>;
  /** The open one, else the newest; null if there is none. */
  findPull(calls: RestCalls, repository: RepositoryName, head: Head): Promise<AnsweredPull | null>;
  createPull(octokit: Octokit, at: RepositoryPlace, request: NewPullRequest): Promise<Answer<AnsweredPull>>;
  changePull(
    octokit: Octokit,
    at: RepositoryPlace & { readonly index: number },
    changes: PullChanges,
  ): Promise<Answer<ChangedPull>>;
  changedSubmodules(
    calls: RestCalls,
    at: RepositoryPlace & { readonly index: number },
  ): Promise<readonly Submodule[]>;
}

export class RestRepositories implements RepositoryHost {
  readonly #calls: RestCalls;
  readonly #dialect: RepositoryDialect;
  #account: Account | null = null;

  constructor(access: RestAccess & { readonly clock: Clock }, dialect: RepositoryDialect) {
    this.#calls = openCalls(access);
    this.#dialect = dialect;
  }

  async account(): Promise<Account> {
    return (this.#account ??= await this.#retried((octokit) => readAccount(this.#dialect, octokit)));
  }

  async repository(name: RepositoryName): Promise<Repository> {
    return this.#dialect.lookUp(this.#calls, name);
  }

  /** Asked for as JSON and not as raw bytes: of more than 1 MB GitHub then sends nothing. */
  async file({ owner, name: repo }: RepositoryName, path: string): Promise<FileAnswer> {
    const entry = await unlessMissing(() =>
      this.#retried(async (octokit): Promise<FileAnswer> => {
        const { data } = await this.#dialect.contents(octokit, { owner, repo, path });
        if (isList(data)) return { kind: 'unreadable' };
        const isFile = expectText(data.type) === 'file' && data.encoding === 'base64';
        return isFile && typeof data.content === 'string' && !(data.size > MAX_FILE_BYTES)
          ? { kind: 'file', content: Buffer.from(data.content, 'base64') }
          : { kind: 'unreadable' };
      }),
    );
    return entry ?? { kind: 'missing' };
  }

  async fork(repository: Repository): Promise<RepositoryName> {
    const login = async (): Promise<string> => (await this.account()).login;
    return this.#created(repository, (name) =>
      this.#dialect.fork(this.#calls, { ...repository, ...name }, login),
    );
  }

  async syncBranch(fork: RepositoryName, branch: UpstreamBranch): Promise<void> {
    return this.#dialect.syncBranch(this.#calls, fork, branch);
  }

  async addBranch(fork: RepositoryName, branch: UpstreamBranch, ground: Oid): Promise<void> {
    return this.#dialect.addBranch(this.#calls, fork, branch, ground);
  }

  async deleteBranch(fork: RepositoryName, branch: string): Promise<void> {
    return this.#renamed(fork, (name) => this.#dialect.deleteBranch(this.#calls, name, branch));
  }

  async pullRequest({ owner, name: repo }: RepositoryName, index: number): Promise<PullRequest | null> {
    return this.#retried((octokit) =>
      unlessMissing(async () => {
        const pull = await this.#dialect.pull(octokit, { owner, repo, index });
        if (pull.number !== index) throw new TypeError('the host answers with another pull request');
        return toPullRequest(pull);
      }),
    );
  }

  async findPullRequest(repository: RepositoryName, head: Head): Promise<PullRequest | null> {
    return this.#retried(async () => {
      const found = await this.#dialect.findPull(this.#calls, repository, head);
      return found === null ? null : toPullRequest(found);
    });
  }

  async openPullRequest(repository: RepositoryName, request: NewPullRequest): Promise<PullRequest> {
    return this.#created(repository, async ({ owner, name }) => {
      const opening = new Opening({
        clock: this.#calls.clock,
        find: () => this.findPullRequest({ owner, name }, request.head),
        create: async () => {
          const at = { owner, repo: name };
          const answer = await this.#dialect.createPull(this.#calls.octokit, at, request);
          expectStatus(answer, 201);
          return toPullRequest(answer.data);
        },
      });
      return this.#retried(() => opening.attempt()).catch((error: unknown) => {
        throw opening.failure(error);
      });
    });
  }

  async editPullRequest(
    repository: RepositoryName,
    number: number,
    changes: PullRequestChanges,
  ): Promise<void> {
    await this.#renamed(repository, (name) => this.#changePull(name, number, changes));
  }

  async closePullRequest(repository: RepositoryName, number: number): Promise<ClosedPullRequest> {
    return this.#renamed(repository, async (name) => {
      try {
        const { merged, closed_at: at } = await this.#changePull(name, number, { state: 'closed' });
        return merged ? { kind: 'merged' } : { kind: 'closed', at };
      } catch (error) {
        // Gitea: "cannot change state of this pull request, it was already merged"
        if (!(error instanceof HostError) || failureStatus(error) !== 412) throw error;
        const at = { owner: name.owner, repo: name.name, index: number };
        const { merged } = await this.#retried((octokit) => this.#dialect.pull(octokit, at));
        if (merged) return { kind: 'merged' };
        throw error;
      }
    });
  }

  async changedSubmodules(
    { owner, name: repo }: RepositoryName,
    index: number,
  ): Promise<readonly Submodule[]> {
    return this.#dialect.changedSubmodules(this.#calls, { owner, repo, index });
  }

  #changePull(
    { owner, name: repo }: RepositoryName,
    index: number,
    changes: PullChanges,
  ): Promise<ChangedPull> {
    return this.#retried(async (octokit) => {
      const answer = await this.#dialect.changePull(octokit, { owner, repo, index }, changes);
      // Gitea answers with 201, although nothing is new.
      expectStatus(answer, 200, 201);
      const { number, state } = answer.data;
      const isChanged = expectNumber(number) === index && (changes.state ?? state) === state;
      if (!isChanged) throw new TypeError('the host did not change this pull request');
      return answer.data;
    });
  }

  /** A call that may be repeated. @throws HostError */
  #retried<T>(call: (octokit: Octokit) => Promise<T>): Promise<T> {
    return this.#calls.retried(() => call(this.#calls.octokit));
  }

  /** Where the host finds nothing, only a read tells whether the repository is there. */
  async #created<T>(repository: RepositoryName, create: (name: RepositoryName) => Promise<T>): Promise<T> {
    return this.#renamed(repository, create).catch(async (error: unknown) => {
      if (hostFailureOf(error).status === 404) await this.repository(repository);
      throw error;
    });
  }

  #renamed<T>(repository: RepositoryName, write: (repository: RepositoryName) => Promise<T>): Promise<T> {
    return underCurrentName((name) => this.repository(name), repository, write);
  }
}

function isList(data: AnsweredEntry | readonly unknown[]): data is readonly unknown[] {
  return Array.isArray(data);
}

/** @throws TypeError for fields of another shape */
function toPullRequest({ number, html_url: url, state, base, branch, head }: AnsweredPull): PullRequest {
  return {
    number: expectNumber(number),
    url: expectAddress(url),
    isOpen: state === 'open',
    base: expectText(base.ref),
    branch: expectText(branch),
    fork: head.repo === null ? null : expectRepository(head.repo),
  };
}
