/**
 * Errors of requests to the code host, and what follows from them.
 * Proved by test/host/failure.test.ts and test/host/redirect.test.ts.
 */
import { fullName, type RepositoryName } from './repository-name.ts';

export type HostErrorCode =
  /** No answer, a broken answer, or a fault of the host. Trying again later may help. */
  | 'unreachable'
  | 'rate-limited'
  /** This service has too much to do at once. Trying again in a minute may help. */
  | 'busy'
  /** No such repository, or none that the public may see. */
  | 'missing'
  /** The repository has another name now. */
  | 'moved'
  | 'refused';

/** Consequences of a failure, as plain data, because they cross from Durable Objects to routes. */
export interface Failure {
  /** `unknown`: the host may have done it all the same. */
  readonly effect: 'none' | 'unknown';
  /** How long it lasts. `until`: as long as the host, or the service, asks to wait. */
  readonly lasts: 'moment' | 'until' | 'final';
  /** How long to wait; null if nobody says. */
  readonly retryAfterMs: number | null;
  /** Who can end it: the operator (`ours`), the code host, or the person. */
  readonly whose: 'ours' | 'theirs' | 'person';
  /**
   * The status of the host's answer. Null: there was no answer, or its status was no failure. 200:
   * it showed a page in place of Git.
   */
  readonly status: number | null;
  /** The host's words, without addresses. May be empty. */
  readonly says: string;
  /**
   * Set if the host knows the call, but not the thing that was asked for. A host that lacks the
   * call answers 404, too.
   */
  readonly knowsCall?: true;
  /** Set if it concerns the App in one repository, and so nothing that is done elsewhere. */
  readonly isLocal?: true;
}

const NOTHING_DONE = { effect: 'none', retryAfterMs: null, status: null, says: '' } as const;

/** Meanings of an error by its code alone. The tables of host/failure.ts are more exact. */
const FAILURES: Readonly<Record<HostErrorCode, Failure>> = {
  unreachable: { ...NOTHING_DONE, effect: 'unknown', lasts: 'moment', whose: 'theirs' },
  'rate-limited': { ...NOTHING_DONE, lasts: 'until', whose: 'ours' },
  busy: { ...NOTHING_DONE, lasts: 'until', whose: 'ours' },
  missing: { ...NOTHING_DONE, lasts: 'final', whose: 'person' },
  moved: { ...NOTHING_DONE, lasts: 'final', whose: 'person' },
  refused: { ...NOTHING_DONE, lasts: 'final', whose: 'person' },
};

/** Thrown when the host did not do what it was asked. `publicMessage` is for the person. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: HostErrorCode;
  readonly publicMessage: string;
  readonly failure: Failure;

  /**
   * @param cause a HostError passes on its status, its words and its wait.
   * @param failure what differs from the usual meaning of the code.
   */
  constructor(code: HostErrorCode, publicMessage: string, cause?: unknown, failure: Partial<Failure> = {}) {
    super(publicMessage, { cause });
    this.code = code;
    this.publicMessage = publicMessage;
    const { status, says, retryAfterMs } = cause instanceof HostError ? cause.failure : NOTHING_DONE;
    this.failure = { ...FAILURES[code], status, says, retryAfterMs, ...failure };
  }

  get status(): number | null {
    return this.failure.status;
  }

  /** Gives what the host said that concerns the operator, for the log; null if nothing does. */
  get said(): string | null {
    const { whose, status, says } = this.failure;
    if (status === null) return says || null;
    return whose === 'ours' || status === 403 ? `${says || 'no reason'} (${status})` : null;
  }
}

/**
 * Gives the consequences of any error. One that is no HostError counts as no answer of the host.
 */
export function hostFailureOf(error: unknown): Failure {
  return error instanceof HostError ? error.failure : FAILURES.unreachable;
}

/** Gives the error of a call of the App's: what it says of the token concerns one repository. */
export function inOneRepository(error: unknown): unknown {
  if (!(error instanceof HostError) || error.failure.whose !== 'ours') return error;
  const { code, publicMessage, failure } = error;
  return new HostError(code, publicMessage, error, { ...failure, whose: 'theirs', isLocal: true });
}

/** Answers whether the host has refused for good, so that asking again would change nothing. */
export function isRefusedByHost(error: unknown): error is HostError {
  return error instanceof HostError && error.code !== 'moved' && error.failure.lasts === 'final';
}

/** Answers whether the client may cause no more calls of the account. */
export function isOutOfCalls(error: unknown): error is HostError {
  return error instanceof HostError && error.code === 'rate-limited' && error.failure.whose === 'person';
}

/** Gives null for what does not exist, no longer exists, or may not be shown. */
export async function unlessMissing<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HostError && error.code === 'missing') return null;
    throw error;
  }
}

/** Thrown when the repository was renamed or transferred, and the host says where it is. */
export class MovedError extends HostError {
  readonly to: RepositoryName;

  /** @param status that of the redirect. */
  constructor(to: RepositoryName, status: number) {
    super('moved', `The repository has moved to ${fullName(to)}. Use its new name.`, undefined, { status });
    this.to = to;
  }
}
