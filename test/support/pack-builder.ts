/**
 * Packs, byte by byte, as gitformat-pack describes them: sound ones of any shape, and ones that
 * lie.
 *
 * Nothing here comes from src: a mistake that writer and reader shared would not show.
 */
import { createHash } from 'node:crypto';
import { type ZlibOptions, deflateSync } from 'node:zlib';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';
export const TYPE_NUMBERS = { commit: 1, tree: 2, blob: 3, tag: 4, 'ofs-delta': 6, 'ref-delta': 7 } as const;

interface EntryLies {
  /** The inflated size that the header declares instead of the true one. */
  readonly declaredSize?: number;
  /** Bytes that stand in place of the zlib stream. */
  readonly stream?: Uint8Array;
  readonly zlib?: ZlibOptions;
  /** Writes the size longer than it need be. Git takes that. */
  readonly paddedSize?: boolean;
}

export type Entry = EntryLies &
  (
    | { readonly type: ObjectType; readonly content: Uint8Array }
    /** `base`: index of an entry before this one; or `distance`, whatever it points at. */
    | {
        readonly type: 'ofs-delta';
        readonly base?: number;
        readonly distance?: number;
        readonly delta: Uint8Array;
      }
    | { readonly type: 'ref-delta'; readonly base: string; readonly delta: Uint8Array }
  );

export interface PackLies {
  readonly version?: number;
  readonly count?: number;
  /** Stands in place of the checksum. */
  readonly trailer?: Uint8Array;
  /** Bytes behind the trailer. */
  readonly tail?: Uint8Array;
}

export interface BuiltPack {
  readonly bytes: Buffer;
  /** Where each entry begins. */
  readonly offsets: readonly number[];
}

export function buildPack(entries: readonly Entry[], lies: PackLies = {}): BuiltPack {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(lies.version ?? 2, 4);
  header.writeUInt32BE(lies.count ?? entries.length, 8);
  const parts: Uint8Array[] = [header];
  const offsets: number[] = [];
  // Tests of limits have thousands of entries with one content.
  const streams = new Map<Uint8Array, Buffer>();
  const streamOf = (content: Uint8Array): Buffer => {
    const stream = streams.get(content) ?? deflateSync(content);
    streams.set(content, stream);
    return stream;
  };
  let offset = header.length;
  for (const entry of entries) {
    offsets.push(offset);
    const content = entry.type === 'ofs-delta' || entry.type === 'ref-delta' ? entry.delta : entry.content;
    const size = sizeBytes(TYPE_NUMBERS[entry.type], entry.declaredSize ?? content.byteLength);
    const encoded = [
      entry.paddedSize === true ? padded(size) : size,
      baseBytes(entry, offset, offsets),
      entry.stream ?? (entry.zlib ? deflateSync(content, entry.zlib) : streamOf(content)),
    ];
    parts.push(...encoded);
    for (const part of encoded) offset += part.byteLength;
  }
  const body = Buffer.concat(parts);
  const trailer = lies.trailer ?? createHash('sha1').update(body).digest();
  return { bytes: Buffer.concat([body, trailer, lies.tail ?? Buffer.alloc(0)]), offsets };
}

function baseBytes(entry: Entry, offset: number, offsets: readonly number[]): Uint8Array {
  if (entry.type === 'ref-delta') return Buffer.from(entry.base, 'hex');
  if (entry.type !== 'ofs-delta') return Buffer.alloc(0);
  return distanceBytes(entry.distance ?? offset - (offsets[entry.base ?? 0] as number));
}

/**
 * A zlib stream of one stored block behind any number of empty ones: quick to make, and as long as
 * one likes.
 */
export function storedStream(content: Uint8Array, emptyBlocks = 0): Buffer {
  const stream = Buffer.alloc(2 + 5 * emptyBlocks + 5 + content.byteLength + 4);
  stream.writeUInt16BE(0x7801, 0);
  for (let block = 0; block < emptyBlocks; block++) stream.writeUInt16LE(0xffff, 2 + 5 * block + 3);
  let at = 2 + 5 * emptyBlocks;
  stream.writeUInt8(1, at);
  stream.writeUInt16LE(content.byteLength, at + 1);
  stream.writeUInt16LE(0xffff - content.byteLength, at + 3);
  stream.set(content, (at += 5));
  let [a, b] = [1, 0];
  for (const byte of content) b = (b + (a = (a + byte) % 65_521)) % 65_521;
  stream.writeUInt32BE(b * 65_536 + a, at + content.byteLength);
  return stream;
}

/** "Size encoding": the type and four bits, then seven bits a byte, lowest first. */
export function sizeBytes(typeNumber: number, size: number): Buffer {
  let rest = BigInt(size);
  const bytes = [(typeNumber << 4) | Number(rest & 15n)];
  for (rest >>= 4n; rest > 0n; rest >>= 7n) {
    bytes[bytes.length - 1] = (bytes.at(-1) as number) | 0x80;
    bytes.push(Number(rest & 127n));
  }
  return Buffer.from(bytes);
}

/** Another byte of zero bits behind the size. */
function padded(size: Buffer): Buffer {
  const last = size.length - 1;
  return Buffer.from([...size.subarray(0, last), (size[last] as number) | 0x80, 0]);
}

/** "Offset encoding": seven bits a byte, highest first; each further byte adds one. */
export function distanceBytes(distance: number): Buffer {
  let rest = BigInt(distance);
  const bytes = [Number(rest & 127n)];
  while ((rest >>= 7n) > 0n) {
    rest -= 1n;
    bytes.unshift(Number(rest & 127n) | 0x80);
  }
  return Buffer.from(bytes);
}

/** A number at a delta's head: seven bits a byte, lowest first. */
export function deltaSize(size: number): Buffer {
  let rest = BigInt(size);
  const bytes: number[] = [];
  do {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

/** A copy instruction; zero bytes are left out, as Git does. */
export function copyInstruction(offset: number, length: number): Buffer {
  const bytes = [0x80];
  const put = (value: number, bit: number) => {
    if (value === 0) return;
    bytes[0] = (bytes[0] as number) | bit;
    bytes.push(value);
  };
  for (let i = 0; i < 4; i++) put(Math.floor(offset / 256 ** i) % 256, 1 << i);
  const written = length === 0x10000 ? 0 : length;
  for (let i = 0; i < 3; i++) put(Math.floor(written / 256 ** i) % 256, 0x10 << i);
  return Buffer.from(bytes);
}

export function insertInstructions(data: Uint8Array): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < data.byteLength; at += 127) {
    const piece = data.subarray(at, at + 127);
    parts.push(Uint8Array.of(piece.byteLength), piece);
  }
  return Buffer.concat(parts);
}

/**
 * A delta that copies what base and target have in common at both ends, and inserts what is
 * between.
 */
export function makeDelta(base: Uint8Array, target: Uint8Array): Buffer {
  const shorter = Math.min(base.byteLength, target.byteLength);
  let head = 0;
  while (head < shorter && base[head] === target[head]) head++;
  let tail = 0;
  while (tail < shorter - head && base[base.byteLength - 1 - tail] === target[target.byteLength - 1 - tail])
    tail++;
  return Buffer.concat([
    deltaSize(base.byteLength),
    deltaSize(target.byteLength),
    ...copies(0, head),
    insertInstructions(target.subarray(head, target.byteLength - tail)),
    ...copies(base.byteLength - tail, tail),
  ]);
}

function copies(start: number, length: number): Buffer[] {
  const instructions: Buffer[] = [];
  for (let done = 0; done < length; done += 0x10000)
    instructions.push(copyInstruction(start + done, Math.min(0x10000, length - done)));
  return instructions;
}

export function oidOf(type: ObjectType, content: Uint8Array): string {
  return createHash('sha1').update(`${type} ${content.byteLength}\0`).update(content).digest('hex');
}
