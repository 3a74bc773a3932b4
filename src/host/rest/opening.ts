/**
 * Opening one pull request, once, by a host whose answers may get lost and whose look-ups may be behind: a second pull
 * request would be worse than an error. An error that deletes the branch of an open pull request would be just as bad.
 */
import type { Clock } from '../../isolate/clock.ts';
import type { PullRequest } from '../code-host.ts';
import { HostError, hostFailureOf } from '../../host-error.ts';

const HEAD_WAITS_MS = [500, 1_000, 2_000, 4_000] as const;

export interface OpeningSteps {
  readonly clock: Clock;
  find(): Promise<PullRequest | null>;
  create(): Promise<PullRequest>;
}

export class Opening {
  readonly #steps: OpeningSteps;
  #headWaits = 0;
  /** An attempt may have opened it, and nobody has seen it yet. */
  #isUnknown = false;

  constructor(steps: OpeningSteps) {
    this.#steps = steps;
  }

  /** To be called again after a failure that may pass. */
  async attempt(): Promise<PullRequest> {
    const earlier = this.#isUnknown ? await this.#steps.find() : null;
    if (earlier?.isOpen) return earlier;
    try {
      return await this.#steps.create();
    } catch (error) {
      const { effect, lasts, status } = hostFailureOf(error);
      // The host does not know the branch yet.
      const isEarly = effect === 'none' && lasts === 'moment' && status === 422;
      if (isEarly && this.#headWaits < HEAD_WAITS_MS.length) {
        await this.#steps.clock.sleep(HEAD_WAITS_MS[this.#headWaits++] as number);
        return this.attempt();
      }
      if (effect === 'none') throw error;
      this.#isUnknown = true;
      // Opened by an attempt whose answer was lost, or by another push of the same.
      const found = status === 409 || status === 422 ? await this.#steps.find() : null;
      if (found?.isOpen) return found;
      throw error;
    }
  }

  /** The failure of the last attempt, for the whole: it is definite only if no attempt before it was unknown. */
  failure(error: unknown): unknown {
    if (!this.#isUnknown || !(error instanceof HostError) || error.code === 'unreachable') return error;
    return new HostError(
      'unreachable',
      'The pull request may be open already, but the code host does not show it yet.',
      error,
    );
  }
}
