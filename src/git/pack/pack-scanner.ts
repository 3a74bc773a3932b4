/**
 * Parses a pack as it arrives, chunk by chunk (gitformat-pack, "pack-*.pack files").
 *
 * Commits and tags (or all objects, if that is wanted) are inflated and handed to the listener; other entries are
 * handed on as views of the chunks they came in, in runs as long as they can be: a pack that writes its commits first
 * costs one view a chunk from there on. To find where an entry ends its zlib stream is walked, but not inflated. The
 * pack's structure, its sizes and its checksum are verified; the content of passed entries is the host's to check.
 *
 * Synchronous and free of I/O. Cost: one walk over the pack, its SHA-1, and no allocation for each entry.
 */
import { createHash } from 'node:crypto';
import { oidFromBytes, OID_BYTES, type Oid } from '../objects/oid.ts';
import { UNCOUNTED } from '../memory.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import { ZlibWalker } from '../zlib/zlib-walker.ts';
import { applyDelta, MAX_DELTA_HEADER_BYTES, resultSizeOf } from './delta.ts';
import {
  encodeDistance,
  badPack,
  EntryHeaderReader,
  OBJ_BLOB,
  OBJ_COMMIT,
  OBJ_OFS_DELTA,
  OBJ_REF_DELTA,
  OBJ_TAG,
  OBJ_TREE,
  PACK_HEADER_BYTES,
  parsePackHeader,
} from './entry-header.ts';
import { type KeepLimits, type KeptObject, KeptObjects } from './kept-objects.ts';
import {
  DELTA_BYTES_PER_PACK_BYTE,
  FREE_DELTA_BYTES,
  FREE_DYNAMIC_BLOCKS,
  FREE_INFLATED_BYTES,
  INFLATED_BYTES_PER_PACK_BYTE,
  KEPT_OBJECT_BYTES,
  MAX_KEPT_BYTES,
  MAX_OBJECT_BYTES,
  PACK_BYTES_PER_DYNAMIC_BLOCK,
} from './memory-limits.ts';
import { OffsetShift } from './offset-shift.ts';

/** Nearly all commits are smaller. */
const SHARED_BYTES = 16 * 1024;

export interface PackListener {
  /** A commit or tag, or any object if all are kept: it is not passed on. */
  onKept(object: KeptObject): void;
  /** The next bytes of entries that pass on. A view: it stays valid until its chunk is reused. */
  onPassed(bytes: Uint8Array): void;
  /**
   * A ref-delta whose base is not a kept object will be passed on.
   * @throws ProtocolError if it could turn out to be a commit.
   */
  onRefDelta(base: Oid): void;
}

/** `history`: commits and tags. */
export type KeptTypes = 'history' | 'everything';

const TYPE_NAMES: ReadonlyMap<number, KeptObject['type']> = new Map([
  [OBJ_COMMIT, 'commit'],
  [OBJ_TREE, 'tree'],
  [OBJ_BLOB, 'blob'],
  [OBJ_TAG, 'tag'],
]);

type Stage =
  'pack-header' | 'entry-header' | 'kept-entry' | 'passed-entry' | 'left-out-entry' | 'trailer' | 'end';

function objectTooLarge(): ProtocolError {
  const limit = `${MAX_OBJECT_BYTES / 1024 / 1024} MB`;
  return new ProtocolError(
    'too-large',
    `The push contains an object over ${limit}. Remove it and push again.`,
  );
}

function inflatesTooMuch(): ProtocolError {
  return new ProtocolError(
    'too-large',
    'The files of the push are far larger than what Git sends of them. Propose some of them in another pull request.',
  );
}

export class PackScanner {
  readonly kept: KeptObjects;
  readonly #listener: PackListener;
  readonly #keepsEverything: boolean;
  readonly #leftOut: readonly number[];
  #nextLeftOut = 0;
  readonly #walker = new ZlibWalker();
  readonly #header = new EntryHeaderReader();
  readonly #shift = new OffsetShift();
  readonly #hash = createHash('sha1');
  /** Holds the pack's header, then its trailer. */
  readonly #fixed = new Uint8Array(OID_BYTES);
  #fixedLength = 0;
  /** A delta's own header is read to learn its result's size; the walker may write a match beyond it. */
  readonly #deltaHead = new Uint8Array(MAX_DELTA_HEADER_BYTES + 258);
  #stage: Stage = 'pack-header';
  #entriesLeft = 0;
  #entryCount = 0;
  /** Offset in the pack of the current chunk's first byte. */
  #chunkOffset = 0;
  /** Offset in the pack where the current entry's header begins. */
  #entryOffset = 0;
  /** Of all entries so far, as their headers say. */
  #inflatedBytes = 0;
  #deltaBytes = 0;
  /** Where in the current chunk the run of passed bytes begins; -1: no run. */
  #runStart = -1;
  /** What the current entry is kept as, and its inflated bytes, in a buffer that all small entries share. */
  #keptType: KeptObject['type'] = 'commit';
  #keptBase: KeptObject | null = null;
  #keptBytes: Uint8Array = this.#fixed;
  readonly #sharedBytes = new Uint8Array(SHARED_BYTES);

  /**
   * @param limits of the kept objects. Default: those of a push.
   * @param leftOut where entries begin, in order, that are neither kept nor passed on.
   */
  constructor(
    listener: PackListener,
    limits: Partial<KeepLimits> = {},
    keptTypes: KeptTypes = 'history',
    leftOut: readonly number[] = [],
  ) {
    this.#leftOut = leftOut;
    this.#listener = listener;
    this.#keepsEverything = keptTypes === 'everything';
    this.kept = new KeptObjects({
      maxBytes: MAX_KEPT_BYTES,
      objectBytes: KEPT_OBJECT_BYTES,
      memory: UNCOUNTED,
      ...limits,
    });
  }

  /** Entries in the pack, as its header says. */
  get entryCount(): number {
    return this.#entryCount;
  }

  /**
   * Takes the next bytes of the pack.
   * @throws ProtocolError on an invalid pack. The scanner cannot be used afterwards.
   */
  scan(chunk: Uint8Array): void {
    const end = chunk.byteLength;
    let position = 0;
    this.#runStart = this.#stage === 'passed-entry' ? 0 : -1;
    while (position < end) {
      switch (this.#stage) {
        case 'pack-header':
          position = this.#readPackHeader(chunk, position);
          break;
        case 'entry-header':
          position = this.#readEntryHeader(chunk, position);
          break;
        case 'passed-entry':
          position = this.#walker.walk(chunk, position, end);
          if (this.#walker.done) this.#endPassedEntry(chunk, position);
          break;
        case 'kept-entry':
          position = this.#walker.walk(chunk, position, end);
          if (this.#walker.done) this.#endKeptEntry(chunk, position);
          break;
        case 'left-out-entry':
          position = this.#walker.walk(chunk, position, end);
          if (this.#walker.done) this.#endLeftOutEntry(chunk, position);
          break;
        case 'trailer':
          position = this.#readTrailer(chunk, position);
          break;
        case 'end':
          throw badPack('More bytes follow the end of the pack.');
      }
    }
    // A header that is cut by the chunk's end is not decided yet, so the run ends before it.
    if (this.#stage === 'passed-entry') this.#endRun(chunk, end);
    else if (this.#stage === 'entry-header') {
      this.#endRun(chunk, this.#header.length === 0 ? end : this.#entryOffset - this.#chunkOffset);
    }
    if (this.#stage !== 'trailer' && this.#stage !== 'end') this.#hash.update(chunk);
    this.#chunkOffset += end;
    const dynamicBlocks = FREE_DYNAMIC_BLOCKS + this.#chunkOffset / PACK_BYTES_PER_DYNAMIC_BLOCK;
    if (this.#walker.dynamicBlocks > dynamicBlocks)
      throw badPack('The pack is compressed in far too small blocks.');
  }

  /** @throws ProtocolError `truncated-pack` unless the whole pack has been scanned. */
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

  /** Gathers the pack's header or trailer; `#fixedLength` tells how much of it is there. */
  #readFixed(chunk: Uint8Array, start: number, length: number): number {
    const taken = chunk.subarray(start, start + length - this.#fixedLength);
    this.#fixed.set(taken, this.#fixedLength);
    this.#fixedLength += taken.byteLength;
    return start + taken.byteLength;
  }

  /** The next entry begins at `position`, or the trailer does. */
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
    let position = start;
    while (position < chunk.byteLength) {
      if (this.#header.push(chunk[position++] as number)) {
        this.#decide(chunk, position);
        break;
      }
    }
    return position;
  }

  /** The entry's header is complete and ends at `position`: keep it, or pass it on? */
  #decide(chunk: Uint8Array, position: number): void {
    const { type, size } = this.#header;
    if (size > MAX_OBJECT_BYTES) {
      throw objectTooLarge();
    }
    if (this.#entryOffset === this.#leftOut[this.#nextLeftOut]) {
      this.#leaveOut(chunk);
      return;
    }
    this.#checkInflatedBytes(type, size);
    const name = TYPE_NAMES.get(type);
    if (name !== undefined && (this.#keepsEverything || name === 'commit' || name === 'tag')) {
      this.#keep(chunk, name, null);
    } else if (type === OBJ_OFS_DELTA) {
      const { distance } = this.#header;
      const baseOffset = this.#entryOffset - distance;
      if (distance === 0 || baseOffset < PACK_HEADER_BYTES) {
        throw badPack('The pack contains a delta whose base lies outside the pack.');
      }
      const base = this.kept.atOffset(baseOffset);
      if (base !== undefined) this.#keep(chunk, base.type, base);
      else this.#pass(chunk, position, this.#removedSince(baseOffset));
    } else if (type === OBJ_REF_DELTA) {
      const baseOid = oidFromBytes(this.#header.bytes, this.#header.baseStart);
      const base = this.kept.withOid(baseOid);
      if (base !== undefined) this.#keep(chunk, base.type, base);
      else {
        this.#listener.onRefDelta(baseOid);
        this.#pass(chunk, position, 0);
      }
    } else {
      this.#pass(chunk, position, 0);
    }
  }

  #checkInflatedBytes(type: number, size: number): void {
    this.#inflatedBytes += size;
    if (type === OBJ_OFS_DELTA || type === OBJ_REF_DELTA) this.#deltaBytes += size;
    const isTooMuch =
      this.#inflatedBytes > FREE_INFLATED_BYTES + INFLATED_BYTES_PER_PACK_BYTE * this.#entryOffset ||
      this.#deltaBytes > FREE_DELTA_BYTES + DELTA_BYTES_PER_PACK_BYTE * this.#entryOffset;
    if (isTooMuch) throw inflatesTooMuch();
  }

  #removedSince(baseOffset: number): number {
    const removed = this.#shift.removedSince(baseOffset);
    if (removed < 0) throw badPack('The pack contains a delta whose base lies inside another object.');
    return removed;
  }

  #keep(chunk: Uint8Array, type: KeptObject['type'], base: KeptObject | null): void {
    const { size } = this.#header;
    this.#endRun(chunk, this.#entryOffset - this.#chunkOffset);
    this.#keptType = type;
    this.#keptBase = base;
    this.kept.reserve(size);
    this.#keptBytes = size > SHARED_BYTES ? new Uint8Array(size) : this.#sharedBytes.subarray(0, size);
    this.#walker.begin(size, this.#keptBytes, size);
    this.#stage = 'kept-entry';
  }

  #endKeptEntry(chunk: Uint8Array, position: number): void {
    const content =
      this.#keptBase === null
        ? this.#keptBytes
        : applyDelta(
            this.#keptBase.content,
            this.#keptBytes,
            Math.min(MAX_OBJECT_BYTES, this.kept.roomBytes),
          );
    this.#shift.cut(this.#entryOffset, this.#chunkOffset + position);
    this.#listener.onKept(this.kept.add(this.#keptType, content, this.#entryOffset));
    this.#beginNext(chunk, position);
  }

  #leaveOut(chunk: Uint8Array): void {
    this.#nextLeftOut += 1;
    this.#endRun(chunk, this.#entryOffset - this.#chunkOffset);
    this.#walker.begin(this.#header.size);
    this.#stage = 'left-out-entry';
  }

  #endLeftOutEntry(chunk: Uint8Array, position: number): void {
    this.#shift.cut(this.#entryOffset, this.#chunkOffset + position);
    this.#beginNext(chunk, position);
  }

  /** `removed`: how many bytes between the entry and its base were removed, so how much closer the base is. */
  #pass(chunk: Uint8Array, position: number, removed: number): void {
    const { bytes, length, type, size } = this.#header;
    const start = this.#entryOffset - this.#chunkOffset;
    if (removed > 0) {
      this.#endRun(chunk, start);
      const distance = encodeDistance(this.#header.distance - removed);
      // The size in the original bytes, because a client may encode it longer than necessary.
      this.#listener.onPassed(bytes.slice(0, this.#header.baseStart));
      this.#listener.onPassed(distance);
      const saved = length - this.#header.baseStart - distance.byteLength;
      // The mark is after the entry's first byte, because the entry itself may be a base, and has not moved.
      if (saved > 0) this.#shift.cut(this.#entryOffset + 1, this.#entryOffset + 1 + saved);
      this.#runStart = position;
    } else if (start < 0) {
      // The header began in the previous chunk, which is no longer available.
      this.#listener.onPassed(bytes.slice(0, length));
      this.#runStart = position;
    } else if (this.#runStart < 0) {
      this.#runStart = start;
    }
    const isDelta = type === OBJ_OFS_DELTA || type === OBJ_REF_DELTA;
    if (isDelta) this.#walker.begin(size, this.#deltaHead, Math.min(size, MAX_DELTA_HEADER_BYTES));
    else this.#walker.begin(size);
    this.#stage = 'passed-entry';
  }

  #endPassedEntry(chunk: Uint8Array, position: number): void {
    const { type, size } = this.#header;
    if (type === OBJ_OFS_DELTA || type === OBJ_REF_DELTA) {
      if (resultSizeOf(this.#deltaHead, Math.min(size, MAX_DELTA_HEADER_BYTES)) > MAX_OBJECT_BYTES) {
        throw objectTooLarge();
      }
    }
    this.#beginNext(chunk, position);
  }

  #endRun(chunk: Uint8Array, end: number): void {
    if (this.#runStart >= 0 && end > this.#runStart)
      this.#listener.onPassed(chunk.subarray(this.#runStart, end));
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
