/**
 * SHA-256 (FIPS 180-4 §6.2) of something small: what is public of a commit.
 *
 * Each hash object of `node:crypto` is a stream with native memory, which thousands of them leave to the collector.
 */
import { createHash } from 'node:crypto';

/** From about here on, `node:crypto` is faster. */
const SMALL_BYTES = 1024;

const BLOCK_BYTES = 64;
/** Behind the message: a bit, zeros up to a block's end, and the message's length in the last eight bytes. */
const LENGTH_BYTES = 8;
const ROUNDS = 64;

const message = new Uint8Array(SMALL_BYTES + 2 * BLOCK_BYTES);
const messageView = new DataView(message.buffer);
const schedule = new Int32Array(ROUNDS);
const hash = new Int32Array(8);
/** The fractional parts of the cube roots and square roots of the first primes (FIPS 180-4 §4.2.2, §5.3.3). */
const PRIMES = firstPrimes(ROUNDS);
const CONSTANTS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

/** The first two words of the SHA-256 of `parts` one behind the other. */
export function sha256Start(parts: readonly Uint8Array[]): readonly [number, number] {
  const total = parts.reduce((sum, part) => sum + part.byteLength, 0);
  if (total > SMALL_BYTES) {
    const large = createHash('sha256');
    for (const part of parts) large.update(part);
    const digest = large.digest();
    return [digest.readUInt32BE(0), digest.readUInt32BE(4)];
  }
  let length = 0;
  for (const part of parts) {
    message.set(part, length);
    length += part.byteLength;
  }
  const end = Math.ceil((length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  message.fill(0, length, end);
  message[length] = 0x80;
  messageView.setUint32(end - 4, length * 8);
  hash.set(START);
  for (let at = 0; at < end; at += BLOCK_BYTES) addBlock(at);
  return [hash[0]! >>> 0, hash[1]! >>> 0];
}

function addBlock(at: number): void {
  const words = schedule;
  for (let i = 0; i < 16; i++) words[i] = messageView.getInt32(at + i * 4);
  for (let i = 16; i < ROUNDS; i++) {
    const x = words[i - 15]!;
    const y = words[i - 2]!;
    const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
    const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
    words[i] = words[i - 16]! + s0 + words[i - 7]! + s1;
  }
  let a = hash[0]!;
  let b = hash[1]!;
  let c = hash[2]!;
  let d = hash[3]!;
  let e = hash[4]!;
  let f = hash[5]!;
  let g = hash[6]!;
  let h = hash[7]!;
  for (let i = 0; i < ROUNDS; i++) {
    const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const added = (h + s1 + ((e & f) ^ (~e & g)) + CONSTANTS[i]! + words[i]!) | 0;
    const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    h = g;
    g = f;
    f = e;
    e = (d + added) | 0;
    d = c;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    c = b;
    b = a;
    a = (added + s0 + majority) | 0;
  }
  hash[0]! += a;
  hash[1]! += b;
  hash[2]! += c;
  hash[3]! += d;
  hash[4]! += e;
  hash[5]! += f;
  hash[6]! += g;
  hash[7]! += h;
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** The first 32 bits behind the point. */
function fraction(value: number): number {
  return Math.floor((value % 1) * 2 ** 32) | 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes;
}
