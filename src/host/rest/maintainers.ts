/**
 * Reads who may speak for a repository, and answers their comments. Nothing is retried: the feed
 * comes back by itself.
 */
import { HostError, hostFailureOf } from '../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { Account, OpenThread, Remark, Repository, Speaker, Role } from '../code-host.ts';
import { expectAddress, expectList, expectNumber } from './answer.ts';
import { lookUpRepository, placeOf } from './reads.ts';
import { Rest, type RestAccess } from './rest.ts';

const ASSOCIATIONS: ReadonlyMap<string, Role> = new Map([
  ['OWNER', 'owner'],
  ['MEMBER', 'maintainer'],
  ['COLLABORATOR', 'maintainer'],
]);
/** Permissions of accounts that may write (Gitea: `AccessMode.ToString`). */
const WRITERS: ReadonlySet<string> = new Set(['owner', 'admin', 'write']);
/** A text of somebody's, by its number and kind. */
type Acknowledged = Pick<NonNullable<Remark['comment']>, 'id' | 'in'>;

const COLLABORATOR = 'GET /repos/{owner}/{repo}/collaborators/{username}';

export class RestMaintainers {
  readonly #rest: Rest;
  /** Whether the App writes in a repository. If it cannot be asked, not each comment asks again. */
  readonly #appWrites = new Map<string, Promise<boolean>>();

  /** @param beforeCall as in `RestActivity`. */
  constructor(access: RestAccess, beforeCall: () => void) {
    this.#rest = new Rest(access, { timeoutMs: 10_000, isPatient: false, beforeCall });
  }

  async repository(name: RepositoryName): Promise<Repository> {
    return lookUpRepository(this.#rest, name);
  }

  /**
   * Tells if the author of a comment is surely nobody, without a call. GitHub says it with the
   * comment, but hides private members: where the App is installed, it may ask for them, and later
   * if it is doubted that it still is.
   */
  async isStranger(repository: RepositoryName, { association }: Speaker): Promise<boolean> {
    if (association === null || ASSOCIATIONS.has(association)) return false;
    const name = fullName(repository);
    const asking = this.#appWrites.get(name) ?? this.#rest.writesAsApp(repository).catch(isOfDoubt);
    this.#appWrites.set(name, asking);
    return !(await asking);
  }

  /**
   * Tells what the author of a comment may do. If the host has not said it with the comment, it is
   * asked, with at most three calls, and without an answer the author is nobody.
   */
  async standing(repository: RepositoryName, speaker: Speaker): Promise<Role> {
    const { login, association } = speaker;
    const said = association === null ? undefined : ASSOCIATIONS.get(association);
    if (said !== undefined) return said;
    if (await this.isStranger(repository, speaker)) return 'none';
    // The name may be an old one, and its owner's login another's by now: GitHub says who owns it.
    const isNamed = login.toLowerCase() === repository.owner.toLowerCase();
    if (association === null && isNamed) return 'owner';
    const person = { ...placeOf(repository), username: login };
    const permission = await unlessRefused(this.#rest.call(`${COLLABORATOR}/permission`, person));
    if (permission !== null) return WRITERS.has(permission.data.permission) ? 'owner' : 'none';
    // Gitea tells permissions only to administrators, and collaborators to everybody.
    const found = await unlessRefused(this.#rest.call(COLLABORATOR, person));
    return found?.status === 204 || (await this.#isAssignable(repository, login)) ? 'maintainer' : 'none';
  }

  /**
   * Tells if issues may be assigned to somebody, and so if they are in a team that may write. Gitea
   * shows the members of teams to nobody else (`GetRepoAssignees` in models/repo/user_repo.go).
   */
  async #isAssignable(repository: RepositoryName, login: string): Promise<boolean> {
    const list = await unlessRefused(
      this.#rest.call('GET /repos/{owner}/{repo}/assignees', placeOf(repository)),
    );
    const isThem = (one: { readonly login?: string }) => one.login?.toLowerCase() === login.toLowerCase();
    return list !== null && expectList(list.data).some(isThem);
  }

  /**
   * Answers what somebody has said with a thumb, which a review gets on its pull request, as it has
   * no place for one itself. A host that does not allow that changes nothing.
   * @param thread the number of the issue or pull request.
   */
  async acknowledge(repository: RepositoryName, thread: number, said: Acknowledged): Promise<void> {
    const at = { ...placeOf(repository), content: '+1' as const };
    await unlessRefused<unknown>(this.#thumb(at, thread, said));
  }

  #thumb(
    at: { readonly owner: string; readonly repo: string; readonly content: '+1' },
    issue_number: number,
    { id: comment_id, in: where }: Acknowledged,
  ): Promise<unknown> {
    if (where === 'review')
      return this.#rest.call('POST /repos/{owner}/{repo}/issues/{issue_number}/reactions', {
        ...at,
        issue_number,
      });
    return where === 'line' && this.#rest.differences.hasRemarkList
      ? this.#rest.call('POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions', {
          ...at,
          comment_id,
        })
      : this.#rest.call('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', {
          ...at,
          comment_id,
        });
  }

  /** Lists the open issues and pull requests of an account, or of the App whose account it is. */
  async openedBy(
    repository: RepositoryName,
    { login, app = null }: Account & { readonly app?: number | null },
  ): Promise<readonly OpenThread[]> {
    const query = {
      ...placeOf(repository),
      state: 'open' as const,
      [this.#rest.differences.byAuthor]: login,
    };
    const all = await this.#rest.all('GET /repos/{owner}/{repo}/issues', query);
    // A host may ignore what it does not know.
    const own = all.filter(({ user }) => user?.login.toLowerCase() === login.toLowerCase());
    return own.map(({ number, html_url, pull_request }) => ({
      number: expectNumber(number),
      url: expectAddress(html_url),
      isPullRequest: Boolean(pull_request),
      app,
    }));
  }
}

/** Tells if an error says that the App may be there all the same. */
const isOfDoubt = (error: unknown): boolean => hostFailureOf(error).isLocal === true;

/** Returns null if the host has understood the call, and does not allow it. */
async function unlessRefused<T>(call: Promise<T>): Promise<T | null> {
  return call.catch((error: unknown) => {
    const isDenied = [403, 404, 422].includes(hostFailureOf(error).status ?? 0);
    if (error instanceof HostError && error.code !== 'rate-limited' && isDenied) return null;
    throw error;
  });
}
