import { COPY_MARK } from '../../src/git/search/boundary.ts';

/** A text in which `|` stands for what a delta copies. */
export function markCopies(text: string): Uint8Array {
  return Buffer.from(text).map((byte: number) => (byte === '|'.charCodeAt(0) ? COPY_MARK : byte));
}
