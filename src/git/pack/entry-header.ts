/**
 * The header of a pack and those of its entries (gitformat-pack, "pack-*.pack files", "Size encoding", "Pack entries"),
 * and the error of everything that is wrong with a pack.
 *
 * Reading an entry's header is byte by byte, because a header may be cut by the end of a chunk anywhere. Sizes and distances are
 * computed in floating point: they come from the wire and may pass 2^31.
 */
import { OID_BYTES } from '../objects/oid.ts';
import { ProtocolError } from '../wire/protocol-error.ts';

export const PACK_HEADER_BYTES = 12;
const PACK_SIGNATURE = 0x5041434b;
const PACK_VERSION = 2;

export const OBJ_COMMIT = 1;
export const OBJ_TREE = 2;
export const OBJ_BLOB = 3;
export const OBJ_TAG = 4;
export const OBJ_OFS_DELTA = 6;
export const OBJ_REF_DELTA = 7;

/** The longest header: a size of ten bytes, then an object id. */
const MAX_HEADER_BYTES = 10 + OID_BYTES;
const MAX_SIZE_BYTES = 10;
/** Distances are limited by the entry's own offset. This limit only keeps the arithmetic exact. */
const MAX_DISTANCE = 2 ** 46;

export function badPack(message: string): ProtocolError {
  return new ProtocolError('bad-pack', `${message} Push again.`);
}

/**
 * The number of entries.
 * @param bytes at least PACK_HEADER_BYTES. @throws ProtocolError `bad-pack` unless they begin with a header of version
 * 2.
 */
export function parsePackHeader(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(0) !== PACK_SIGNATURE || view.getUint32(4) !== PACK_VERSION) {
    throw badPack('What follows the commands is not a pack of version 2.');
  }
  return view.getUint32(8);
}

/** The header of a pack of so many entries. */
export function encodePackHeader(entries: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(PACK_HEADER_BYTES));
  header.setUint32(0, PACK_SIGNATURE);
  header.setUint32(4, PACK_VERSION);
  header.setUint32(8, entries);
  return new Uint8Array(header.buffer);
}

/** Reads one entry header after another; allocates nothing. */
export class EntryHeaderReader {
  /** The header's bytes as they came, `length` of them. */
  readonly bytes = new Uint8Array(MAX_HEADER_BYTES);
  length = 0;
  /** One of the OBJ_ constants, once the first byte is read. */
  type = 0;
  /** The inflated size that the header declares. */
  size = 0;
  /** For OBJ_OFS_DELTA: how far back the base starts. */
  distance = 0;
  /** Where in `bytes` the distance or the base's id begins. */
  baseStart = 0;

  #factor = 1;
  #stage: 'size' | 'distance' | 'base-id' = 'size';

  begin(): void {
    this.length = 0;
    this.size = 0;
    this.distance = 0;
    this.#stage = 'size';
  }

  /**
   * Takes the next byte of the header; true when it is complete.
   * @throws ProtocolError `bad-pack` on a type that does not exist, or an endless number.
   */
  push(byte: number): boolean {
    this.bytes[this.length++] = byte;
    switch (this.#stage) {
      case 'size':
        return this.#pushSize(byte);
      case 'distance':
        return this.#pushDistance(byte);
      case 'base-id':
        return this.length === this.baseStart + OID_BYTES;
    }
  }

  #pushSize(byte: number): boolean {
    if (this.length === 1) {
      this.type = (byte >> 4) & 7;
      if (this.type === 0 || this.type === 5) {
        throw badPack('The pack contains an entry of an unknown type.');
      }
      this.size = byte & 0x0f;
      this.#factor = 16;
    } else {
      this.size += (byte & 0x7f) * this.#factor;
      this.#factor *= 128;
    }
    if (byte & 0x80) {
      if (this.length === MAX_SIZE_BYTES) {
        throw badPack('The pack contains an entry with an invalid size.');
      }
      return false;
    }
    this.baseStart = this.length;
    if (this.type === OBJ_OFS_DELTA) this.#stage = 'distance';
    else if (this.type === OBJ_REF_DELTA) this.#stage = 'base-id';
    else return true;
    return false;
  }

  /** The offset encoding differs from the size encoding: big-endian, and each further byte adds one. */
  #pushDistance(byte: number): boolean {
    const digit = byte & 0x7f;
    this.distance = this.length === this.baseStart + 1 ? digit : (this.distance + 1) * 128 + digit;
    if (this.distance > MAX_DISTANCE) {
      throw badPack('The pack contains a delta whose base would lie before the pack.');
    }
    return (byte & 0x80) === 0;
  }
}

/** The header of an undeltified entry. */
export function encodeEntryHeader(type: number, size: number): Uint8Array {
  const bytes = [(type << 4) | (size & 0x0f)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) | 0x80;
    bytes.push(rest % 128);
  }
  return Uint8Array.from(bytes);
}

/** The distance of an ofs-delta. */
export function encodeDistance(distance: number): Uint8Array {
  const bytes = [distance % 128];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift(0x80 | (rest % 128));
  }
  return Uint8Array.from(bytes);
}
