/**
 * Writes zlib streams by hand, sound and unsound ones: every bit of the format (RFC 1950, RFC 1951)
 * can be chosen.
 */

export type Bits = readonly [value: number, count: number];

/** A code length symbol; 16 to 18 with the value of their extra bits. */
export type CodeLength = number | readonly [symbol: 16 | 17 | 18, extra: number];

export interface DynamicHeader {
  /** Code lengths of the literals and lengths, at least 257. */
  readonly literals: readonly number[];
  /** Code lengths of the distances, at least one. */
  readonly distances: readonly number[];
  /** Code lengths to write instead of the two lists; they still give the counts. */
  readonly written?: readonly CodeLength[];
  /** Lengths of the code length code by symbol. Default: four bits for each of 0 to 15. */
  readonly codeLengths?: readonly number[];
  /** Values of HLIT and HDIST when they should lie. */
  readonly counts?: readonly [number, number];
}

const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const PLAIN_CODE_LENGTHS = Array.from({ length: 19 }, (_, symbol) => (symbol < 16 ? 4 : 0));
const EXTRA_BITS = { 16: 2, 17: 3, 18: 7 } as const;

const FIXED_LITERALS = Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8));
const FIXED_DISTANCES = Array.from({ length: 32 }, () => 5);

/** A list of `length` code lengths, zero but for those given by symbol. */
export function lengthsOf(length: number, bySymbol: Readonly<Record<number, number>>): number[] {
  return Array.from({ length }, (_, symbol) => bySymbol[symbol] ?? 0);
}

export class DeflateWriter {
  readonly #bytes: number[] = [];
  #bits = 0;
  #literals: (Bits | undefined)[] = [];
  #distances: (Bits | undefined)[] = [];

  /** Numbers are written lowest bit first. */
  bits(value: number, count: number): this {
    for (let i = 0; i < count; i++) {
      if (this.#bits === 0) this.#bytes.push(0);
      this.#bytes[this.#bytes.length - 1]! |= (Math.floor(value / 2 ** i) & 1) << this.#bits;
      this.#bits = (this.#bits + 1) & 7;
    }
    return this;
  }

  byte(...bytes: readonly number[]): this {
    for (const byte of bytes) this.bits(byte, 8);
    return this;
  }

  align(): this {
    if (this.#bits !== 0) this.bits(0, 8 - this.#bits);
    return this;
  }

  stored(isLast: boolean, content: readonly number[], complement = ~content.length & 0xffff): this {
    this.bits(isLast ? 1 : 0, 1)
      .bits(0, 2)
      .align();
    return this.bits(content.length, 16)
      .bits(complement, 16)
      .byte(...content);
  }

  fixed(isLast: boolean): this {
    this.#literals = canonicalCodes(FIXED_LITERALS);
    this.#distances = canonicalCodes(FIXED_DISTANCES);
    return this.bits(isLast ? 1 : 0, 1).bits(1, 2);
  }

  dynamic(isLast: boolean, header: DynamicHeader): this {
    const { literals, distances, codeLengths = PLAIN_CODE_LENGTHS } = header;
    const [hlit, hdist] = header.counts ?? [literals.length - 257, distances.length - 1];
    this.bits(isLast ? 1 : 0, 1).bits(2, 2);
    this.bits(hlit, 5).bits(hdist, 5).bits(15, 4);
    for (const symbol of CODE_LENGTH_ORDER) this.bits(codeLengths[symbol]!, 3);
    const codes = canonicalCodes(codeLengths);
    for (const length of header.written ?? [...literals, ...distances]) {
      const [symbol, extra] = typeof length === 'number' ? [length, 0] : length;
      this.#code(codes, symbol);
      if (symbol > 15) this.bits(extra, EXTRA_BITS[symbol as 16 | 17 | 18]);
    }
    this.#literals = canonicalCodes(literals);
    this.#distances = canonicalCodes(distances);
    return this;
  }

  literal(...symbols: readonly number[]): this {
    for (const symbol of symbols) this.#code(this.#literals, symbol);
    return this;
  }

  /** A length symbol and a distance symbol, each followed by its extra bits as [value, count]. */
  match(length: number, lengthExtra: Bits, distance: number, distanceExtra: Bits): this {
    this.#code(this.#literals, length);
    this.bits(...lengthExtra);
    this.#code(this.#distances, distance);
    return this.bits(...distanceExtra);
  }

  endOfBlock(): this {
    return this.literal(256);
  }

  /** The body of a zlib stream with all that was written, whose checksum is that of `content`. */
  zlib(
    content: Uint8Array = new Uint8Array(0),
    header: readonly [number, number] = [0x78, 0x9c],
  ): Uint8Array {
    this.align();
    let a = 1;
    let b = 0;
    for (const byte of content) {
      a = (a + byte) % 65_521;
      b = (b + a) % 65_521;
    }
    return Uint8Array.from([...header, ...this.#bytes, b >>> 8, b & 255, a >>> 8, a & 255]);
  }

  #code(codes: readonly (Bits | undefined)[], symbol: number): void {
    const code = codes[symbol];
    if (code === undefined) throw new Error(`symbol ${symbol} has no code`);
    // Huffman codes are written highest bit first.
    const [value, count] = code;
    for (let i = count - 1; i >= 0; i--) this.bits(value >> i, 1);
  }
}

/** RFC 1951 §3.2.2, for codes that need not be complete. */
function canonicalCodes(lengths: readonly number[]): (Bits | undefined)[] {
  const codes: (Bits | undefined)[] = [];
  let code = 0;
  for (let count = 1; count <= 15; count++) {
    code *= 2;
    for (const [symbol, length] of lengths.entries()) if (length === count) codes[symbol] = [code++, count];
  }
  return codes;
}
