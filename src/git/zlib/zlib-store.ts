/**
 * Writes zlib streams of stored blocks (RFC 1950, RFC 1951 §3.2.4). They are not compressed,
 * because new commits are small, and the host packs them again.
 * Proved by test/git/pack/outgoing-pack.test.ts.
 */

/** Method 8 (deflate), a window of 32 KiB, the fastest level. The number is a multiple of 31. */
const HEADER = Uint8Array.of(0x78, 0x01);
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
  stream.set(HEADER);
  let position = HEADER.length;
  for (let block = 0; block < blocksFor(content.length); block++) {
    const stored = storedIn(content, block);
    stream.set(blockHeader(content, block, stored.byteLength), position);
    stream.set(stored, position + BLOCK_HEADER_BYTES);
    position += BLOCK_HEADER_BYTES + stored.byteLength;
  }
  stream.set(checksumOf(content), position);
  return stream;
}

/** Writes a stream while it is read. Its blocks are views of the content. */
export function* zlibStorePieces(content: Uint8Array): Generator<Uint8Array, void> {
  yield HEADER.slice();
  for (let block = 0; block < blocksFor(content.length); block++) {
    const stored = storedIn(content, block);
    yield blockHeader(content, block, stored.byteLength);
    yield stored;
  }
  yield checksumOf(content);
}

function storedIn(content: Uint8Array, block: number): Uint8Array {
  return content.subarray(block * MAX_STORED_BYTES, (block + 1) * MAX_STORED_BYTES);
}

function blockHeader(content: Uint8Array, block: number, storedBytes: number): Uint8Array {
  const header = new Uint8Array(BLOCK_HEADER_BYTES);
  const view = new DataView(header.buffer);
  view.setUint8(0, block === blocksFor(content.length) - 1 ? 1 : 0);
  view.setUint16(1, storedBytes, true);
  view.setUint16(3, ~storedBytes & 0xffff, true);
  return header;
}

function checksumOf(content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, adler32(content, content.byteLength));
  return bytes;
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
