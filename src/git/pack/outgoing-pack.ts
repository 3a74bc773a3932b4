/**
 * Writes the pack that is published: a header, the new commits, everything else as PackScanner has
 * passed it on, and the checksum.
 */
import { createHash } from 'node:crypto';
import { zlibStore, zlibStoreBytes } from '../zlib/zlib-store.ts';
import { encodeEntryHeader, encodePackHeader, OBJ_COMMIT, PACK_HEADER_BYTES } from './entry-header.ts';

/** Size of the pieces of small commits, because a write costs more than a copy. */
const PIECE_BYTES = 64 * 1024;

/**
 * Yields the pack in pieces, each of which is valid until the next.
 * @param contents are those of `commitCount` new commits.
 * @param passed has the other entries.
 */
export async function* outgoingPack(
  commitCount: number,
  contents: Iterable<Uint8Array>,
  passedCount: number,
  passed: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha1');
  for (const piece of front(commitCount + passedCount, contents)) {
    hash.update(piece);
    yield piece;
  }
  for await (const piece of passed) {
    hash.update(piece);
    yield piece;
  }
  yield hash.digest();
}

/**
 * Yields the header and the commits, which are neither deltas nor compressed: they are small beside
 * the rest.
 */
function* front(entryCount: number, contents: Iterable<Uint8Array>): Generator<Uint8Array> {
  let buffer = new Uint8Array(PIECE_BYTES);
  buffer.set(encodePackHeader(entryCount));
  let used = PACK_HEADER_BYTES;
  for (const content of contents) {
    const header = encodeEntryHeader(OBJ_COMMIT, content.length);
    const bytes = header.length + zlibStoreBytes(content.length);
    if (used + bytes > buffer.length) {
      yield buffer.subarray(0, used);
      // The previous buffer may still be on its way.
      buffer = new Uint8Array(Math.max(PIECE_BYTES, bytes));
      used = 0;
    }
    buffer.set(header, used);
    zlibStore(content, buffer.subarray(used + header.length, used + bytes));
    used += bytes;
  }
  yield buffer.subarray(0, used);
}

/** Computes the length of a new commit's entry. */
export function commitEntryBytes(length: number): number {
  return encodeEntryHeader(OBJ_COMMIT, length).length + zlibStoreBytes(length);
}

/** Computes the length of the pack without its checksum. */
export function outgoingBytes(commitBytes: number, passedBytes: number): number {
  return PACK_HEADER_BYTES + commitBytes + passedBytes;
}
