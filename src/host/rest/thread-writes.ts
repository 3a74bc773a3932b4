/** Writes to threads: each to the repository's present name, and within a time that somebody waits. */
import type { Repository } from '../code-host.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { HostError } from '../../host-error.ts';
import { isGone } from '../write-failure.ts';
import { expectNumber } from './answer.ts';
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

  /**
   * A change that may be repeated; of what is gone, it is none. A host that says so is asked once more, because it would
   * never be tried again.
   * @param read what is to be changed. @throws HostError
   */
  async unlessGone(
    repository: RepositoryName,
    change: (repository: RepositoryName) => Promise<void>,
    read: (repository: RepositoryName) => Promise<unknown>,
  ): Promise<void> {
    const call = (make: (repository: RepositoryName) => Promise<unknown>) =>
      this.#renamed(repository, (current) => this.#calls.retried(() => make(current)));
    const refusal = await call(change).then(() => null, ifGone);
    if (refusal === null || (await call(read).then(() => null, ifGone)) !== null) return;
    throw refusal;
  }

  #renamed<T>(repository: RepositoryName, write: (repository: RepositoryName) => Promise<T>): Promise<T> {
    return underCurrentName((name) => this.#lookUp(this.#calls, name), repository, write);
  }
}

/** @throws any other error */
function ifGone(error: unknown): unknown {
  if (isGone(error)) return error;
  throw error;
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

/** @param issue the host's answer to closing the one with this number. */
export function expectClosed(issue: { number: number; state: string }, number: number): void {
  if (expectNumber(issue.number) !== number || issue.state !== 'closed')
    throw new TypeError('the host answers with another issue');
}

/** The time limit of one call. */
export function limited(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(TIMEOUT_MS) };
}
