/**
 * SHA-1 (FIPS 180-4 §6.1) for small objects, such as commits. It takes less time than creating a
 * hash object of `node:crypto`.
 * Proved by test/git/objects/oid.test.ts.
 */

/** Size from about which `node:crypto` is faster. */
export const SMALL_BYTES = 1024;

const BLOCK_BYTES = 64;
/**
 * Bytes of the message's length at the end of the padding, which begins with a one bit and
 * continues with zeros.
 */
const LENGTH_BYTES = 8;

const message = new Uint8Array(SMALL_BYTES + 2 * BLOCK_BYTES);
const messageView = new DataView(message.buffer);
const schedule = new Int32Array(80);
const INITIAL = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
const state = new Int32Array(INITIAL.length);
const digest = new Uint8Array(state.byteLength);
const digestView = new DataView(digest.buffer);

/**
 * Hashes `head` followed by `content`.
 * @param head at most 64 ASCII characters.
 * @param content at most SMALL_BYTES.
 * @returns a buffer that the next call overwrites.
 */
export function sha1OfSmall(head: string, content: Uint8Array): Uint8Array {
  for (let i = 0; i < head.length; i++) message[i] = head.charCodeAt(i);
  message.set(content, head.length);
  const length = head.length + content.byteLength;
  const end = Math.ceil((length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  message.fill(0, length, end);
  message[length] = 0x80;
  messageView.setUint32(end - 4, length * 8);
  state.set(INITIAL);
  for (let at = 0; at < end; at += BLOCK_BYTES) addBlock(state, messageView, at, schedule);
  for (let word = 0; word < state.length; word++) digestView.setInt32(word * 4, state[word]!);
  return digest;
}

/**
 * Adds a block to the hash. A single loop that chose its function in each round would take 1.5
 * times as long.
 */
function addBlock(hash: Int32Array, view: DataView, at: number, words: Int32Array): void {
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + i * 4);
  for (let i = 16; i < 80; i++) {
    words[i] = rotate(words[i - 3]! ^ words[i - 8]! ^ words[i - 14]! ^ words[i - 16]!, 1);
  }
  let a = hash[0]!;
  let b = hash[1]!;
  let c = hash[2]!;
  let d = hash[3]!;
  let e = hash[4]!;
  for (let i = 0; i < 20; i++) {
    const next = (e + 0x5a827999 + words[i]! + (d ^ (b & (c ^ d))) + rotate(a, 5)) | 0;
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  for (let i = 20; i < 40; i++) {
    const next = (e + 0x6ed9eba1 + words[i]! + (b ^ c ^ d) + rotate(a, 5)) | 0;
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  for (let i = 40; i < 60; i++) {
    const next = (e + 0x8f1bbcdc + words[i]! + ((b & c) | (d & (b | c))) + rotate(a, 5)) | 0;
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  for (let i = 60; i < 80; i++) {
    const next = (e + 0xca62c1d6 + words[i]! + (b ^ c ^ d) + rotate(a, 5)) | 0;
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  hash[0]! += a;
  hash[1]! += b;
  hash[2]! += c;
  hash[3]! += d;
  hash[4]! += e;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
