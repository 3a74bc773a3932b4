/** A TypeError, like the failures of `fetch`. It may be logged: no message quotes what the server sent. */
export class OutgoingError extends TypeError {
  override readonly name = 'OutgoingError';
  /**
   * `unreachable`: nothing was sent. `broken-off`, `stalled`: in the middle. `malformed`: not HTTP/1.1, or too large.
   */
  readonly code: 'unreachable' | 'broken-off' | 'stalled' | 'malformed';

  constructor(code: OutgoingError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export function malformed(what: string): OutgoingError {
  return new OutgoingError('malformed', `the response is malformed: ${what}`);
}
