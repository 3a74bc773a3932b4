/**
 * Reads who may speak for a repository, and answers their comments. Nothing is retried: the feed
 * comes back by itself.
 */
import { HostError, hostFailureOf } from '../../words/host-error.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import type { Account, OpenThread, Repository, Speaker, Role } from '../code-host.ts';
import type { AppAccount } from './actor.ts';
import { expectAddress, expectNumber } from './answer.ts';
import { lookUpRepository, placeOf } from './reads.ts';
import { Rest, type RestAccess } from './rest.ts';

const ASSOCIATIONS: ReadonlyMap<string, Role> = new Map([
  ['OWNER', 'owner'],
  ['MEMBER', 'maintainer'],
  ['COLLABORATOR', 'maintainer'],
]);
/** Permissions of accounts that may write (Gitea: `AccessMode.ToString`). */
const WRITERS: ReadonlySet<string> = new Set(['owner', 'admin', 'write']);
const COLLABORATOR = 'GET /repos/{owner}/{repo}/collaborators/{username}';

export class RestMaintainers {
  readonly #rest: Rest;

  /** @param beforeCall as in `RestActivity`. */
  constructor(access: RestAccess, beforeCall: () => void) {
    this.#rest = new Rest(access, { timeoutMs: 10_000, isPatient: false, beforeCall });
  }

  async repository(name: RepositoryName): Promise<Repository> {
    return lookUpRepository(this.#rest, name);
  }

  /**
   * Tells if the author of a comment is surely nobody, without a call. GitHub says it with the
   * comment, but hides private members: where the App is installed, it may ask for them.
   */
  async isStranger(repository: RepositoryName, { association }: Speaker): Promise<boolean> {
    if (association === null || ASSOCIATIONS.has(association)) return false;
    return !(await this.#rest.writesAsApp(repository).catch(() => false));
  }

  /**
   * Tells what the author of a comment may do. If the host has not said it with the comment, it is
   * asked, with at most two calls, and without an answer the author is nobody.
   */
  async standing(repository: RepositoryName, speaker: Speaker): Promise<Role> {
    const { login, association } = speaker;
    const said = association === null ? undefined : ASSOCIATIONS.get(association);
    if (said !== undefined) return said;
    if (await this.isStranger(repository, speaker)) return 'none';
    if (login.toLowerCase() === repository.owner.toLowerCase()) return 'owner';
    const person = { ...placeOf(repository), username: login };
    const permission = await unlessRefused(this.#rest.call(`${COLLABORATOR}/permission`, person));
    if (permission !== null) return WRITERS.has(permission.data.permission) ? 'owner' : 'none';
    // Gitea tells permissions only to administrators, and collaborators to everybody.
    const found = await unlessRefused(this.#rest.call(COLLABORATOR, person));
    return found?.status === 204 ? 'maintainer' : 'none';
  }

  /** Answers a comment with a thumb. A host that does not allow that changes nothing. */
  async acknowledge(repository: RepositoryName, comment_id: number): Promise<void> {
    const reaction = { ...placeOf(repository), comment_id, content: '+1' as const };
    await unlessRefused(
      this.#rest.call('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', reaction),
    );
  }

  /** Lists the open issues and pull requests of an account, or of the App whose account it is. */
  async openedBy(
    repository: RepositoryName,
    { login, app }: Account & Partial<AppAccount>,
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
      ...(app !== undefined && { app }),
    }));
  }
}

/** Returns null if the host has understood the call, and does not allow it. */
async function unlessRefused<T>(call: Promise<T>): Promise<T | null> {
  return call.catch((error: unknown) => {
    const isDenied = [403, 404, 422].includes(hostFailureOf(error).status ?? 0);
    if (error instanceof HostError && error.code !== 'rate-limited' && isDenied) return null;
    throw error;
  });
}
