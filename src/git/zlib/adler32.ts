/** The checksum at the end of a zlib stream, RFC 1950 §8.2 and §9. */

const MODULUS = 65_521;
/** How many bytes can be summed before a remainder must be taken, so that the sums stay below 2^31. */
const BYTES_PER_REMAINDER = 3_800;

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
    a %= MODULUS;
    b %= MODULUS;
  }
  return ((b << 16) | a) >>> 0;
}
