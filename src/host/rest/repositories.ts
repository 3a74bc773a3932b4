/**
 * Accesses repositories and pull requests. `forks.ts` and `agit.ts` have the two ways of opening
 * these. All calls are retried.
 * Proved by test/host/github-writes.test.ts and test/sandbox/host-contract.test.ts.
 */
import type { Oid } from '../../git/objects/oid.ts';
import { hostFailureOf, unlessMissing } from '../../words/host-error.ts';
import { repositoryKey, type RepositoryName } from '../../words/repository-name.ts';
import type {
  Account,
  ClosedPullRequest,
  FileAnswer,
  Head,
  NotOpen,
  HostPullRequest,
  PullRequestChanges,
  PullRequestPlace,
  Repository,
  Source,
} from '../code-host.ts';
import {
  expectAddress,
  expectLogin,
  expectNumber,
  expectStatus,
  expectText,
  expectThread,
} from './answer.ts';
import {
  type AnsweredPull,
  appOf,
  branchOf,
  lookUpRepository,
  placeOf,
  readAccount,
  readPull,
  underCurrentName,
} from './reads.ts';
import type { Rest } from './rest.ts';

const ISSUE = 'GET /repos/{owner}/{repo}/issues/{issue_number}';
const CONTENTS = 'GET /repos/{owner}/{repo}/contents/{path}';
const MAX_FILE_BYTES = 1024 * 1024;

/** An entry of a folder, or a file. */
interface AnsweredEntry {
  readonly name: string;
  readonly type: string;
  readonly sha: string;
  readonly size: number;
  readonly encoding?: string | null;
  readonly content?: string | null;
}

export abstract class RestRepositories {
  protected readonly rest: Rest;
  #account: Account | null = null;

  constructor(rest: Rest) {
    this.rest = rest;
  }

  /**
   * Tells if a pull request is the one that was recorded under its number.
   * @param repository is where it was asked for.
   */
  protected abstract isRecorded(
    pull: AnsweredPull,
    head: Head,
    repository: RepositoryName,
    recorded: PullRequestPlace,
  ): Promise<boolean>;
  /**
   * Finds the open pull request that the bot has opened from a head, or else a closed one, or null
   * if there is none. It retries each of its calls.
   */
  protected abstract findPull(repository: RepositoryName, head: Head): Promise<AnsweredPull | null>;
  /** Returns the ref with the commits, or null if the fork is gone. */
  protected abstract sourceOf(pull: AnsweredPull, repository: RepositoryName): Source | null;

  async account(): Promise<Account> {
    return (this.#account ??= await readAccount(this.rest));
  }

  /** Returns the repository under its current name. Renames are followed. */
  async repository(name: RepositoryName): Promise<Repository> {
    return lookUpRepository(this.rest, name);
  }

  /**
   * Rejects where maintainers have removed or suspended the App: what a fork has, everybody sees.
   * @throws HostError
   */
  async expectWelcome(name: RepositoryName): Promise<void> {
    await this.rest.writesAsApp(name);
  }

  /**
   * Reads a file at the tip of the default branch. It is requested as JSON, in which GitHub sends
   * nothing beyond 1 MB.
   */
  async file(repository: RepositoryName, path: string): Promise<FileAnswer> {
    const answer = await this.#contents(repository, path, (found): FileAnswer => {
      // A list is a folder.
      if (Array.isArray(found)) return { kind: 'unreadable' };
      const { type, encoding, content, size } = found as AnsweredEntry;
      const isFile = expectText(type) === 'file' && encoding === 'base64';
      return isFile && typeof content === 'string' && !(size > MAX_FILE_BYTES)
        ? { kind: 'file', content: Buffer.from(content, 'base64') }
        : { kind: 'unreadable' };
    });
    return answer ?? { kind: 'missing' };
  }

  /**
   * Lists the names in a folder with their objects, those of folders with a slash at the end.
   * Without such a folder, the list is empty.
   */
  async list(repository: RepositoryName, path: string): Promise<ReadonlyMap<string, Oid>> {
    const names = await this.#contents(repository, path, (found) => {
      const entries = Array.isArray(found) ? (found as readonly AnsweredEntry[]) : [];
      return entries.map(
        ({ name, type, sha }) => [expectText(name) + (type === 'dir' ? '/' : ''), expectText(sha)] as const,
      );
    });
    return new Map(names ?? []);
  }

  /** Reads what is at a path, or returns null if there is nothing. */
  #contents<T>(repository: RepositoryName, path: string, read: (found: unknown) => T): Promise<T | null> {
    const at = { ...placeOf(repository), path };
    return unlessMissing(() =>
      this.rest.retried(async () => read((await this.rest.call(CONTENTS, at)).data)),
    );
  }

  /**
   * Finds the pull request of a head: the recorded one, if the host shows it, or else an open or a
   * closed one from lists, which may lag behind. If one is recorded in another repository, there is
   * none here, because hash and branch are public, and anybody can make a repository.
   */
  async findPullRequest(
    repository: RepositoryName,
    head: Head,
    recorded: PullRequestPlace | null = null,
  ): Promise<HostPullRequest | null> {
    const isElsewhere = ({ base }: AnsweredPull) =>
      recorded?.repositoryId !== undefined && base.repo.id !== recorded.repositoryId;
    const known = await this.rest.retried(async () => {
      if (recorded === null) return null;
      const { number } = recorded;
      const shown = await unlessMissing(() => readPull(this.rest, repository, number));
      if (shown === null) return null;
      if (shown.number !== number) throw new TypeError('the host answers with another pull request');
      // The number belongs to another pull request if the hash is of another repository, or this
      // one was created again.
      const isKnown = !isElsewhere(shown) && (await this.isRecorded(shown, head, repository, recorded));
      return isKnown ? this.toPullRequest(shown, repository, recorded.app) : null;
    });
    if (known !== null) return known;
    const found = await this.findPull(repository, head);
    if (found === null || isElsewhere(found)) return null;
    return this.rest.retried(async () =>
      this.toPullRequest(found, repository, await appOf(this.rest, found.user)),
    );
  }

  /** Returns the reason why a number is not that of an open issue, or null if it is. */
  async whyNotOpen(repository: RepositoryName, issue_number: number): Promise<NotOpen | null> {
    const why = await unlessMissing(() =>
      this.rest.retried(async (): Promise<NotOpen | 'open'> => {
        const { data } = await this.rest.call(ISSUE, { ...placeOf(repository), issue_number });
        // GitHub redirects from an issue that was moved.
        const { repository: shownIn, index } = expectThread(data.html_url);
        const isHere = repositoryKey('', shownIn) === repositoryKey('', repository);
        if (!isHere || index !== issue_number) return 'was moved';
        if (data.pull_request) return 'is a pull request';
        return expectText(data.state) === 'open' ? 'open' : 'is closed';
      }),
    );
    return why === 'open' ? null : (why ?? 'does not exist');
  }

  /** @param app is the number of the App that has opened it; null: the account has. */
  async editPullRequest(
    repository: RepositoryName,
    number: number,
    changes: PullRequestChanges,
    app: number | null,
  ): Promise<void> {
    await underCurrentName(this.rest, repository, (name) => this.#changePull(name, number, changes, app));
  }

  /**
   * Closes a pull request, unless it is closed already.
   * @param app as for `editPullRequest`.
   */
  async closePullRequest(
    repository: RepositoryName,
    number: number,
    app: number | null,
  ): Promise<ClosedPullRequest> {
    return underCurrentName(this.rest, repository, async (name) => {
      try {
        const { merged, closed_at: at } = await this.#changePull(name, number, { state: 'closed' }, app);
        return merged ? { kind: 'merged' } : { kind: 'closed', at };
      } catch (error) {
        // Gitea: "cannot change state of this pull request, it was already merged"
        if (hostFailureOf(error).status !== 412) throw error;
        const { merged } = await this.rest.retried(() => readPull(this.rest, name, number));
        if (merged) return { kind: 'merged' };
        throw error;
      }
    });
  }

  #changePull(
    repository: RepositoryName,
    pull_number: number,
    changes: PullRequestChanges & { readonly state?: 'closed' },
    app: number | null,
  ) {
    const rest = this.rest.by(app);
    return rest.retried(async () => {
      const change = { ...placeOf(repository), pull_number, ...changes };
      const answer = await rest.call('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', change);
      // Gitea answers with 201, although nothing is new.
      expectStatus(answer, 200, 201);
      const { number, state } = answer.data;
      const isChanged = expectNumber(number) === pull_number && (changes.state ?? state) === state;
      if (!isChanged) throw new TypeError('the host did not change this pull request');
      return answer.data;
    });
  }

  /**
   * @param app is the number of the App that has opened it.
   * @throws TypeError for fields of another shape
   */
  protected toPullRequest(pull: AnsweredPull, repository: RepositoryName, app?: number): HostPullRequest {
    const source = this.sourceOf(pull, repository);
    return {
      number: expectNumber(pull.number),
      url: expectAddress(pull.html_url),
      isOpen: pull.state === 'open',
      isMerged: typeof pull.merged_at === 'string',
      base: expectText(pull.base.ref),
      source,
      fork: source?.refName.startsWith('refs/heads/') ? source.repository : null,
      ...(branchOf(this.rest, pull) === null && { id: expectNumber(pull.id) }),
      ...(app !== undefined && { app: { number: app, login: expectLogin(pull.user?.login) } }),
    };
  }
}
