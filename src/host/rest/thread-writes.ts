/** Writes to threads: each to the repository's present name, and within a time that somebody waits. */
import type { Repository } from '../code-host.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { HostError } from '../../host-error.ts';
import { isGone } from '../write-failure.ts';
import type { RestCalls } from './octokit.ts';
import { underCurrentName } from './renamed.ts';
import { failureStatus } from './request-failure.ts';

const TIMEOUT_MS = 10_000;

type LookUp = (calls: RestCalls, repository: RepositoryName) => Promise<Repository>;

export class ThreadWrites {
  readonly #calls: RestCalls;
  readonly #lookUp: LookUp;

  constructor(calls: RestCalls, lookUp: LookUp) {
    this.#calls = calls;
    this.#lookUp = lookUp;
  }

  /** Something new. @throws HostError */
  once<T>(repository: RepositoryName, create: (repository: RepositoryName) => Promise<T>): Promise<T> {
    return this.#renamed(repository, (current) => onceUnlessRefused(this.#calls, () => create(current)));
  }

  /** A change that may be repeated; of what is gone, it is none. @throws HostError */
  async unlessGone(
    repository: RepositoryName,
    change: (repository: RepositoryName) => Promise<void>,
  ): Promise<void> {
    try {
      await this.#renamed(repository, (current) => this.#calls.retried(() => change(current)));
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  #renamed<T>(repository: RepositoryName, write: (repository: RepositoryName) => Promise<T>): Promise<T> {
    return underCurrentName((name) => this.#lookUp(this.#calls, name), repository, write);
  }
}

/**
 * A write whose repetition would be worse than an error: tried again only when the host said that it did nothing.
 * @throws HostError
 */
function onceUnlessRefused<T>({ retried }: RestCalls, create: () => Promise<T>): Promise<T> {
  return retried(async () => {
    try {
      return await create();
    } catch (error) {
      if (error instanceof HostError) throw error;
      const status = failureStatus(error);
      if (status !== undefined && status < 500) throw error;
      throw new HostError('unreachable', 'The code host did not answer as expected.', error);
    }
  });
}

/** The time limit of one call. */
export function limited(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(TIMEOUT_MS) };
}
