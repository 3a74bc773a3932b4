/**
 * The steps of a push that need the host: their names in error messages, and their time limits.
 *
 * A host that hangs cannot keep a push alive. Preparing the fork and opening the pull request share one time limit.
 * While a step takes long, the person is told what the service is waiting for.
 */
import type { Clock } from '../../isolate/clock.ts';
import { HostError, isRefusedByHost } from '../../host-error.ts';
import { type HostStep, Refusal } from './refusal.ts';
import type { Reply } from './reply.ts';

/** For preparing the fork and opening the pull request, together. */
const PROPOSAL_MS = 75_000;
const LINE_INTERVAL_MS = 10_000;

interface Step {
  /** The text in the status table. */
  readonly failure: string;
  /** Completes "Still waiting for github.com". */
  readonly waiting: string;
  /** Null if the step has its own limits. */
  readonly limitMs: number | 'shared' | null;
  readonly next: string;
}

/** The fork may be new, and its branches may have moved. */
const AGAIN = 'No pull request was opened or changed. Push again later.';

const STEPS = {
  lookup: {
    failure: 'the repository could not be looked up',
    waiting: 'to answer',
    limitMs: 30_000,
    next: AGAIN,
  },
  history: {
    failure: 'the history of the repository could not be read',
    waiting: 'to list its history',
    limitMs: 75_000,
    next: AGAIN,
  },
  fork: {
    failure: 'the fork could not be made',
    waiting: 'to fork the repository',
    limitMs: 'shared',
    next: 'Push again later: the fork may be ready then.',
  },
  sync: {
    failure: 'the fork could not be brought up to date',
    waiting: 'to bring the fork up to date',
    limitMs: 'shared',
    next: AGAIN,
  },
  push: {
    failure: 'the commits could not be sent to the fork',
    waiting: 'to take the commits',
    limitMs: null,
    next: 'Push the same commits again later. The service continues where it stopped.',
  },
  offer: {
    failure: 'the pull request could not be opened or updated',
    waiting: 'to take the commits',
    limitMs: null,
    next: 'Push the same commits again later. The service looks for the pull request before it opens another.',
  },
  'pull-request': {
    failure: 'the pull request could not be opened',
    waiting: 'to open the pull request',
    limitMs: 'shared',
    next: 'Push the same commits again later. The service looks for the pull request before it opens another.',
  },
  edit: {
    failure: 'the pull request could not be edited',
    waiting: 'to edit the pull request',
    limitMs: 'shared',
    next: 'Its commits are up to date. Push the same commits again to retry.',
  },
  withdrawal: {
    failure: 'the pull request could not be withdrawn completely',
    waiting: 'to close the pull request',
    limitMs: 75_000,
    next: 'Push the same again later. The service continues where it stopped.',
  },
} as const satisfies Record<HostStep, Step>;

/** The steps of one push, with their limits of time. */
export class HostSteps {
  readonly #clock: Clock;
  readonly #reply: Reply;
  readonly #hostName: string;
  #sharedLeftMs = PROPOSAL_MS;

  constructor(clock: Clock, reply: Reply, hostName: string) {
    this.#clock = clock;
    this.#reply = reply;
    this.#hostName = hostName;
  }

  /**
   * Runs one step, with a line for the person every ten seconds.
   * @throws Refusal that names the step, if the host fails or takes too long. Whether the step took effect is then
   * unknown.
   */
  async run<T>(step: HostStep, action: () => Promise<T>): Promise<T> {
    const { limitMs } = STEPS[step];
    const startedAt = this.#clock.now();
    const done = new AbortController();
    const limit = limitMs === 'shared' ? this.#sharedLeftMs : limitMs;
    try {
      return await Promise.race([action(), this.#patience(step, limit, done.signal)]);
    } catch (error) {
      throw failureOf(step, error);
    } finally {
      done.abort();
      if (limitMs === 'shared') this.#sharedLeftMs -= this.#clock.now() - startedAt;
    }
  }

  /** Rejects when the time is up; never resolves. */
  async #patience(step: HostStep, limitMs: number | null, done: AbortSignal): Promise<never> {
    const { waiting } = STEPS[step];
    for (let leftMs = limitMs ?? Infinity; leftMs > 0; leftMs -= LINE_INTERVAL_MS) {
      await this.#clock.sleep(Math.min(LINE_INTERVAL_MS, leftMs), done);
      if (done.aborted) return new Promise<never>(() => {});
      if (leftMs > LINE_INTERVAL_MS) {
        await this.#reply.step(`Still waiting for ${this.#hostName} ${waiting} ...`);
      }
    }
    throw new HostError('unreachable', `${this.#hostName} did not answer in time.`);
  }
}

/** A failure of the host, as a refusal that names the step. Any other error stays what it is. */
function failureOf(step: HostStep, error: unknown): unknown {
  // If the service is busy, no step is to blame.
  if (!(error instanceof HostError) || error.code === 'busy') return error;
  const { failure, next } = STEPS[step];
  const isFinal: boolean = isRefusedByHost(error);
  const lines = isFinal ? [error.publicMessage] : [error.publicMessage, next];
  return new Refusal(step, failure, lines, { cause: error });
}
