/**
 * The reason why a body could not be read, for the caller to answer.
 * Proved by test/streams/body.test.ts and test/streams/body-text.test.ts.
 */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  /**
   * The kinds of errors. `timeout`: nothing came for too long, or too little. `damaged`: it cannot
   * be inflated. `bomb`: it inflates to too many times its size.
   */
  readonly code: 'too-large' | 'timeout' | 'aborted' | 'damaged' | 'bomb';

  constructor(code: BodyError['code'], cause?: unknown) {
    super(`body: ${code}`, { cause });
    this.code = code;
  }
}
