/**
 * An error for input that cannot be accepted. `publicMessage` says what is wrong and, mostly, what
 * to do. It contains no bytes of the input.
 * Proved by test/git/pack/bad-packs.test.ts and test/push/reply/refusal.test.ts.
 */
export type ProtocolErrorCode =
  /** A pkt-line, command, push option or answer of the host is malformed. */
  | 'bad-request'
  /** The request is valid, but asks for something that the service does not support. */
  | 'unsupported'
  /** A pack, or an object in it, is malformed. */
  | 'bad-pack'
  /** The bytes ended before the pack did. */
  | 'truncated-pack'
  /** The input exceeds a limit. */
  | 'too-large'
  /** The pack is valid, but cannot be made anonymous. */
  | 'not-rewritable';

export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: ProtocolErrorCode;
  readonly publicMessage: string;

  constructor(code: ProtocolErrorCode, publicMessage: string) {
    super(publicMessage);
    this.code = code;
    this.publicMessage = publicMessage;
  }
}

export const badRequest = (message: string): ProtocolError => new ProtocolError('bad-request', message);
export const badPack = (message: string): ProtocolError =>
  new ProtocolError('bad-pack', `${message} Push again.`);
export const tooLarge = (message: string): ProtocolError => new ProtocolError('too-large', message);
