/**
 * The policies of repositories, read from the host at most every five minutes. While the host does not answer, the last
 * known policy counts.
 *
 * They are read with Git, which costs none of the bot account's calls. Where that fails, because the host limits the
 * public, serves no objects by their ids or calls the repository by another name now, the REST interface is asked, with
 * two simultaneous calls. A push asks it at once, because Git takes up to four round trips. The bot may see more than
 * the public. So a repository that is not public has no policy here, exactly like one that does not exist.
 */
import { type HostConfig, recordName } from '../config/hosts.ts';
import type { Config } from '../config.ts';
import { openHostAccess } from '../durable/host-access.ts';
import type { Env } from '../env.ts';
import type { FileAnswer, Repository, RepositoryHost } from '../host/code-host.ts';
import { GitTransport } from '../host/git/git-transport.ts';
import { SmartHttp } from '../host/git/smart-http.ts';
import { pullRequestsOf } from '../host/git/visibility.ts';
import { openRepositories } from '../host/open.ts';
import { HostError, unlessMissing } from '../host-error.ts';
import type { RepositoryName } from '../repository-name.ts';
import type { Logger } from '../log.ts';
import type { Http } from '../outgoing/http-client.ts';
import { systemClock } from '../isolate/clock.ts';
import { LastKnown, type LastKnownPlaces } from '../isolate/last-known.ts';
import { isolateMemory } from '../isolate/memory-budget.ts';
import { lastKnownPlaces } from '../isolate/open-last-known.ts';
import { closedTo, OPEN_POLICY, parsePolicy, POLICY_PATH, type Policy } from './policy.ts';
import { readPublicFile } from './public-file.ts';

const POLICY_FRESH_MS = 5 * 60_000;
/** Long, because a slow host is no reason to refuse a contribution, and the client has to wait for the host anyway. */
const PATIENCE_MS = 20_000;

/** The requests to the host. */
export interface PolicyHost extends Pick<RepositoryHost, 'repository' | 'file'> {
  /** Null: the REST interface has to be asked. @throws HostError, `missing` if the public sees no such repository. */
  publicFile(repository: RepositoryName, name: string): Promise<FileAnswer | null>;
  /** Whose pull requests it takes; null: that was not seen lately. Only the REST interface says it, so nobody asks. */
  pullRequestsOf(repository: RepositoryName): Repository['pullRequests'] | null;
}

/** Names the host in what is remembered. */
type Place = Pick<HostConfig, 'key'>;

/** Null: there is no public repository of that name. Undefined: the host does not answer, and never has. */
export type KnownPolicy = Policy | null | undefined;

interface Asking {
  /** Whether the host may be asked if necessary. If not, it counts as not answering. Default: yes. */
  readonly mayAsk?: () => Promise<boolean>;
  /** In one round trip, with calls of the account. Default: no. */
  readonly isUrgent?: boolean;
  /**
   * For what anybody polls, badges and the page of a repository: kept apart, because otherwise their speed would tell
   * that somebody has just pushed or posted there. Default: no.
   */
  readonly isPolled?: boolean;
}

export class Policies {
  readonly #host: PolicyHost;
  readonly #place: Place;
  readonly #lastKnown: LastKnown;

  constructor(host: PolicyHost, place: Place, places: LastKnownPlaces) {
    this.#host = host;
    this.#place = place;
    this.#lastKnown = new LastKnown(places);
  }

  /** Never rejects. */
  async of(
    repository: RepositoryName,
    { mayAsk = async () => true, isUrgent = false, isPolled = false }: Asking = {},
  ): Promise<KnownPolicy> {
    const name = `${isPolled ? 'polled-policy' : 'policy'}/${recordName(this.#place, repository).toLowerCase()}`;
    const policy = await this.#lastKnown.read<Policy | null>({
      name,
      freshMs: POLICY_FRESH_MS,
      nothing: null,
      patienceMs: PATIENCE_MS,
      ask: async () => {
        if (await mayAsk()) return isUrgent ? this.#askByRest(repository) : this.#ask(repository);
        throw new HostError('rate-limited', 'The service has asked for too many policies.');
      },
    });
    // People who are refused for this reason are told to retry, and may do so immediately.
    if (policy === undefined) await this.#lastKnown.forget(name);
    return policy ? closedTo(policy, this.#host.pullRequestsOf(repository) ?? 'all') : policy;
  }

  async #ask(repository: RepositoryName): Promise<Policy | null> {
    try {
      const read = await this.#host.publicFile(repository, POLICY_PATH);
      if (read !== null) return policyOf(read);
    } catch (error) {
      // How GitHub answers the public about what it does not see.
      if (error instanceof HostError && error.code === 'missing' && error.failure.status === 401) return null;
    }
    return this.#askByRest(repository);
  }

  async #askByRest(repository: RepositoryName): Promise<Policy | null> {
    return unlessMissing(async () => {
      const [{ isPrivate, pullRequests }, file] = await Promise.all([
        this.#host.repository(repository),
        this.#host.file(repository, POLICY_PATH),
      ]);
      return isPrivate ? null : closedTo(policyOf(file), pullRequests);
    });
  }
}

function policyOf(file: FileAnswer): Policy {
  return file.kind === 'missing' ? OPEN_POLICY : parsePolicy(file.kind === 'file' ? file.content : null);
}

export function openPolicies(
  env: Pick<Env, 'LAST_KNOWN' | 'SERVICE_SECRET' | 'LOCATION_HINT' | 'HOST_ACCOUNTS' | 'GUARD'>,
  config: Config,
  host: HostConfig,
  logger: Logger,
  http: Http,
): Policies {
  const repositories = openRepositories(openHostAccess(env, config, host, http));
  const places = lastKnownPlaces(env, config, (error) =>
    logger.warn('a policy could not be read', { error }),
  );
  const publicFile = async (repository: RepositoryName, name: string): Promise<FileAnswer | null> => {
    const memory = isolateMemory.open(systemClock, 'policies');
    try {
      const transport = new GitTransport(new SmartHttp(host.url, null, http), systemClock, memory, null);
      return await readPublicFile(transport, memory, repository, name);
    } finally {
      memory.end();
    }
  };
  const policyHost = {
    repository: (name: RepositoryName) => repositories.repository(name),
    file: (name: RepositoryName, path: string) => repositories.file(name, path),
    publicFile,
    pullRequestsOf: (name: RepositoryName) => pullRequestsOf(host.apiUrl, name, systemClock.now()),
  };
  return new Policies(policyHost, host, places);
}
