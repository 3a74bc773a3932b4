/**
 * What is kept of a held push behind the entries in its spool, as bytes: a byte for the version, the length of a JSON
 * text (32 bits, big-endian), that text, and the verdict (verdict/encoding.ts).
 */
import { concatBytes, utf8 } from '../../git/bytes.ts';
import { parse, serialise, UnreadableError } from '../verdict/encoding.ts';
import type { Publishable } from '../verdict/verdict.ts';

export interface HeldPush {
  readonly push: Publishable;
  /** As `Publication` has it. */
  readonly pushHash: string;
}

/** A reader of another version must not publish what it does not understand. */
const VERSION = 2;
const HEAD_BYTES = 1 + 4;

export function encodeHeld({ push, ...rest }: HeldPush): Uint8Array {
  const facts = utf8(JSON.stringify(rest));
  const head = new Uint8Array(HEAD_BYTES);
  head[0] = VERSION;
  new DataView(head.buffer).setUint32(1, facts.byteLength);
  return concatBytes([head, facts, serialise(push)]);
}

/** @throws UnreadableError if another version has written it, or if it is not whole. */
export function decodeHeld(bytes: Uint8Array): HeldPush {
  if (bytes[0] !== VERSION) throw new UnreadableError(`a held push of version ${bytes[0]} cannot be read`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = HEAD_BYTES + view.getUint32(1);
  const facts = JSON.parse(Buffer.from(bytes.subarray(HEAD_BYTES, end)).toString()) as Omit<HeldPush, 'push'>;
  return { ...facts, push: parse(bytes.subarray(end)) };
}
