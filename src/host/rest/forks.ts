/**
 * Accesses the bot's forks and their branches, and opens pull requests from there.
 * Proved by test/host/github-writes.test.ts and test/sandbox/host-contract.test.ts.
 */
import type { Oid } from '../../git/objects/oid.ts';
import { HostError, hostFailureOf, isRefusedByHost, unlessMissing } from '../../words/host-error.ts';
import { prHashOf } from '../../words/pr-hash.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import type {
  Head,
  NewPullRequest,
  HostPullRequest,
  PullRequestPlace,
  Repository,
  Source,
  UpstreamBranch,
} from '../code-host.ts';
import { expectList, expectRepository, expectStatus, expectText } from './answer.ts';
import { type AnsweredPull, appOf, placeOf, underCurrentName } from './reads.ts';
import { RestRepositories } from './repositories.ts';

/**
 * Waits between tries to open a pull request. The host may not know a branch yet that was pushed a
 * moment ago.
 */
const HEAD_WAITS_MS = [500, 1_000, 2_000, 4_000];
/**
 * Maximum number of upstream's old branches that one push removes from a fork. A repeated push
 * continues.
 */
const MOST_CLEARED = 20;

export class ForkRepositories extends RestRepositories {
  readonly flow = 'fork';

  /**
   * Returns the bot's fork: the one that exists, or a new one, whose objects may appear later. Its
   * name may differ. Where forks share their objects, an account has one fork in a network, perhaps
   * of another of its repositories.
   */
  async fork(repository: Repository): Promise<RepositoryName> {
    return this.#created(repository, (name) =>
      this.rest.retried(async () => {
        const answer = await this.rest.call('POST /repos/{owner}/{repo}/forks', placeOf(name));
        // Other hosts may answer with 200 for a fork that exists.
        expectStatus(answer, 200, 201, 202);
        const fork = expectRepository(answer.data);
        const origins = new Set<unknown>([answer.data.parent?.id, answer.data.source?.id]);
        if (origins.has(repository.id) || origins.has(repository.networkId)) return fork;
        if (await this.#isOwnRoot(answer.data, repository)) return fork;
        throw new HostError('refused', 'The code host answered with a repository that is not its fork.');
      }),
    );
  }

  /**
   * Tells if the bot's repository is the root of the network. When a root is deleted, the host
   * chooses the oldest fork in its place, perhaps the bot's (docs.github.com, "What happens to
   * forks when a repository is deleted or changes visibility").
   */
  async #isOwnRoot(
    { id, owner }: { readonly id: unknown; readonly owner: { readonly login: string } },
    repository: Repository,
  ): Promise<boolean> {
    if (id !== repository.networkId || id === repository.id) return false;
    return owner.login === (await this.account()).login;
  }

  /**
   * Brings the fork's branch to upstream's tip. It is reset if the host cannot merge, or makes a
   * commit of its own.
   */
  async syncBranch(fork: RepositoryName, { name: branch, tip: upstreamTip }: UpstreamBranch): Promise<void> {
    const { rest } = this;
    const merge = { ...placeOf(fork), branch };
    const merged = await this.#answerOf(
      async () => (await rest.call('POST /repos/{owner}/{repo}/merge-upstream', merge)).data.merge_type,
    );
    // After a fast-forward, the branch is where upstream's is, or was a moment ago. No other answer
    // says where it is.
    if (merged === 'fast-forward') return;
    const refusal = merged instanceof HostError ? merged : null;
    if (refusal === null && (await this.#branchTip(fork, branch)) === upstreamTip) return;
    const update = { ...placeOf(fork), ref: `heads/${branch}`, sha: upstreamTip, force: true };
    const secondRefusal = await this.#answerOf(async () => {
      const { data } = await rest.call('PATCH /repos/{owner}/{repo}/git/refs/{ref}', update);
      return expectTip(data, upstreamTip);
    });
    if (secondRefusal === null) return;
    // If the token may not change workflows, the first call says so, but the second one says that
    // nothing is there.
    const [, refused = ''] = refusal?.publicMessage.split(/refusing to allow/i) ?? [];
    const isAboutWorkflows = / workflow/i.test(refused);
    throw secondRefusal.code === 'missing' || isAboutWorkflows ? (refusal ?? secondRefusal) : secondRefusal;
  }

  /**
   * Gives the fork a branch of upstream's that it lacks. It succeeds if the branch exists by then.
   * Where forks share objects with upstream, the host takes upstream's commit at once; elsewhere
   * the branch begins at `boundary`, which the fork has, and is synced. It can be repeated.
   */
  async addBranch(fork: RepositoryName, upstream: UpstreamBranch, boundary: Oid): Promise<void> {
    const { name: branch } = upstream;
    if ((await this.#createBranch(fork, branch, upstream.tip)) === null) return;
    const tip = await this.#branchTip(fork, branch);
    if (tip === upstream.tip) return;
    if (tip === null) {
      const refusal = await this.#createBranch(fork, branch, boundary);
      if (refusal !== null && (await this.#branchTip(fork, branch)) === null) {
        if (!(await this.#removeConflicts(fork, branch))) throw refusal;
        return this.addBranch(fork, upstream, boundary);
      }
    }
    await this.syncBranch(fork, upstream);
  }

  /**
   * Removes old branches whose names conflict with a new one: Git keeps no `release` beside
   * `release/1.0`.
   * @returns false if there are none, or some are left.
   */
  async #removeConflicts(fork: RepositoryName, branch: string): Promise<boolean> {
    const [folder = branch] = branch.split('/', 1);
    const similar = await this.rest.retried(async () => {
      const at = { ...placeOf(fork), ref: `heads/${folder}` };
      const { data } = await this.rest.call('GET /repos/{owner}/{repo}/git/matching-refs/{ref}', at);
      return expectList(data).map(({ ref }) => expectText(ref).slice('refs/heads/'.length));
    });
    const inTheWay = similar.filter(
      // A branch of the bot's own is somebody's pull request.
      (old) => prHashOf(old) === null && (branch.startsWith(`${old}/`) || old.startsWith(`${branch}/`)),
    );
    for (const old of inTheWay.slice(0, MOST_CLEARED)) await this.deleteBranch(fork, old);
    return inTheWay.length > 0 && inTheWay.length <= MOST_CLEARED;
  }

  /**
   * Deletes a branch.
   * @throws HostError, `missing` or `refused` if there is no such branch.
   */
  async deleteBranch(fork: RepositoryName, branch: string): Promise<void> {
    return underCurrentName(this.rest, fork, (name) =>
      this.rest.retried(async () => {
        const at = { ...placeOf(name), ref: `heads/${branch}` };
        expectStatus(await this.rest.call('DELETE /repos/{owner}/{repo}/git/refs/{ref}', at), 204);
      }),
    );
  }

  /**
   * Opens a pull request. **Once**, although it looks for the pull request itself before it asks
   * again after a lost answer.
   */
  async openPullRequest(repository: RepositoryName, request: NewPullRequest): Promise<HostPullRequest> {
    return this.#created(repository, (name) => this.#open(name, request));
  }

  /**
   * Opens a pull request, and is careful when an answer was lost: look-ups may lag behind, and
   * deleting the branch of an open pull request would be as bad as opening a second one.
   */
  async #open(name: RepositoryName, request: NewPullRequest): Promise<HostPullRequest> {
    /** True if an attempt may have opened it, and it was not seen yet. */
    let isUnknown = false;
    const waitsMs = [...HEAD_WAITS_MS];
    const find = async () => {
      const found = await this.findPullRequest(name, request.head);
      return found?.isOpen === true ? found : null;
    };
    const attempt = async (): Promise<HostPullRequest> => {
      const earlier = isUnknown ? await find() : null;
      if (earlier !== null) return earlier;
      try {
        return await this.#create(name, request);
      } catch (error) {
        const { effect, lasts, status } = hostFailureOf(error);
        const isEarly = effect === 'none' && lasts === 'moment' && status === 422;
        const waitMs = isEarly ? waitsMs.shift() : undefined;
        if (waitMs !== undefined) {
          await this.rest.clock.sleep(waitMs);
          return attempt();
        }
        if (effect === 'none') throw error;
        isUnknown = true;
        // It may have been opened by an attempt whose answer was lost, or by another push of the
        // same.
        const found = status === 409 || status === 422 ? await find() : null;
        if (found !== null) return found;
        throw error;
      }
    };
    return this.rest.retried(attempt).catch((error: unknown) => {
      // A refusal is only certain if no earlier attempt was in doubt.
      if (!isUnknown || hostFailureOf(error).effect === 'unknown') throw error;
      const message = 'The pull request may be open already, but the code host does not show it yet.';
      throw new HostError('unreachable', message, error);
    });
  }

  async #create(name: RepositoryName, { head, isDraft: draft, ...text }: NewPullRequest) {
    // The App may not let maintainers push to the account's fork: sigmavirus24/github3.py#1031.
    const mayPush = !(await this.rest.writesAsApp(name));
    const request = {
      ...placeOf(name),
      ...text,
      head: labelOf(head),
      draft,
      ...(!mayPush && { maintainer_can_modify: false }),
    };
    const answer = await this.rest.call('POST /repos/{owner}/{repo}/pulls', request);
    if (!isFrom(head, answer.data.head)) throw new TypeError('another pull request was opened');
    expectStatus(answer, 201);
    return this.toPullRequest(answer.data, name, answer.app);
  }

  /** Compares the branch and, unless the repository is known by its number, the author. */
  protected async isRecorded(
    pull: AnsweredPull,
    head: Head,
    _: RepositoryName,
    { repositoryId }: PullRequestPlace,
  ): Promise<boolean> {
    return pull.head.ref === head.branch && (repositoryId !== undefined || this.#isBots(pull, head));
  }

  protected findPull(repository: RepositoryName, head: Head): Promise<AnsweredPull | null> {
    return this.rest.retried(async () => {
      const newest = { state: 'all', sort: 'created', direction: 'desc', per_page: 100 } as const;
      const query = { ...placeOf(repository), head: labelOf(head), ...newest };
      const all = expectList((await this.rest.call('GET /repos/{owner}/{repo}/pulls', query)).data);
      const found = all.filter((pull) => isFrom(head, pull.head)) as AnsweredPull[];
      const { open = [], closed = [] } = Object.groupBy(found, ({ state }) =>
        state === 'open' ? 'open' : 'closed',
      );
      for (const pull of [...open, ...closed]) if (await this.#isBots(pull, head)) return pull;
      // A host that does not know the filter sends others, and the right one may be on a later
      // page.
      if (all.length === newest.per_page) throw new TypeError('the host does not filter pull requests');
      return null;
    });
  }

  /**
   * Tells if the bot or its App has opened a pull request. Anybody can name a branch like the
   * bot's, or propose the bot's own branch.
   */
  async #isBots({ user }: AnsweredPull, { owner }: Head): Promise<boolean> {
    if (user?.login.toLowerCase() === owner.toLowerCase()) return true;
    return (await appOf(this.rest, user)) !== undefined;
  }

  protected sourceOf({ head }: AnsweredPull): Source | null {
    // The types promise a repository, but a deleted one is null.
    const repository = head.repo as typeof head.repo | null;
    if (repository === null) return null;
    return { repository: expectRepository(repository), refName: `refs/heads/${expectText(head.ref)}` };
  }

  /** Returns the tip of a branch, or null if the fork has no such branch. */
  async #branchTip(fork: RepositoryName, branch: string): Promise<Oid | null> {
    return unlessMissing(() =>
      this.rest.retried(async () => {
        const at = { ...placeOf(fork), ref: `heads/${branch}` };
        const { data } = await this.rest.call('GET /repos/{owner}/{repo}/git/ref/{ref}', at);
        return expectText(data.object.sha);
      }),
    );
  }

  /**
   * Creates a branch at `tip`.
   * @returns null if it succeeded, or else the refusal.
   */
  #createBranch(fork: RepositoryName, branch: string, tip: Oid): Promise<HostError | null> {
    return this.#answerOf(async () => {
      const created = { ...placeOf(fork), ref: `refs/heads/${branch}`, sha: tip };
      return expectTip((await this.rest.call('POST /repos/{owner}/{repo}/git/refs', created)).data, tip);
    });
  }

  /** Returns the host's answer, or its refusal. */
  async #answerOf<T>(call: () => Promise<T>): Promise<T | HostError> {
    try {
      return await this.rest.retried(call);
    } catch (error) {
      if (isRefusedByHost(error)) return error;
      throw error;
    }
  }

  /**
   * Creates something in a repository. If the host finds nothing, a read tells if the repository is
   * there.
   */
  async #created<T>(repository: RepositoryName, create: (name: RepositoryName) => Promise<T>): Promise<T> {
    return underCurrentName(this.rest, repository, create).catch(async (error: unknown) => {
      if (hostFailureOf(error).status === 404) await this.repository(repository);
      throw error;
    });
  }
}

/**
 * Checks the commit of a branch.
 * @throws TypeError
 */
function expectTip({ object }: { readonly object: { readonly sha: string } }, wanted: Oid): null {
  if (object.sha !== wanted) throw new TypeError('the branch is not where it was to be');
  return null;
}

/**
 * The head of a pull request. GitHub's types promise a user, but its answers have none if the
 * account was deleted.
 */
interface AnsweredHead {
  readonly label: string | null;
  readonly ref: string;
  readonly user: { readonly login: string } | null;
}

/** Tells if a pull request has this head. Logins are compared without regard to case. */
function isFrom(wanted: Head, { label, ref, user }: AnsweredHead): boolean {
  const names = [label, user === null ? null : `${user.login}:${ref}`];
  return names.some((name) => name?.toLowerCase() === labelOf(wanted).toLowerCase());
}

/** Names a branch as GitHub does in another repository of the network. */
function labelOf({ owner, branch }: Head): string {
  return `${owner}:${branch}`;
}
