/**
 * Reads and writes the headers of a pack and of its entries (gitformat-pack). It computes in
 * floating point, because sizes on the wire may exceed 2^31.
 */
import { OID_BYTES } from '../objects/oid.ts';
import { badPack } from '../wire/protocol-error.ts';

export const PACK_HEADER_BYTES = 12;
const PACK_SIGNATURE = 0x5041434b;
const PACK_VERSION = 2;

export const OBJ_COMMIT = 1;
export const OBJ_TREE = 2;
export const OBJ_BLOB = 3;
export const OBJ_TAG = 4;
export const OBJ_OFS_DELTA = 6;
export const OBJ_REF_DELTA = 7;
export const isDelta = (type: number): boolean => type === OBJ_OFS_DELTA || type === OBJ_REF_DELTA;
/** Object types by the type of an entry that is no delta. */
export const OBJECT_TYPES = [undefined, 'commit', 'tree', 'blob', 'tag'] as const;

/** Size of the longest header: a size of ten bytes, then an object id. */
const MAX_HEADER_BYTES = 10 + OID_BYTES;
const MAX_SIZE_BYTES = 10;
/**
 * Maximum distance, which keeps the arithmetic exact. Distances are also limited by the entry's own
 * offset.
 */
const MAX_DISTANCE = 2 ** 46;

/**
 * Parses the header of a pack.
 * @param bytes has at least PACK_HEADER_BYTES.
 * @returns the number of entries.
 * @throws ProtocolError `bad-pack`
 */
export function parsePackHeader(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(0) !== PACK_SIGNATURE || view.getUint32(4) !== PACK_VERSION) {
    throw badPack('What follows the commands is not a pack of version 2.');
  }
  return view.getUint32(8);
}

export function encodePackHeader(entries: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(PACK_HEADER_BYTES));
  header.setUint32(0, PACK_SIGNATURE);
  header.setUint32(4, PACK_VERSION);
  header.setUint32(8, entries);
  return new Uint8Array(header.buffer);
}

/**
 * Reads one entry header after another, byte by byte, because a chunk may end anywhere. It
 * allocates nothing.
 */
export class EntryHeaderReader {
  /** The bytes of the header so far, `length` of them. */
  readonly bytes = new Uint8Array(MAX_HEADER_BYTES);
  length = 0;
  /** The type, one of the OBJ_ constants, once the first byte is read. */
  type = 0;
  size = 0;
  /** The distance to the base, for OBJ_OFS_DELTA. */
  distance = 0;
  /**
   * The index in `bytes` at which the distance or the base's id begins, or 0 while the size is not
   * complete.
   */
  baseStart = 0;

  #factor = 1;

  begin(): void {
    this.length = 0;
    this.baseStart = 0;
    this.distance = 0;
  }

  /**
   * Takes the next byte.
   * @returns true when the header is complete.
   * @throws ProtocolError `bad-pack`
   */
  push(byte: number): boolean {
    this.bytes[this.length++] = byte;
    if (this.baseStart === 0) return this.#pushSize(byte);
    if (this.type === OBJ_OFS_DELTA) return this.#pushDistance(byte);
    return this.length === this.baseStart + OID_BYTES;
  }

  #pushSize(byte: number): boolean {
    if (this.length === 1) {
      this.type = (byte >> 4) & 7;
      this.size = byte & 0x0f;
      this.#factor = 16;
      if (this.type === 0 || this.type === 5) throw badPack('The pack contains an entry of an unknown type.');
    } else {
      this.size += (byte & 0x7f) * this.#factor;
      this.#factor *= 128;
    }
    if (byte < 0x80) {
      this.baseStart = this.length;
      return !isDelta(this.type);
    }
    if (this.length === MAX_SIZE_BYTES) throw badPack('The pack contains an entry with an invalid size.');
    return false;
  }

  /**
   * Reads a distance. Its encoding differs from that of a size: it is big-endian, and each further
   * byte adds one.
   */
  #pushDistance(byte: number): boolean {
    const digit = byte & 0x7f;
    this.distance = this.length === this.baseStart + 1 ? digit : (this.distance + 1) * 128 + digit;
    if (this.distance > MAX_DISTANCE) {
      throw badPack('The pack contains a delta whose base would lie before the pack.');
    }
    return (byte & 0x80) === 0;
  }
}

export function encodeEntryHeader(type: number, size: number): Uint8Array {
  const bytes = [(type << 4) | (size & 0x0f)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) | 0x80;
    bytes.push(rest % 128);
  }
  return Uint8Array.from(bytes);
}

export function encodeDistance(distance: number): Uint8Array {
  const bytes = [distance % 128];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift(0x80 | (rest % 128));
  }
  return Uint8Array.from(bytes);
}
