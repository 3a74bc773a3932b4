/**
 * The one error class for code hosts: the host did not do what it was asked to do.
 *
 * `publicMessage` is for the person who pushes: it says what happened in plain words. `cause` is for the log, which
 * writes only its class.
 */
import { fullName, type RepositoryName } from './repository-name.ts';

export type HostErrorCode =
  /** No answer, a broken one, or a fault of the host's own. Trying again later may help. */
  | 'unreachable'
  /** The host asks us to slow down. */
  | 'rate-limited'
  /** This service has too much to do at once. Trying again in a minute may help. */
  | 'busy'
  /** No such repository, or none that the public may see. */
  | 'missing'
  /** The repository has another name now. */
  | 'moved'
  /** The host refused. */
  | 'refused';

export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: HostErrorCode;
  readonly publicMessage: string;
  /** What the host said to the bot account, for the operator's log; null: nothing that concerns the operator. */
  readonly said: string | null;

  constructor(code: HostErrorCode, publicMessage: string, cause?: unknown, said: string | null = null) {
    super(publicMessage, { cause });
    this.code = code;
    this.publicMessage = publicMessage;
    this.said = said;
  }
}

/** Whether the host understood, did nothing, and would do nothing again. */
export function isRefusedByHost(error: unknown): error is HostError {
  return error instanceof HostError && (error.code === 'refused' || error.code === 'missing');
}

/** The repository was renamed or given to someone else; the host says where it is. */
export class MovedError extends HostError {
  readonly to: RepositoryName;

  constructor(to: RepositoryName) {
    super('moved', `The repository has moved to ${fullName(to)}. Use its new name.`);
    this.to = to;
  }
}
