/**
 * A TypeError, like the failures of `fetch`. It may be logged: no message quotes what the server
 * sent.
 * Proved by test/outgoing/response.test.ts.
 */
export class OutgoingError extends TypeError {
  override readonly name = 'OutgoingError';
  /**
   * `unreachable`: no connection, so nothing was sent. `broken-off`: it ended in the middle.
   * `stalled`: the server stopped sending in the middle. `malformed`: the response breaks the rules
   * of HTTP/1.1, or is beyond our limits.
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
