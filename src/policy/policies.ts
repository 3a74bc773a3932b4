/**
 * Reads the policies of repositories, and what their other files say, at most every five minutes.
 * Where a repository has no file, that of its owner counts.
 * While the host does not answer, the last known policy counts. Files are read with Git, which uses
 * none of the bot account's calls. If that fails, for example because the host limits the public or
 * has renamed the repository, the REST interface is asked. An urgent question, as
 * that of a push, goes to REST at once, because Git takes up to five round trips. The bot may see
 * more than the public, so a private repository has no policy here, like one that does not exist.
 */
import { type HostConfig, recordName } from '../config/hosts.ts';
import type { Config } from '../config/config.ts';
import { botLogin, type LoginScope, openHostAccess } from '../host-access.ts';
import type { Env } from '../env.ts';
import type { SaidWords } from '../events/hear.ts';
import type { Oid } from '../git/objects/oid.ts';
import type { Repository } from '../host/code-host.ts';
import { openRepositories, type RepositoryHost } from '../host/open.ts';
import { OWNERS_REPOSITORY } from '../host/kinds.ts';
import { pullRequestsOf } from '../host/rest/reads.ts';
import { HostError, unlessMissing } from '../words/host-error.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';
import type { Logger } from '../log.ts';
import { feedOf, readFrom } from '../objects.ts';
import { systemClock } from '../isolate/clock.ts';
import { type LastKnown, openLastKnown } from '../isolate/last-known.ts';
import { within } from '../isolate/within.ts';
import type { ReadAll } from './gates.ts';
import { type FilesHost, readCommunityFiles } from './community-files.ts';
import {
  closedTo,
  OPEN_POLICY,
  parsePolicy,
  type Policy,
  POLICY_PATH,
  withCommunity,
  withWords,
} from './policy.ts';
import { readAll, withPublicFiles } from './public-files.ts';

const POLICY_FRESH_MS = 5 * 60_000;
const NOTHING_SAID: SaidWords = { stoppedAt: null, muted: [], isAny: false };
/** How long to wait: long, because a slow host is no reason to refuse a contribution. */
const PATIENCE_MS = 20_000;
/** How long a push waits for what only warns. */
const GATES_PATIENCE_MS = 5_000;

/** The parts that all questions for a policy share. */
const QUESTION = { freshMs: POLICY_FRESH_MS, nothing: null, patienceMs: PATIENCE_MS } as const;

/** Asks for the policy that an owner has set for all repositories. */
type Owners = (owner: string) => Promise<Policy>;

/** Requests to the host that the policies need. */
export interface PolicyHost {
  readonly repositories: Pick<RepositoryHost, 'repository' | 'file' | 'list'>;
  /**
   * Opens the repository's files for `read`, as `publicFiles` does. Rejects, even in the midst of
   * `read`, if the REST interface has to be asked.
   */
  publicFiles<T>(repository: RepositoryName, read: (files: FilesHost) => Promise<T>): Promise<T>;
  /** Reads objects as `FilesHost` does, without calls of the account. */
  readAll(repository: RepositoryName, oids: readonly Oid[]): ReturnType<ReadAll>;
  /**
   * Remembers whose pull requests a repository takes, which only REST says; null: not lately seen.
   */
  pullRequestsOf(repository: RepositoryName): Repository['pullRequests'] | null;
  /** Gives null if there is no account. */
  botLogin(): Promise<string | null>;
  /**
   * Reads what maintainers have said in comments.
   * @param id the host's number of the repository; null: it is not known.
   */
  said(repository: RepositoryName, id: number | null): Promise<SaidWords>;
}

/** A policy; null: no such public repository; undefined: no answer, and nothing is known. */
export type KnownPolicy = Policy | null | undefined;

interface PolicyQuestion {
  /** The repository, if it is being looked up already. */
  readonly looked?: Promise<Repository> | undefined;
  /** Asked before the host is. If false, the host counts as not answering. Default: yes. */
  readonly mayAsk?: () => Promise<boolean>;
  /** Whether to ask REST at once, with calls of the account. Default: no. */
  readonly isUrgent?: boolean;
  /**
   * Set for badges and pages. Their policies are cached apart, because a fast answer would tell
   * that somebody has just pushed. Default: no.
   */
  readonly isPolled?: boolean;
  /**
   * Whether only the repository's files count: neither its owner's nor a comment (contract, 4.14).
   * Default: no.
   */
  readonly isFilesOnly?: boolean;
  /** The same as in `Question` of src/isolate/last-known.ts. */
  readonly atOnceMs?: number;
}

export class Policies {
  readonly #host: PolicyHost;
  readonly #place: Pick<HostConfig, 'key' | 'kind'>;
  readonly #lastKnown: LastKnown;

  /** @param place the host's key, which names what is cached, and its kind, which lists name. */
  constructor(host: PolicyHost, place: Pick<HostConfig, 'key' | 'kind'>, lastKnown: LastKnown) {
    this.#host = host;
    this.#place = place;
    this.#lastKnown = lastKnown;
  }

  /** Gives the policy of a repository. Never rejects. */
  async of(repository: RepositoryName, question: PolicyQuestion = {}): Promise<KnownPolicy> {
    const { looked, mayAsk = async () => true, isUrgent = false, isPolled = false, atOnceMs } = question;
    const record = recordName(this.#place, repository).toLowerCase();
    // The cache named `policy` had another shape.
    const name = question.isFilesOnly
      ? `policy-by-files/${record}`
      : `${isPolled ? 'polled-repository-policy' : 'repository-policy'}/${record}`;
    // Awaited below the question. A failure closes the repository for now, whatever it was.
    const said = question.isFilesOnly ? NOTHING_SAID : this.#said(repository, question).catch(() => null);
    const policy = await this.#lastKnown.read<Policy | null>({
      ...QUESTION,
      name,
      ...(atOnceMs !== undefined && { atOnceMs }),
      ask: async () => {
        const owners = async (owner: string) =>
          question.isFilesOnly ? OPEN_POLICY : this.#owners(owner, isPolled);
        if (await mayAsk())
          return isUrgent ? this.#askByRest(repository, owners, looked) : this.#ask(repository, owners);
        throw new HostError('rate-limited', 'The service has asked for too many policies.');
      },
    });
    // Whoever is refused for this is told to retry, so the failure must not be remembered.
    if (policy === undefined && atOnceMs === undefined) await this.#lastKnown.forget(name);
    if (!policy) return policy;
    const words = await said;
    // A stop must hold even while nobody knows of it.
    if (words === null) return undefined;
    return withWords(closedTo(policy, this.#host.pullRequestsOf(repository) ?? 'all'), words);
  }

  /**
   * Reads what maintainers have said. A name alone may be another repository's by now, so its
   * number is looked up if any word stands; but pages, which can be polled, cost no call.
   */
  async #said(repository: RepositoryName, { looked, isPolled }: PolicyQuestion): Promise<SaidWords> {
    const said = await this.#host.said(repository, null);
    if (!said.isAny || isPolled) return said;
    const { id } = await (looked ?? this.#host.repositories.repository(repository));
    return this.#host.said(repository, id);
  }

  /**
   * Gives the policy that an owner has set for all repositories. It is read with Git, as the public
   * sees it, which costs the account nothing, and is cached for all of them.
   * @throws HostError if it is not known
   */
  async #owners(owner: string, isPolled: boolean): Promise<Policy> {
    const repository = { owner, name: OWNERS_REPOSITORY[this.#place.kind] };
    const name = `${isPolled ? 'polled-owner-policy' : 'owner-policy'}/${recordName(this.#place, repository).toLowerCase()}`;
    const ask = () => this.#askOwners(repository);
    const policy = await this.#lastKnown.read<Policy | null>({ ...QUESTION, name, ask });
    if (policy !== undefined) return policy ?? OPEN_POLICY;
    await this.#lastKnown.forget(name);
    throw new HostError('unreachable', 'The policy of the owner is not known.');
  }

  async #askOwners(repository: RepositoryName): Promise<Policy | null> {
    const read = () => this.#host.publicFiles(repository, (files) => files.file(POLICY_PATH));
    const file = await unlessMissing(() =>
      read().catch((error: unknown) => {
        // The account may read it where the public is limited or is not answered.
        if (error instanceof HostError && error.code === 'missing') throw error;
        return this.#host.repositories.file(repository, POLICY_PATH);
      }),
    );
    if (file === null || file.kind === 'missing') return null;
    const policy = parsePolicy(file.kind === 'file' ? file.content : null);
    // The badge says what a repository itself has said (contract, 4.14).
    return { ...policy, anonymousFriendly: false, owners: fullName(repository) };
  }

  async #ask(repository: RepositoryName, owners: Owners): Promise<Policy | null> {
    try {
      const own = () => owners(repository.owner);
      return await this.#host.publicFiles(repository, (files) => this.#read(files, own));
    } catch (error) {
      // GitHub answers the public so about a repository that the public does not see.
      if (error instanceof HostError && error.code === 'missing' && error.failure.status === 401) return null;
      // Whatever else failed, the account may be answered; if not, that failure is the one to tell.
    }
    return this.#askByRest(repository, owners);
  }

  async #askByRest(
    repository: RepositoryName,
    owners: Owners,
    looked?: Promise<Repository>,
  ): Promise<Policy | null> {
    const { repositories } = this.#host;
    return unlessMissing(async () => {
      const looking = looked ?? repositories.repository(repository);
      const [{ isPrivate, pullRequests }, policy] = await Promise.all([
        looking,
        this.#read(
          {
            list: (folder) => repositories.list(repository, folder),
            file: (path) => repositories.file(repository, path),
            readAll: (oids) => within(GATES_PATIENCE_MS, this.#host.readAll(repository, oids)),
          },
          // Its present owner's counts, because an old name outlives a transfer.
          async () => owners((await looking).owner),
        ),
      ]);
      return isPrivate ? null : closedTo(policy, pullRequests);
    });
  }

  /** @throws HostError, also if the host lists a policy and does not show it */
  async #read(files: FilesHost, owners: () => Promise<Policy>): Promise<Policy> {
    const root = files.list('');
    const listed: FilesHost = {
      list: (folder) => (folder === '' ? root : files.list(folder)),
      file: (path) => files.file(path),
      readAll: (oids) => files.readAll(oids),
    };
    const [file, names, community] = await Promise.all([
      files.file(POLICY_PATH),
      root,
      readCommunityFiles(listed, this.#place.kind, () => this.#host.botLogin().catch(nameless)),
    ]);
    // A 404 that is false must not pass for consent.
    if (file.kind === 'missing' && names.has(POLICY_PATH))
      throw new HostError('unreachable', 'The code host lists a policy, and does not show it.');
    const content = file.kind === 'file' ? file.content : null;
    return withCommunity(file.kind === 'missing' ? await owners() : parsePolicy(content), community);
  }
}

/** Replaces an error `missing` of the account, which would look like a missing repository. */
function nameless(cause: unknown): never {
  throw new Error('the name of the bot is not known', { cause });
}

interface PolicyScope extends LoginScope {
  readonly env: LoginScope['env'] & Pick<Env, 'LAST_KNOWN'>;
  readonly config: Config;
  readonly logger: Logger;
}

export function openPolicies(scope: PolicyScope): Policies {
  const { env, config, host, logger, http } = scope;
  const onFailure = (error: unknown) => logger.warn('a policy could not be read', { error });
  const lastKnown = openLastKnown(env, config, onFailure);
  const policyHost: PolicyHost = {
    repositories: openRepositories(openHostAccess(scope)),
    publicFiles: (name, read) => withPublicFiles(host, http, name, read),
    readAll: (name, oids) => readAll(host, http, name, oids),
    pullRequestsOf: (name) => pullRequestsOf(host.apiUrl, name, systemClock.now()),
    // The login is cached for a month, so that a page costs the account no call.
    botLogin: async () => (host.token === null ? null : await botLogin(scope, true)),
    said: (name, id) => readFrom(() => feedOf(env, host.key).said(name, id)),
  };
  return new Policies(policyHost, host, lastKnown);
}
