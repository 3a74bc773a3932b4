/**
 * Builds the two-level decoding table of one canonical Huffman code (RFC 1951 §3.2.2).
 *
 * Packs hold tens of thousands of blocks of a few hundred bytes, so building tables is a large part of the
 * work. Symbols arrive sorted by code length already (they are put into buckets while the lengths are read), each is
 * written once, and the table grows by doubling: what stands for codes of up to n bits is
 * copied behind itself to serve n + 1. Codes are kept with their first bit lowest, as the stream has them.
 */
import { ProtocolError } from '../protocol-error.ts';
import { CODE_BIT, INVALID_ENTRY, MAX_CODE_BITS, subtableEntry } from './deflate-format.ts';

/** The symbols of a code by length: those of n bits begin at `n << BUCKET_SHIFT`, in ascending order. */
export class CodeLengths {
  static readonly BUCKET_SHIFT = 9;
  readonly counts = new Uint16Array(MAX_CODE_BITS + 1);
  readonly symbols = new Uint16Array((MAX_CODE_BITS + 1) << CodeLengths.BUCKET_SHIFT);

  clear(): void {
    this.counts.fill(0);
  }

  add(symbol: number, bits: number): void {
    const count = this.counts[bits]!;
    this.symbols[(bits << CodeLengths.BUCKET_SHIFT) + count] = symbol;
    this.counts[bits] = count + 1;
  }

  /** The longest code in bits; 0 when no symbol has one. */
  longest(): number {
    let bits = MAX_CODE_BITS;
    while (bits > 0 && this.counts[bits] === 0) bits--;
    return bits;
  }

  /**
   * Refuses a code with more words than bits allow, and one that leaves words unused. Of the latter, zlib lets two
   * stand for literals and distances: no word at all, and one word of one bit (§3.2.7: a block with one distance).
   */
  check(what: string, mayBeSingle: boolean): void {
    let left = 1;
    for (let bits = 1; bits <= MAX_CODE_BITS; bits++) {
      left = left * 2 - this.counts[bits]!;
      if (left < 0) throw new ProtocolError('bad-pack', `compressed data: over-subscribed ${what} code`);
    }
    if (left > 0 && !(mayBeSingle && this.longest() <= 1)) {
      throw new ProtocolError('bad-pack', `compressed data: incomplete ${what} code`);
    }
  }
}

/**
 * Writes the table of a checked code to `entries` from `at` on; its first level is indexed with the number of bits
 * that is returned, at most `maxRootBits`, and its subtables follow.
 */
export function buildTable(
  entries: Int32Array,
  at: number,
  maxRootBits: number,
  lengths: CodeLengths,
  templates: Int32Array,
): number {
  const { counts, symbols } = lengths;
  const longest = lengths.longest();
  if (longest <= 1 && counts[1]! < 2) {
    entries[at] = INVALID_ENTRY;
    if (longest === 0) return 0;
    entries[at] = templates[symbols[1 << CodeLengths.BUCKET_SHIFT]!]! + CODE_BIT;
    entries[at + 1] = INVALID_ENTRY;
    return 1;
  }
  const rootBits = longest < maxRootBits ? longest : maxRootBits;
  let word = 0;
  for (let bits = 1; bits <= rootBits; bits++) {
    const size = 1 << bits;
    const half = at + (size >> 1);
    // Nothing is there to double before the first word.
    if (word !== 0) entries.copyWithin(half, at, half);
    const bucket = bits << CodeLengths.BUCKET_SHIFT;
    const bucketEnd = bucket + counts[bits]!;
    for (let i = bucket; i < bucketEnd; i++) {
      entries[at + word] = templates[symbols[i]!]! + bits * CODE_BIT;
      word = nextWord(word, size - 1);
    }
  }
  if (longest > rootBits) buildSubtables(entries, at, rootBits, word, lengths, templates);
  return rootBits;
}

/** The next word in code order when the first bit of a word is its lowest: 1 is added at the top, carrying down. */
function nextWord(word: number, ones: number): number {
  const zeros = word ^ ones;
  if (zeros === 0) return ones;
  const top = 0x8000_0000 >>> Math.clz32(zeros);
  return (word & (top - 1)) | top;
}

/** Words longer than the first level's index: those that share their first `rootBits` bits share a subtable. */
function buildSubtables(
  entries: Int32Array,
  at: number,
  rootBits: number,
  firstWord: number,
  { counts, symbols }: CodeLengths,
  templates: Int32Array,
): void {
  const rootMask = (1 << rootBits) - 1;
  let word = firstWord;
  let free = at + (1 << rootBits);
  let prefix = -1;
  let start = 0;
  let size = 0;
  for (let bits = rootBits + 1; bits <= MAX_CODE_BITS; bits++) {
    const bucket = bits << CodeLengths.BUCKET_SHIFT;
    const count = counts[bits]!;
    for (let i = 0; i < count; i++) {
      if ((word & rootMask) !== prefix) {
        prefix = word & rootMask;
        // As many index bits as it takes for the words from here on to fill the subtable.
        let subtableBits = bits - rootBits;
        let words = count - i;
        while (words < 1 << subtableBits) {
          subtableBits++;
          words = words * 2 + counts[rootBits + subtableBits]!;
        }
        start = free;
        size = 1 << subtableBits;
        free += size;
        entries[at + prefix] = subtableEntry(start, subtableBits);
      }
      const entry = templates[symbols[bucket + i]!]! + bits * CODE_BIT;
      for (let j = word >>> rootBits; j < size; j += 1 << (bits - rootBits)) entries[start + j] = entry;
      word = nextWord(word, (1 << bits) - 1);
    }
  }
}
