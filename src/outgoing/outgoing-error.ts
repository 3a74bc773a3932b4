/**
 * The error of a request that failed. It is a TypeError, like the failures of `fetch`. It may be
 * logged, because no message quotes what the server sent.
 * Proved by test/outgoing/response.test.ts.
 */
export class OutgoingError extends TypeError {
  override readonly name = 'OutgoingError';
  /**
   * The kinds of errors. `unreachable`: there was no connection, so nothing was sent. `broken-off`:
   * the connection ended in the middle. `stalled`: the server stopped sending in the middle.
   * `malformed`: the response breaks the rules of HTTP/1.1, or exceeds a limit.
   */
  readonly code: 'unreachable' | 'broken-off' | 'stalled' | 'malformed';

  constructor(code: OutgoingError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export function malformedResponse(what: string): OutgoingError {
  return new OutgoingError('malformed', `the response is malformed: ${what}`);
}
