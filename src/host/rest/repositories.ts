/**
 * Repositories and pull requests by a host's REST interface, as far as all hosts are alike. How pull requests are opened
 * is in `github/` and `forgejo/`.
 *
 * Reads, and writes with the same result when repeated, are retried.
 */
import type { Octokit } from '@octokit/rest';
import { HostError, hostFailureOf } from '../../host-error.ts';
import type { Clock } from '../../isolate/clock.ts';
import type { RepositoryName } from '../../repository-name.ts';
import type {
  Account,
  ClosedPullRequest,
  FileAnswer,
  Head,
  PullRequest,
  PullRequestChanges,
  PullRequestPlace,
  Repository,
  RepositoryHost,
  Source,
  Submodule,
} from '../code-host.ts';
import { expectAddress, expectNumber, expectStatus, expectText } from './answer.ts';
import { openCalls, type RestAccess, type RestCalls } from './octokit.ts';
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
  /** Whether a pull request is the one that was recorded under its number. @param repository where it was asked for. */
  isRecorded(pull: AnsweredPull, head: Head, repository: RepositoryName, recorded: PullRequestPlace): boolean;
  /** The open one, else one that is closed; null if there is none. */
  findPull(calls: RestCalls, repository: RepositoryName, head: Head): Promise<AnsweredPull | null>;
  /** Null: its fork is gone. */
  sourceOf(pull: AnsweredPull, repository: RepositoryName): Source | null;
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

export abstract class RestRepositories implements RepositoryHost {
  protected readonly calls: RestCalls;
  readonly #dialect: RepositoryDialect;
  #account: Account | null = null;

  constructor(access: RestAccess & { readonly clock: Clock }, dialect: RepositoryDialect) {
    this.calls = openCalls(access);
    this.#dialect = dialect;
  }

  async account(): Promise<Account> {
    return (this.#account ??= await this.retried((octokit) => readAccount(this.#dialect, octokit)));
  }

  async repository(name: RepositoryName): Promise<Repository> {
    return this.#dialect.lookUp(this.calls, name);
  }

  /** Asked for as JSON and not as raw bytes: of more than 1 MB GitHub then sends nothing. */
  async file({ owner, name: repo }: RepositoryName, path: string): Promise<FileAnswer> {
    const entry = await unlessMissing(() =>
      this.retried(async (octokit): Promise<FileAnswer> => {
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

  async findPullRequest(
    repository: RepositoryName,
    head: Head,
    recorded: PullRequestPlace | null = null,
  ): Promise<PullRequest | null> {
    const dialect = this.#dialect;
    const known = await this.retried(async (octokit) => {
      const shown = recorded === null ? null : await this.#shown(octokit, repository, recorded.number);
      // The number belongs to another one if the hash is of another repository, or this one was created again.
      const isKnown =
        shown !== null && recorded !== null && dialect.isRecorded(shown, head, repository, recorded);
      return isKnown ? this.toPullRequest(shown, repository) : null;
    });
    if (known !== null) return known;
    const found = await dialect.findPull(this.calls, repository, head);
    return found === null ? null : this.retried(async () => this.toPullRequest(found, repository));
  }

  async editPullRequest(
    repository: RepositoryName,
    number: number,
    changes: PullRequestChanges,
  ): Promise<void> {
    await this.renamed(repository, (name) => this.#changePull(name, number, changes));
  }

  async closePullRequest(repository: RepositoryName, number: number): Promise<ClosedPullRequest> {
    return this.renamed(repository, async (name) => {
      try {
        const { merged, closed_at: at } = await this.#changePull(name, number, { state: 'closed' });
        return merged ? { kind: 'merged' } : { kind: 'closed', at };
      } catch (error) {
        // Gitea: "cannot change state of this pull request, it was already merged"
        if (!(error instanceof HostError) || failureStatus(error) !== 412) throw error;
        const at = { owner: name.owner, repo: name.name, index: number };
        const { merged } = await this.retried((octokit) => this.#dialect.pull(octokit, at));
        if (merged) return { kind: 'merged' };
        throw error;
      }
    });
  }

  async changedSubmodules(
    { owner, name: repo }: RepositoryName,
    index: number,
  ): Promise<readonly Submodule[]> {
    return this.#dialect.changedSubmodules(this.calls, { owner, repo, index });
  }

  #changePull(
    { owner, name: repo }: RepositoryName,
    index: number,
    changes: PullChanges,
  ): Promise<ChangedPull> {
    return this.retried(async (octokit) => {
      const answer = await this.#dialect.changePull(octokit, { owner, repo, index }, changes);
      // Gitea answers with 201, although nothing is new.
      expectStatus(answer, 200, 201);
      const { number, state } = answer.data;
      const isChanged = expectNumber(number) === index && (changes.state ?? state) === state;
      if (!isChanged) throw new TypeError('the host did not change this pull request');
      return answer.data;
    });
  }

  /** One by its number; null if the host shows none with it. */
  #shown(
    octokit: Octokit,
    { owner, name: repo }: RepositoryName,
    index: number,
  ): Promise<AnsweredPull | null> {
    return unlessMissing(async () => {
      const pull = await this.#dialect.pull(octokit, { owner, repo, index });
      if (pull.number !== index) throw new TypeError('the host answers with another pull request');
      return pull;
    });
  }

  /** @throws TypeError for fields of another shape */
  protected toPullRequest(pull: AnsweredPull, repository: RepositoryName): PullRequest {
    const source = this.#dialect.sourceOf(pull, repository);
    return {
      number: expectNumber(pull.number),
      url: expectAddress(pull.html_url),
      isOpen: pull.state === 'open',
      base: expectText(pull.base.ref),
      source,
      fork: source?.refName.startsWith('refs/heads/') ? source.repository : null,
      ...(pull.branch === null && { id: expectNumber(pull.id) }),
    };
  }

  /** A call that may be repeated. @throws HostError */
  protected retried<T>(call: (octokit: Octokit) => Promise<T>): Promise<T> {
    return this.calls.retried(() => call(this.calls.octokit));
  }

  /** Where the host finds nothing, only a read tells whether the repository is there. */
  protected async created<T>(
    repository: RepositoryName,
    create: (name: RepositoryName) => Promise<T>,
  ): Promise<T> {
    return this.renamed(repository, create).catch(async (error: unknown) => {
      if (hostFailureOf(error).status === 404) await this.repository(repository);
      throw error;
    });
  }

  protected renamed<T>(
    repository: RepositoryName,
    write: (repository: RepositoryName) => Promise<T>,
  ): Promise<T> {
    return underCurrentName((name) => this.repository(name), repository, write);
  }
}

function isList(data: AnsweredEntry | readonly unknown[]): data is readonly unknown[] {
  return Array.isArray(data);
}
