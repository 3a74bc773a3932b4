/** A TypeError, like the failures of `fetch`. It may be logged: no message quotes what the server sent. */
export type OutgoingErrorCode =
  /** No connection: nothing was sent. */
  | 'unreachable'
  /** The connection ended in the middle. */
  | 'broken-off'
  /** The server stopped sending in the middle of its response. */
  | 'stalled'
  /** The response breaks the rules of HTTP/1.1, or is beyond our limits. */
  | 'malformed';

export class OutgoingError extends TypeError {
  override readonly name = 'OutgoingError';
  readonly code: OutgoingErrorCode;

  constructor(code: OutgoingErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export function malformed(what: string): OutgoingError {
  return new OutgoingError('malformed', `the response is malformed: ${what}`);
}
