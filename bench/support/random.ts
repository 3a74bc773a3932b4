/**
 * Pseudo-random numbers that are the same on every machine and in every run, so that measurements
 * are comparable.
 */
import { createCipheriv } from 'node:crypto';

/** Draws numbers from 0 to 1, by Marsaglia's xorshift. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/**
 * Makes printable text that deflate can only shorten by a quarter: every byte of it costs a Huffman
 * code.
 */
export function randomText(seed: number, bytes: number): string {
  const key = Buffer.alloc(16);
  key.writeUInt32BE(seed);
  const stream = createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc((bytes * 3) / 4));
  return stream.toString('base64').replace(/.{76}/g, '$&\n').slice(0, bytes);
}
