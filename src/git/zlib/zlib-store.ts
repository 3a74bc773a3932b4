/**
 * Writes zlib streams of stored blocks (RFC 1950, RFC 1951 §3.2.4). They are not compressed,
 * because new commits are small, and the host packs them again.
 * Proved by test/git/pack/outgoing-pack.test.ts.
 */

const MAX_STORED_BYTES = 65_535;
const BLOCK_HEADER_BYTES = 5;
const ADLER_MODULUS = 65_521;
/**
 * Number of bytes that can be summed before a remainder must be taken, so that the sums stay below
 * 2^31.
 */
const BYTES_PER_REMAINDER = 3_800;

const blocksFor = (length: number): number => Math.max(1, Math.ceil(length / MAX_STORED_BYTES));

export function zlibStoreBytes(length: number): number {
  return 2 + blocksFor(length) * BLOCK_HEADER_BYTES + length + 4;
}

/**
 * Writes a stream.
 * @param stream is the buffer for it, of `zlibStoreBytes` bytes.
 */
export function zlibStore(content: Uint8Array, stream = new Uint8Array(zlibStoreBytes(content.length))) {
  const length = content.byteLength;
  const blocks = blocksFor(length);
  const view = new DataView(stream.buffer, stream.byteOffset);
  // Method 8 (deflate), a window of 32 KiB, the fastest level. The number is a multiple of 31.
  view.setUint16(0, 0x7801);
  let position = 2;
  for (let block = 0; block < blocks; block++) {
    const stored = content.subarray(block * MAX_STORED_BYTES, (block + 1) * MAX_STORED_BYTES);
    view.setUint8(position, block === blocks - 1 ? 1 : 0);
    view.setUint16(position + 1, stored.byteLength, true);
    view.setUint16(position + 3, ~stored.byteLength & 0xffff, true);
    stream.set(stored, position + BLOCK_HEADER_BYTES);
    position += BLOCK_HEADER_BYTES + stored.byteLength;
  }
  view.setUint32(position, adler32(content, length));
  return stream;
}

/** Computes the checksum at the end of a zlib stream (RFC 1950 §8.2 and §9). */
export function adler32(bytes: Uint8Array, length: number): number {
  let a = 1;
  let b = 0;
  let i = 0;
  while (i < length) {
    const stop = Math.min(length, i + BYTES_PER_REMAINDER);
    for (; i < stop; i++) {
      a += bytes[i]!;
      b += a;
    }
    a %= ADLER_MODULUS;
    b %= ADLER_MODULUS;
  }
  return ((b << 16) | a) >>> 0;
}
