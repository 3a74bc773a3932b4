/**
 * Reads and applies `GIT binary patch`: a whole file (`literal`) or a delta of one, deflated, in
 * base 85 (apply.c, `parse_binary_hunk`). The way back that follows it is not read.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
import { freeBytes } from '../git/bytes.ts';
import { applyDelta, parseDeltaHeader } from '../git/pack/delta.ts';
import { ZlibWalker } from '../git/zlib/zlib-walker.ts';
import { LINE_FEED, type Lines } from './lines.ts';
import { malformed, tooMuch } from './patch-error.ts';

export interface BinaryChange {
  readonly method: 'literal' | 'delta';
  /** Bytes of the file or of the delta, inflated. */
  readonly size: number;
  /** Where its lines begin and end in the patch. */
  readonly start: number;
  readonly end: number;
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const VALUES = Int8Array.from({ length: 256 }, (_, code) => DIGITS.indexOf(String.fromCharCode(code)));
const BROKEN = 'A binary patch in it is broken.';

/** @throws PatchError */
export function readBinary(lines: Lines): BinaryChange {
  lines.skip();
  const [, method, size = ''] = /^(literal|delta) (\d{1,10})$/.exec(lines.line) ?? [];
  if (method !== 'literal' && method !== 'delta') throw malformed(BROKEN);
  lines.skip();
  const start = lines.at;
  while (!lines.isAtEnd && lines.line !== '') lines.skip();
  return { method, size: Number(size), start, end: lines.at };
}

/**
 * Gives the file after the change.
 * @param source the file before it.
 * @param maxBytes that the file may have.
 * @param claim asks for so many bytes of memory in all.
 * @throws PatchError
 */
export async function applyBinary(
  source: Uint8Array,
  patch: Uint8Array,
  change: BinaryChange,
  maxBytes: number,
  name: string,
  claim: (bytes: number) => Promise<void>,
): Promise<Uint8Array> {
  const { method, size, start, end } = change;
  if (size > maxBytes) throw tooMuch(`${name} is too large.`);
  await claim(end - start + size);
  const deflated = decoded(patch, start, end);
  const content = inflated(deflated, size);
  freeBytes(deflated);
  if (method === 'literal') return content;
  const { baseSize, resultSize } = sizesOf(content);
  if (resultSize > maxBytes) throw tooMuch(`${name} is too large.`);
  await claim(size + resultSize);
  if (baseSize !== source.byteLength) throw malformed(BROKEN);
  try {
    const result = applyDelta(source, content, maxBytes);
    freeBytes(content);
    return result;
  } catch {
    throw malformed(BROKEN);
  }
}

function sizesOf(delta: Uint8Array) {
  try {
    return parseDeltaHeader(delta);
  } catch {
    throw malformed(BROKEN);
  }
}

/** Decodes lines of base 85, each with its number of bytes in front. */
function decoded(patch: Uint8Array, start: number, end: number): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(((end - start) * 4) / 5));
  let filled = 0;
  for (let at = start; at < end;) {
    const feed = patch.indexOf(LINE_FEED, at);
    const lineEnd = feed < 0 || feed > end ? end : feed;
    const length = lengthOf(patch[at] ?? 0);
    if (length === 0 || lineEnd - at - 1 !== Math.ceil(length / 4) * 5) throw malformed(BROKEN);
    for (let [digit, left] = [at + 1, length]; left > 0; digit += 5, left -= 4) {
      const group = groupAt(patch, digit);
      for (let byte = 0; byte < Math.min(4, left); byte++)
        bytes[filled++] = Math.floor(group / 256 ** (3 - byte)) % 256;
    }
    at = lineEnd + 1;
  }
  return bytes.subarray(0, filled);
}

/** `A` to `Z` are 1 to 26, `a` to `z` are 27 to 52; 0: it is neither. */
function lengthOf(code: number): number {
  const letter = String.fromCharCode(code);
  if (letter >= 'A' && letter <= 'Z') return code - 64;
  return letter >= 'a' && letter <= 'z' ? code - 96 + 26 : 0;
}

function groupAt(patch: Uint8Array, at: number): number {
  let group = 0;
  for (let digit = at; digit < at + 5; digit++) {
    const value = VALUES[patch[digit] ?? 0] ?? -1;
    if (value < 0) throw malformed(BROKEN);
    group = group * 85 + value;
  }
  if (group > 0xffff_ffff) throw malformed(BROKEN);
  return group;
}

function inflated(stream: Uint8Array, size: number): Uint8Array {
  const content = new Uint8Array(size);
  const walker = new ZlibWalker();
  try {
    walker.begin(size, content, size);
    walker.walk(stream, 0, stream.byteLength);
  } catch {
    throw malformed(BROKEN);
  }
  if (!walker.done) throw malformed(BROKEN);
  return content;
}
