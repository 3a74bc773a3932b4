/**
 * Finds the end and the inflated length of a zlib stream (RFC 1950, RFC 1951) without storing its
 * output: a pack does not store compressed lengths, so every stream must be decoded to find the
 * next entry. Output is counted, and written only as far as the caller asks, or passed on piece by
 * piece. All that zlib's inflate refuses is refused, except wrong checksums of content that is not
 * kept. Decoding reads 32 bits at any bit offset straight from the chunk. At its end, the few bytes
 * that are less than a whole step are carried over in a small buffer, and the same code continues
 * there.
 * Proved by test/git/zlib/agreement.property.test.ts and test/git/zlib/bad-streams.test.ts.
 */
import { BlockCodes, MAX_BLOCK_HEADER_BYTES } from './block-codes.ts';
import { READ_AHEAD_BYTES, SymbolState, countSymbols, keepSymbols } from './symbols.ts';
import { WINDOW_BYTES, damagedData } from './deflate-format.ts';
import { adler32 } from './zlib-store.ts';

/**
 * States: what the next bits are. Each is one step, which is taken completely or not at all, except
 * stored bytes and symbols.
 */
const ZLIB_HEADER = 0;
const BLOCK_HEADER = 1;
const STORED_HEADER = 2;
const STORED_BYTES = 3;
const DYNAMIC_HEADER = 4;
const SYMBOLS = 5;
const CHECKSUM = 6;
const DONE = 7;
/** The state that follows the header of a block, by the block's type. */
const STATE_OF_TYPE = [STORED_HEADER, SYMBOLS, DYNAMIC_HEADER] as const;

/**
 * Maximum input of one run. Its output is at most 1032 times as long, and can be counted in 31
 * bits.
 */
const SPAN_BYTES = 1 << 20;
const MAX_MATCH_BYTES = 258;
const PIECE_BYTES = 2 * WINDOW_BYTES;
/**
 * Maximum length of a stream for each byte of its output. Only headers of blocks take more than 15
 * bits for a literal, or 48 for a match of three bytes.
 */
const MAX_STREAM_BYTES_PER_BYTE = 2;
/** Additional length for headers, because a stream may be flushed many times. */
const STREAM_ALLOWANCE_BYTES = 1024;
/** Size of the carry: a part of the longest step, and enough new bytes to complete it. */
const CARRY_BYTES = 2 * (MAX_BLOCK_HEADER_BYTES + READ_AHEAD_BYTES);

/** Takes a piece of output, whose bytes are valid only during the call. */
type OutputSink = (bytes: Uint8Array) => void;

const FIXED_ENTRIES = BlockCodes.fixed().entries;
const NOTHING = new Uint8Array(0);

/**
 * Walks one zlib stream after another. It can stop and go on at any byte, and allocates nothing for
 * a stream.
 */
export class ZlibWalker {
  /**
   * Number of blocks with codes of their own in all streams so far. Reading one costs as much as
   * kilobytes of content.
   */
  dynamicBlocks = 0;
  #state = DONE;
  #inflatedBytes = 0;
  #streamBytesLeft = 0;
  #output: Uint8Array = NOTHING;
  #keepBytes = 0;
  /** The sink of the output, or null if output is kept or only counted. */
  #sink: OutputSink | null = null;
  /**
   * The buffer for a sink: the last output, which matches may copy from, followed by output that
   * was not passed on yet.
   */
  #window: Uint8Array = NOTHING;
  #passedOn = 0;
  #slidOut = 0;

  #isLastBlock = false;
  #storedLeft = 0;
  #entries = FIXED_ENTRIES;
  readonly #dynamicCodes = new BlockCodes();
  readonly #symbols = new SymbolState();

  /** Bytes that were given but not walked yet, and the bit of the first one at which to go on. */
  readonly #carry = new Uint8Array(CARRY_BYTES + READ_AHEAD_BYTES);
  readonly #carryView = new DataView(this.#carry.buffer);
  #carried = 0;
  #bitOffset = 0;

  #chunk: Uint8Array = NOTHING;
  #chunkView: DataView = new DataView(NOTHING.buffer);

  get produced(): number {
    return this.#slidOut + this.#symbols.produced;
  }

  get done(): boolean {
    return this.#state === DONE;
  }

  /**
   * Starts at the first byte of a zlib stream whose inflated length must be exactly
   * `inflatedBytes`.
   * @param output takes the first `keepBytes` bytes of it. If these are all, the checksum is
   * verified.
   */
  begin(inflatedBytes: number, output: Uint8Array = NOTHING, keepBytes = 0): void {
    this.#state = ZLIB_HEADER;
    this.#inflatedBytes = inflatedBytes;
    this.#streamBytesLeft = MAX_STREAM_BYTES_PER_BYTE * inflatedBytes + STREAM_ALLOWANCE_BYTES;
    this.#output = output;
    this.#keepBytes = keepBytes;
    this.#sink = null;
    this.#slidOut = 0;
    this.#symbols.produced = 0;
    this.#symbols.pendingLength = 0;
    this.#carried = 0;
    this.#bitOffset = 0;
  }

  /** Starts in the same way, but passes all output to `sink` in pieces of less than 100 KiB. */
  beginContent(inflatedBytes: number, sink: OutputSink): void {
    // One byte more than the output may have, so that only a stream larger than the window fills
    // it.
    const keepBytes = Math.min(WINDOW_BYTES + PIECE_BYTES, inflatedBytes + 1);
    if (this.#window.length < keepBytes + MAX_MATCH_BYTES) {
      const isGrowing = this.#window.length > 0;
      this.#window = new Uint8Array((isGrowing ? WINDOW_BYTES + PIECE_BYTES : keepBytes) + MAX_MATCH_BYTES);
    }
    this.begin(inflatedBytes);
    this.#output = this.#window;
    this.#keepBytes = keepBytes;
    this.#passedOn = 0;
    this.#sink = sink;
  }

  /**
   * Walks `chunk[start..end)`, which must be shorter than 256 MiB. After an error, only `begin` may
   * be called.
   * @returns the index behind the last byte of the stream, or `end` if the stream goes on (then it
   * is not `done`).
   * @throws ProtocolError `bad-pack`
   */
  walk(chunk: Uint8Array, start: number, end: number): number {
    const index = this.#walk(chunk, start, Math.min(end, start + this.#streamBytesLeft));
    this.#streamBytesLeft -= index - start;
    if (this.#state !== DONE && this.#streamBytesLeft === 0)
      throw damagedData('too long for its declared size');
    return index;
  }

  #walk(chunk: Uint8Array, start: number, end: number): number {
    if (this.#carried > 0) {
      start = this.#walkCarry(chunk, start, end);
      if (this.#state === DONE || this.#carried > 0) return start;
    }
    if (chunk !== this.#chunk) {
      this.#chunk = chunk;
      this.#chunkView = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
    const readable = Math.min(end, chunk.length - READ_AHEAD_BYTES);
    let pos = start * 8 + this.#bitOffset;
    let stop = -1;
    while (stop !== pos && pos >>> 3 < readable && this.#state !== DONE) {
      stop = pos;
      pos = this.#run(chunk, this.#chunkView, pos, Math.min(readable, (pos >>> 3) + SPAN_BYTES) * 8);
    }
    this.#bitOffset = pos & 7;
    if (this.#state === DONE) return pos >>> 3;
    return this.#walkCarry(chunk, pos >>> 3, end);
  }

  /**
   * Goes on in the carried bytes, followed by as much of the chunk as fits.
   * @returns where in the chunk to go on.
   */
  #walkCarry(chunk: Uint8Array, start: number, end: number): number {
    const carry = this.#carry;
    const added = Math.min(end - start, CARRY_BYTES - this.#carried);
    const filled = this.#carried + added;
    for (let i = 0; i < added; i++) carry[this.#carried + i] = chunk[start + i]!;
    const pos = this.#run(carry, this.#carryView, this.#bitOffset, filled * 8);
    const walked = pos >>> 3;
    this.#bitOffset = pos & 7;
    if (this.#state !== DONE && added === end - start) {
      carry.copyWithin(0, walked, filled);
      this.#carried = filled - walked;
      return end;
    }
    const index = start + walked - this.#carried;
    this.#carried = 0;
    return index;
  }

  /**
   * Takes every step that ends by the bit `end`, behind which eight bytes can be read.
   * @returns the bit behind the last step.
   */
  #run(bytes: Uint8Array, view: DataView, pos: number, end: number): number {
    for (;;) {
      let next = -1;
      switch (this.#state) {
        case ZLIB_HEADER:
          next = this.#readZlibHeader(bytes, pos, end);
          break;
        case BLOCK_HEADER:
          next = this.#readBlockHeader(view, pos, end);
          break;
        case STORED_HEADER:
          next = this.#readStoredHeader(view, pos, end);
          break;
        case DYNAMIC_HEADER:
          next = this.#readDynamicHeader(view, pos, end);
          break;
        case STORED_BYTES:
          pos = this.#walkStored(bytes, pos, end);
          if (this.#storedLeft > 0) return pos;
          this.#endBlock();
          continue;
        case SYMBOLS:
          pos = this.#walkSymbols(view, pos, end);
          if (!this.#symbols.ended) return pos;
          this.#endBlock();
          continue;
        case CHECKSUM:
          next = this.#readChecksum(view, pos, end);
          break;
        default:
          break;
      }
      if (next < 0) return pos;
      pos = next;
    }
  }

  /** CMF and FLG, RFC 1950 §2.2. */
  #readZlibHeader(bytes: Uint8Array, pos: number, end: number): number {
    if (pos + 16 > end) return -1;
    const cmf = bytes[pos >>> 3]!;
    const flags = bytes[(pos >>> 3) + 1]!;
    if ((cmf * 256 + flags) % 31 !== 0) throw damagedData('incorrect header check');
    if ((cmf & 15) !== 8) throw damagedData('unknown compression method');
    if (cmf >>> 4 > 7) throw damagedData('window too large');
    if ((flags & 0x20) !== 0) throw damagedData('preset dictionary');
    this.#state = BLOCK_HEADER;
    return pos + 16;
  }

  /** BFINAL and BTYPE, RFC 1951 §3.2.3. */
  #readBlockHeader(view: DataView, pos: number, end: number): number {
    if (pos + 3 > end) return -1;
    const bits = view.getUint16(pos >>> 3, true) >>> (pos & 7);
    this.#isLastBlock = (bits & 1) !== 0;
    const state = STATE_OF_TYPE[(bits >>> 1) & 3];
    if (state === undefined) throw damagedData('invalid block type');
    this.#state = state;
    this.#entries = FIXED_ENTRIES;
    this.#symbols.ended = false;
    return pos + 3;
  }

  /** LEN and NLEN at the next byte's border, RFC 1951 §3.2.4. */
  #readStoredHeader(view: DataView, pos: number, end: number): number {
    const at = (pos + 7) >>> 3;
    if (at * 8 + 32 > end) return -1;
    const length = view.getUint16(at, true);
    const isValid = (length ^ view.getUint16(at + 2, true)) === 0xffff;
    if (!isValid) throw damagedData('invalid length of a stored block');
    this.#storedLeft = length;
    this.#state = STORED_BYTES;
    return at * 8 + 32;
  }

  #walkStored(bytes: Uint8Array, pos: number, end: number): number {
    const symbols = this.#symbols;
    let at = pos >>> 3;
    let left = Math.min(this.#storedLeft, (end >>> 3) - at);
    this.#storedLeft -= left;
    while (left > 0) {
      const kept = Math.min(left, this.#keepBytes - symbols.produced);
      // Output that is not kept is only counted. For a sink, the window is emptied in between.
      const length = this.#sink === null ? left : kept;
      if (kept > 0) this.#output.set(bytes.subarray(at, at + kept), symbols.produced);
      symbols.produced += length;
      at += length;
      left -= length;
      this.#checkNotLonger();
      if (this.#sink !== null && symbols.produced >= this.#keepBytes) this.#passOn(this.#sink);
    }
    return at * 8;
  }

  #readDynamicHeader(view: DataView, pos: number, end: number): number {
    const next = this.#dynamicCodes.readHeader(view, pos, end);
    if (next < 0) return -1;
    this.dynamicBlocks += 1;
    this.#entries = this.#dynamicCodes.entries;
    this.#state = SYMBOLS;
    return next;
  }

  #walkSymbols(view: DataView, pos: number, end: number): number {
    const symbols = this.#symbols;
    const keepBytes = this.#keepBytes;
    if (this.#sink !== null) return this.#walkContent(view, pos, end, this.#sink);
    if (symbols.produced < keepBytes) {
      pos = keepSymbols(symbols, this.#entries, view, pos, end, this.#output, keepBytes, keepBytes);
    }
    if (symbols.produced >= keepBytes && !symbols.ended) {
      pos = countSymbols(symbols, this.#entries, view, pos, end);
    }
    this.#checkNotLonger();
    return pos;
  }

  #walkContent(view: DataView, pos: number, end: number, sink: OutputSink): number {
    const symbols = this.#symbols;
    const room = this.#window.length;
    for (let isFull = true; isFull && !symbols.ended;) {
      pos = keepSymbols(symbols, this.#entries, view, pos, end, this.#window, this.#keepBytes, room);
      isFull = symbols.produced >= this.#keepBytes;
      this.#checkNotLonger();
      if (isFull) this.#passOn(sink);
    }
    return pos;
  }

  /**
   * Passes on the new output, when the window is full and at the end, and drops what no match can
   * reach any more.
   */
  #passOn(sink: OutputSink): void {
    const symbols = this.#symbols;
    if (symbols.produced > this.#passedOn) sink(this.#window.subarray(this.#passedOn, symbols.produced));
    if (symbols.produced >= this.#keepBytes) {
      const slid = symbols.produced - WINDOW_BYTES;
      this.#window.copyWithin(0, slid, symbols.produced);
      this.#slidOut += slid;
      symbols.produced = WINDOW_BYTES;
    }
    this.#passedOn = symbols.produced;
  }

  #checkNotLonger(): void {
    if (this.produced > this.#inflatedBytes) throw damagedData('longer than its declared size');
  }

  #endBlock(): void {
    this.#state = this.#isLastBlock ? CHECKSUM : BLOCK_HEADER;
    if (!this.#isLastBlock) return;
    if (this.produced < this.#inflatedBytes) throw damagedData('shorter than its declared size');
    if (this.#sink !== null) this.#passOn(this.#sink);
  }

  /** ADLER32 at the next byte's border, highest byte first, RFC 1950 §2.2. */
  #readChecksum(view: DataView, pos: number, end: number): number {
    const at = (pos + 7) >>> 3;
    if (at * 8 + 32 > end) return -1;
    const hasAll = this.#sink === null && this.#keepBytes === this.#inflatedBytes;
    if (hasAll && view.getUint32(at) !== adler32(this.#output, this.#inflatedBytes)) {
      throw damagedData('incorrect checksum');
    }
    this.#state = DONE;
    return at * 8 + 32;
  }
}
