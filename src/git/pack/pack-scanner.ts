/**
 * Takes a pack apart as it arrives, chunk by chunk (gitformat-pack, "pack-*.pack files"). Commits
 * and tags (or all objects, if wanted) are inflated and kept. Other entries pass in the form in
 * which they will be sent: as views of their chunks, in runs as long as possible, with corrected
 * distances of ofs-deltas where commits were removed in between. Their zlib streams are walked to
 * find their ends, but not stored. Structure, sizes and checksum of the pack are verified. The host
 * checks the content of what passes. An entry that passes unchanged in one chunk costs no
 * allocation.
 */
import { createHash } from 'node:crypto';
import { type ObjectType, oidFromBytes, OID_BYTES } from '../objects/oid.ts';
import { OidTable } from '../objects/oid-table.ts';
import type { Arrived } from '../wire/byte-reader.ts';
import { badPack, ProtocolError, tooLarge } from '../wire/protocol-error.ts';
import { ZlibWalker } from '../zlib/zlib-walker.ts';
import { applyDelta, MAX_DELTA_HEADER_BYTES, parseDeltaHeader } from './delta.ts';
import {
  encodeDistance,
  EntryHeaderReader,
  isDelta,
  OBJ_BLOB,
  OBJ_OFS_DELTA,
  OBJ_REF_DELTA,
  OBJECT_TYPES,
  PACK_HEADER_BYTES,
  parsePackHeader,
} from './entry-header.ts';
import { type KeepLimits, type KeptObject, KeptObjects } from './kept-objects.ts';
import {
  hasTooManyBlocks,
  hasTooManyEntries,
  inflatesTooMuch,
  MAX_NAMED_BASES,
  MAX_NAMED_BYTES,
  MAX_OBJECT_BYTES,
} from './memory-limits.ts';
import { objectTooLarge } from './object-too-large.ts';
import { OffsetShift } from './offset-shift.ts';

/** Size of the buffer for small entries. Nearly all commits are smaller. */
const SHARED_BYTES = 16 * 1024;

export interface ScanOptions {
  /** The objects that are kept. By default, that is `history`: commits and tags. */
  readonly keeps?: 'history' | 'everything';
  /** The limits of the kept objects. By default, they are those of a push. */
  readonly limits?: KeepLimits;
  /** The offsets, in order, of entries that are neither kept nor passed on. */
  readonly leftOut?: readonly number[];
  readonly onKept?: (object: KeptObject) => void;
  /**
   * The bytes that have arrived, if the body is compressed. By default, all that is scanned counts.
   */
  readonly arrived?: Arrived;
}

type Stage =
  'pack-header' | 'entry-header' | 'kept-entry' | 'passed-entry' | 'left-out-entry' | 'trailer' | 'end';

const tooManyObjects = (): ProtocolError =>
  tooLarge('The push has far more objects than fit into what was sent. Push with another Git client.');

function filesTooLarge(): ProtocolError {
  const reason = 'The files of the push are far larger than what Git sends of them.';
  return tooLarge(`${reason} Propose some of them in another pull request.`);
}

export class PackScanner {
  readonly kept: KeptObjects;
  /** The ids by which passed entries name their bases. */
  readonly namedBases = new OidTable();
  /**
   * True if a delta has passed whose base was kept later, so that it is a commit or a tag
   * (late-deltas.ts).
   */
  hasLateBase = false;
  /** Size of the objects of passed entries. For a delta, it is the size that its header gives. */
  passedObjectBytes = 0;
  /**
   * Size of the largest of these objects. It may be over the limit, so that the file can be named:
   * the pack has its path elsewhere.
   */
  largestBytes = 0;
  readonly #options: ScanOptions;
  #leftOutCount = 0;
  #passed: Uint8Array[] = [];
  readonly #walker = new ZlibWalker();
  readonly #header = new EntryHeaderReader();
  readonly #shift = new OffsetShift();
  readonly #hash = createHash('sha1');
  readonly #fixed = new Uint8Array(OID_BYTES);
  #fixedLength = 0;
  /** The beginning of a delta, which has the size of its result. */
  readonly #deltaHead = new Uint8Array(MAX_DELTA_HEADER_BYTES);
  #stage: Stage = 'pack-header';
  #entriesLeft = 0;
  #entryCount = 0;
  /** Offsets in the pack of the current chunk, and of the current entry's header. */
  #chunkOffset = 0;
  #entryOffset = 0;
  /** Sizes of all entries, and of all deltas so far, as their headers say. */
  #inflatedBytes = 0;
  #deltaBytes = 0;
  /**
   * The index in the current chunk at which the run of passed bytes begins, or -1 if there is none.
   */
  #runStart = -1;
  /**
   * The type, base and inflated bytes of the current entry, if it is kept. All small entries share
   * a buffer.
   */
  #keptType: ObjectType = 'commit';
  #keptBase: KeptObject | null = null;
  #keptBytes: Uint8Array = this.#fixed;
  readonly #sharedBytes = new Uint8Array(SHARED_BYTES);
  /** The results of small deltas, which are copied where they are kept. */
  readonly #result = new Uint8Array(SHARED_BYTES);

  constructor(options: ScanOptions = {}) {
    this.#options = options;
    const { arrived, limits } = options;
    this.kept = new KeptObjects({ ...(arrived && { arrived }), ...limits });
  }

  /** Number of passed entries. It is valid only after the last one. */
  get passedCount(): number {
    return this.#entryCount - this.kept.entryCount - this.#leftOutCount;
  }

  /**
   * Scans the next bytes. After an error, the scanner cannot go on.
   * @returns what passes of them, as views of the chunk, and headers that are not in it.
   * @throws ProtocolError, and what the memory throws.
   */
  scan(chunk: Uint8Array): readonly Uint8Array[] {
    this.#passed = [];
    const end = chunk.byteLength;
    let position = 0;
    this.#runStart = this.#stage === 'passed-entry' ? 0 : -1;
    while (position < end) {
      if (this.#stage === 'entry-header') position = this.#readEntryHeader(chunk, position);
      else if (this.#stage === 'pack-header') position = this.#readPackHeader(chunk, position);
      else if (this.#stage === 'trailer') position = this.#readTrailer(chunk, position);
      else if (this.#stage === 'end') throw badPack('More bytes follow the end of the pack.');
      else {
        position = this.#walker.walk(chunk, position, end);
        if (this.#walker.done) this.#endEntry(chunk, position);
      }
    }
    // An entry whose header is cut by the chunk's end is not decided yet, so the run ends before
    // it.
    if (this.#stage === 'passed-entry') this.#endRun(chunk, end);
    else if (this.#stage === 'entry-header') {
      this.#endRun(chunk, this.#header.length === 0 ? end : this.#entryOffset - this.#chunkOffset);
    }
    if (this.#stage !== 'trailer' && this.#stage !== 'end') this.#hash.update(chunk);
    this.#chunkOffset += end;
    if (hasTooManyBlocks(this.#walker.dynamicBlocks, this.#paidBytes(this.#chunkOffset))) {
      throw badPack('The pack is compressed in far too small blocks.');
    }
    return this.#passed;
  }

  /**
   * Checks that the whole pack was scanned.
   * @throws ProtocolError `truncated-pack`
   */
  finish(): void {
    if (this.#stage !== 'end') {
      throw new ProtocolError('truncated-pack', 'The pack ended too early. Push again.');
    }
  }

  #readPackHeader(chunk: Uint8Array, start: number): number {
    const position = this.#readFixed(chunk, start, PACK_HEADER_BYTES);
    if (this.#fixedLength < PACK_HEADER_BYTES) return position;
    this.#entryCount = parsePackHeader(this.#fixed);
    this.#entriesLeft = this.#entryCount;
    this.#beginNext(chunk, position);
    return position;
  }

  /** Gathers the pack's header or trailer. `#fixedLength` is the number of bytes so far. */
  #readFixed(chunk: Uint8Array, start: number, length: number): number {
    const taken = chunk.subarray(start, start + length - this.#fixedLength);
    this.#fixed.set(taken, this.#fixedLength);
    this.#fixedLength += taken.byteLength;
    return start + taken.byteLength;
  }

  /** Begins the next entry, or the trailer, at `position`. */
  #beginNext(chunk: Uint8Array, position: number): void {
    if (this.#entriesLeft > 0) {
      this.#entriesLeft -= 1;
      this.#entryOffset = this.#chunkOffset + position;
      this.#header.begin();
      this.#stage = 'entry-header';
      return;
    }
    this.#endRun(chunk, position);
    this.#hash.update(chunk.subarray(0, position));
    this.#fixedLength = 0;
    this.#stage = 'trailer';
  }

  #readEntryHeader(chunk: Uint8Array, start: number): number {
    for (let position = start; position < chunk.byteLength;) {
      if (!this.#header.push(chunk[position++]!)) continue;
      this.#decide(chunk, position);
      return position;
    }
    return chunk.byteLength;
  }

  /** Returns the first `packBytes` of the pack, or the bytes that arrived if those are fewer. */
  #paidBytes(packBytes: number): number {
    return Math.min(packBytes, this.#options.arrived?.bytes ?? packBytes);
  }

  /** Decides if an entry is kept or passes, when its header is complete and ends at `position`. */
  #decide(chunk: Uint8Array, position: number): void {
    const { type, size, distance, bytes, baseStart } = this.#header;
    const { leftOut, keeps } = this.#options;
    const isTooLarge = size > MAX_OBJECT_BYTES;
    const mayPass = type === OBJ_BLOB && keeps !== 'everything' && size <= MAX_NAMED_BYTES;
    if (isTooLarge && !mayPass) throw objectTooLarge(OBJECT_TYPES[type], size);
    if (this.#entryOffset === leftOut?.[this.#leftOutCount]) {
      this.#leftOutCount += 1;
      this.#endRun(chunk, this.#entryOffset - this.#chunkOffset);
      this.#walker.begin(size);
      this.#stage = 'left-out-entry';
      return;
    }
    if (isTooLarge) return this.#pass(chunk, position, 0);
    this.#inflatedBytes += size;
    if (isDelta(type)) this.#deltaBytes += size;
    const paidBytes = this.#paidBytes(this.#entryOffset);
    if (inflatesTooMuch(this.#inflatedBytes, this.#deltaBytes, paidBytes)) throw filesTooLarge();
    // The entries before this one count.
    if (hasTooManyEntries(this.#entryCount - this.#entriesLeft - 1, paidBytes)) throw tooManyObjects();
    const name = OBJECT_TYPES[type];
    if (name !== undefined && (keeps === 'everything' || name === 'commit' || name === 'tag')) {
      return this.#keep(chunk, name, null);
    }
    if (type === OBJ_OFS_DELTA) {
      const baseOffset = this.#entryOffset - distance;
      if (distance === 0 || baseOffset < PACK_HEADER_BYTES) {
        throw badPack('The pack contains a delta whose base lies outside the pack.');
      }
      const base = this.kept.atOffset(baseOffset);
      if (base !== undefined) return this.#keep(chunk, base.type, base);
      const removed = this.#shift.removedSince(baseOffset);
      if (removed < 0) throw badPack('The pack contains a delta whose base lies inside another object.');
      return this.#pass(chunk, position, removed);
    }
    if (type === OBJ_REF_DELTA) {
      const baseOid = oidFromBytes(bytes, baseStart);
      const base = this.kept.withOid(baseOid);
      if (base !== undefined) return this.#keep(chunk, base.type, base);
      if (this.namedBases.add(baseOid) === MAX_NAMED_BASES) {
        throw tooLarge('The push contains too many deltas. Push fewer commits at once.');
      }
    }
    this.#pass(chunk, position, 0);
  }

  #keep(chunk: Uint8Array, type: ObjectType, base: KeptObject | null): void {
    const { size } = this.#header;
    this.#endRun(chunk, this.#entryOffset - this.#chunkOffset);
    this.#keptType = type;
    this.#keptBase = base;
    this.kept.reserve(size);
    this.#keptBytes = size > SHARED_BYTES ? new Uint8Array(size) : this.#sharedBytes.subarray(0, size);
    this.#walker.begin(size, this.#keptBytes, size);
    this.#stage = 'kept-entry';
  }

  /**
   * Passes an entry.
   * @param removed is the number of bytes that were removed between the entry and its base, by
   * which they come closer.
   */
  #pass(chunk: Uint8Array, position: number, removed: number): void {
    const { bytes, baseStart, length, type, size, distance } = this.#header;
    const start = this.#entryOffset - this.#chunkOffset;
    if (removed > 0) {
      this.#endRun(chunk, start);
      const shorter = encodeDistance(distance - removed);
      // Keep the size's original bytes, because a client may encode it longer than necessary.
      this.#passed.push(bytes.slice(0, baseStart), shorter);
      const saved = length - baseStart - shorter.byteLength;
      // The cut is after the entry's first byte, because the entry itself may be a base, and has
      // not moved.
      if (saved > 0) this.#shift.cut(this.#entryOffset + 1, this.#entryOffset + 1 + saved);
      this.#runStart = position;
    } else if (start < 0) {
      // The header began in the previous chunk, which is no longer available.
      this.#passed.push(bytes.slice(0, length));
      this.#runStart = position;
    } else if (this.#runStart < 0) {
      this.#runStart = start;
    }
    if (isDelta(type)) this.#walker.begin(size, this.#deltaHead, Math.min(size, MAX_DELTA_HEADER_BYTES));
    else this.#walker.begin(size);
    this.#stage = 'passed-entry';
  }

  #endEntry(chunk: Uint8Array, position: number): void {
    const { type, size } = this.#header;
    if (this.#stage !== 'passed-entry') {
      this.#shift.cut(this.#entryOffset, this.#chunkOffset + position);
    } else {
      const bytes = isDelta(type) ? this.#resultSize() : size;
      if (size > MAX_OBJECT_BYTES) this.#countTooLarge(this.#chunkOffset + position);
      this.largestBytes = Math.max(this.largestBytes, bytes);
      this.passedObjectBytes += bytes;
    }
    if (this.#stage === 'kept-entry') this.#addKept();
    this.#beginNext(chunk, position);
  }

  /** Counts a file that is too large when its bytes have arrived: others are counted before. */
  #countTooLarge(packBytes: number): void {
    const { size } = this.#header;
    this.#inflatedBytes += size;
    const isTooMuch = inflatesTooMuch(this.#inflatedBytes, this.#deltaBytes, this.#paidBytes(packBytes));
    if (isTooMuch) throw objectTooLarge('blob', size);
  }

  /** Reads the size of what a passed delta makes. */
  #resultSize(): number {
    const headBytes = Math.min(this.#header.size, MAX_DELTA_HEADER_BYTES);
    return parseDeltaHeader(this.#deltaHead, headBytes).resultSize;
  }

  #addKept(): void {
    const base = this.#keptBase?.content;
    const content =
      base === undefined
        ? this.#keptBytes
        : applyDelta(base, this.#keptBytes, Math.min(MAX_OBJECT_BYTES, this.kept.roomBytes), this.#result);
    const object = this.kept.add(this.#keptType, content, this.#entryOffset);
    this.hasLateBase ||= this.namedBases.size > 0 && this.namedBases.has(object.oid);
    this.#options.onKept?.(object);
  }

  #endRun(chunk: Uint8Array, end: number): void {
    if (this.#runStart >= 0 && end > this.#runStart) this.#passed.push(chunk.subarray(this.#runStart, end));
    this.#runStart = -1;
  }

  #readTrailer(chunk: Uint8Array, start: number): number {
    const position = this.#readFixed(chunk, start, OID_BYTES);
    if (this.#fixedLength === OID_BYTES) {
      if (this.#hash.digest('hex') !== oidFromBytes(this.#fixed, 0)) {
        throw badPack('The checksum of the pack is wrong.');
      }
      this.#stage = 'end';
    }
    return position;
  }
}
