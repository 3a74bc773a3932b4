/** Why a body could not be read, for the caller to answer. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  /**
   * `timeout`: nothing arrived for too long, or too little. `damaged`: the body is compressed, and cannot be inflated.
   */
  readonly code: 'too-large' | 'timeout' | 'aborted' | 'damaged';

  constructor(code: BodyError['code'], cause?: unknown) {
    super(`body: ${code}`, { cause });
    this.code = code;
  }
}
