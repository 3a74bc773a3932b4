/**
 * The host did not do what it was asked. `publicMessage` is for who pushes; the log has only the
 * class of `cause`.
 * Proved by test/host/failure.test.ts and test/host/redirect.test.ts.
 */
import { fullName, type RepositoryName } from './repository-name.ts';

export type HostErrorCode =
  /** No answer, a broken one, or a fault of the host's own. Trying again later may help. */
  | 'unreachable'
  | 'rate-limited'
  /** This service has too much to do at once. Trying again in a minute may help. */
  | 'busy'
  /** No such repository, or none that the public may see. */
  | 'missing'
  /** The repository has another name now. */
  | 'moved'
  | 'refused';

/** What follows from a failure. Plain data: it crosses from a Durable Object to a route. */
export interface Failure {
  /** `unknown`: the host may have done it all the same. */
  readonly effect: 'none' | 'unknown';
  /** `until`: the host, or the service, asks to wait. */
  readonly lasts: 'moment' | 'until' | 'final';
  /** Null: nobody says how long. */
  readonly retryAfterMs: number | null;
  /** Who can change it: the operator, the code host, or the person. */
  readonly whose: 'ours' | 'theirs' | 'person';
  /**
   * Of the host's answer. Null: there was none, or it was no failure by itself. 200: a page was
   * shown instead of Git.
   */
  readonly status: number | null;
  /** The host's words, without addresses; may be empty. */
  readonly says: string;
  /**
   * True: the host has the call, and not what was asked for. A host that lacks the call answers
   * 404, too.
   */
  readonly knowsCall?: true;
}

const NOTHING_DONE = { effect: 'none', retryAfterMs: null, status: null, says: '' } as const;

/** By its code alone. The tables of host/failure.ts say more. */
const FAILURES: Readonly<Record<HostErrorCode, Failure>> = {
  unreachable: { ...NOTHING_DONE, effect: 'unknown', lasts: 'moment', whose: 'theirs' },
  'rate-limited': { ...NOTHING_DONE, lasts: 'until', whose: 'ours' },
  busy: { ...NOTHING_DONE, lasts: 'until', whose: 'ours' },
  missing: { ...NOTHING_DONE, lasts: 'final', whose: 'person' },
  moved: { ...NOTHING_DONE, lasts: 'final', whose: 'person' },
  refused: { ...NOTHING_DONE, lasts: 'final', whose: 'person' },
};

export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: HostErrorCode;
  readonly publicMessage: string;
  readonly failure: Failure;

  /**
   * @param failure what differs from the usual meaning of the code; a cause keeps its own status
   * and words.
   */
  constructor(code: HostErrorCode, publicMessage: string, cause?: unknown, failure: Partial<Failure> = {}) {
    super(publicMessage, { cause });
    this.code = code;
    this.publicMessage = publicMessage;
    const { status, says, retryAfterMs } = cause instanceof HostError ? cause.failure : NOTHING_DONE;
    this.failure = { ...FAILURES[code], status, says, retryAfterMs, ...failure };
  }

  /** Of the host's answer, as `Failure` has it. */
  get status(): number | null {
    return this.failure.status;
  }

  /**
   * What the host said to the bot account, for the operator's log; null: nothing that concerns the
   * operator.
   */
  get said(): string | null {
    const { whose, status, says } = this.failure;
    if (status === null) return says || null;
    return whose === 'ours' || status === 403 ? `${says || 'no reason'} (${status})` : null;
  }
}

/** What is known of any failure. One that is no answer of the host is its fault. */
export function hostFailureOf(error: unknown): Failure {
  return error instanceof HostError ? error.failure : FAILURES.unreachable;
}

/** Whether the host understood, did nothing, and would do nothing again. */
export function isRefusedByHost(error: unknown): error is HostError {
  return error instanceof HostError && error.code !== 'moved' && error.failure.lasts === 'final';
}

/**
 * Null for what does not exist, no longer exists, or may not be shown.
 * @param read retries by itself.
 */
export async function unlessMissing<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HostError && error.code === 'missing') return null;
    throw error;
  }
}

/** The repository was renamed or given to someone else; the host says where it is. */
export class MovedError extends HostError {
  readonly to: RepositoryName;

  /** @param status of the redirect. */
  constructor(to: RepositoryName, status: number) {
    super('moved', `The repository has moved to ${fullName(to)}. Use its new name.`, undefined, { status });
    this.to = to;
  }
}
