/**
 * Opening one pull request, once, by a host whose answers may get lost and whose look-ups may be behind: a second pull
 * request would be worse than an error. An error that deletes the branch of an open pull request would be just as bad.
 */
import type { Clock } from '../../isolate/clock.ts';
import type { PullRequest } from '../code-host.ts';
import { HostError } from '../../host-error.ts';
import { HostPause } from '../failure.ts';
import { isRequestFailure, refusalDetails, refusalText } from './request-failure.ts';

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
      if (isHeadUnknown(error) && this.#headWaits < HEAD_WAITS_MS.length) {
        await this.#steps.clock.sleep(HEAD_WAITS_MS[this.#headWaits++] as number);
        return this.attempt();
      }
      if (!isDefinite(error)) this.#isUnknown = true;
      if (!isDuplicate(error)) throw error;
      // Opened by an attempt whose answer was lost, or by another push of the same.
      this.#isUnknown = true;
      const found = await this.#steps.find();
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

/** The host has said no, and done nothing. */
function isDefinite(error: unknown): boolean {
  if (error instanceof HostPause) return true;
  return isRequestFailure(error) && error.response !== undefined && error.status < 500;
}

/** GitHub's REST interface may not know yet a branch that was pushed a moment ago: 422, `head` `invalid`. */
function isHeadUnknown(error: unknown): boolean {
  if (!isRequestFailure(error) || error.status !== 422) return false;
  return refusalDetails(error).some(({ field, code }) => field === 'head' && code === 'invalid');
}

function isDuplicate(error: unknown): boolean {
  return (
    isRequestFailure(error) && [409, 422].includes(error.status) && /already exists/i.test(refusalText(error))
  );
}
