/**
 * Packs that the service accepts and that cost it as much as possible for their size: the worst
 * that a push can do. Each goes as far as the limits of the pack engine allow.
 */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { DeflateWriter } from '../../test/git/zlib/deflate-writer.ts';
import { FREE_DYNAMIC_BLOCKS, PACK_BYTES_PER_DYNAMIC_BLOCK } from '../../src/git/pack/memory-limits.ts';
import { sizeBytes, TYPE_NUMBERS } from '../../test/support/pack-builder.ts';

const MATCH_BYTES = 258;
/** Blocks of an object, which has a megabyte then. */
const BLOCKS_PER_ENTRY = 4096;
/** Empty blocks that fit into the 1,024 bytes that a stream may have without any output. */
const EMPTY_BLOCKS_PER_ENTRY = 800;
const FILLER_BYTES = 16 * 1024;
/** Node gives each result a buffer of 16 KB by default: gigabytes for all small files. */
const DEFLATED_BYTES = 128;

/** Makes a pack of about `bytes`, by the things that it is full of. */
export const HOSTILE_PACKS: Readonly<Record<string, (bytes: number) => Buffer>> = {
  'blocks with codes of their own': withDynamicBlocks,
  'empty blocks': (bytes) => full(bytes, blob(0, emptyBlocks())),
  'empty objects': (bytes) => full(bytes, blob(0, zlib([Buffer.from([3, 0])], 0))),
};

/**
 * Makes an honest pack of the smallest files for which zlib makes a code of their own, with a
 * checksum each. Of all honest packs of their size, such packs cost most.
 */
export function packOfSmallFiles(bytes: number): Buffer {
  const entries: Buffer[] = [];
  for (let offset = 0; offset < bytes;) {
    const content = Buffer.from(`${createHash('sha256').update(String(entries.length)).digest('hex')}\n`);
    const entry = blob(content.length, deflateSync(content, { chunkSize: DEFLATED_BYTES }));
    entries.push(entry);
    offset += entry.length;
  }
  return packOf(entries);
}

/**
 * Fills a pack with such blocks. Their number is limited, so the rest are files that are not
 * compressed.
 */
function withDynamicBlocks(bytes: number): Buffer {
  // Eight blocks of any length in bits end at the end of a byte.
  const eight = new DeflateWriter();
  for (let block = 0; block < 8; block++) dynamicBlock(eight);
  const unit = bodyOf(eight);
  const units = Array.from({ length: BLOCKS_PER_ENTRY / 8 }, () => unit);
  const length = 1 + BLOCKS_PER_ENTRY * MATCH_BYTES;
  const entry = blob(length, zlib([stored(Buffer.alloc(1), false), ...units, Buffer.from([3, 0])], length));
  const filler = blob(FILLER_BYTES, zlib([stored(Buffer.alloc(FILLER_BYTES), true)], FILLER_BYTES));
  const entries: Buffer[] = [];
  let blocks = 0;
  for (let offset = 0; offset < bytes;) {
    const allowed = FREE_DYNAMIC_BLOCKS + offset / PACK_BYTES_PER_DYNAMIC_BLOCK;
    const next = blocks + BLOCKS_PER_ENTRY <= allowed ? entry : filler;
    if (next === entry) blocks += BLOCKS_PER_ENTRY;
    entries.push(next);
    offset += next.length;
  }
  return packOf(entries);
}

/**
 * Writes a block in which all symbols have a code, and the code is written as short as possible.
 */
function dynamicBlock(writer: DeflateWriter): void {
  writer.dynamic(false, {
    literals: [...times(226, 8), ...times(60, 9)],
    distances: [...times(2, 4), ...times(28, 5)],
    codeLengths: Array.from({ length: 19 }, (_, symbol) =>
      symbol === 16 ? 1 : [4, 5, 8, 9].includes(symbol) ? 3 : 0,
    ),
    written: [
      8,
      ...repeat(...times(37, 6), 3),
      9,
      ...repeat(...times(9, 6), 5),
      4,
      4,
      5,
      ...repeat(...times(4, 6), 3),
    ],
  });
  writer.match(285, [0, 0], 0, [0, 0]).endOfBlock();
}

function times(count: number, length: number): number[] {
  return Array.from({ length: count }, () => length);
}

/** Writes code length symbols that repeat the length before them so often. */
function repeat(...counts: number[]) {
  return counts.map((count) => [16, count - 3] as const);
}

function emptyBlocks(): Buffer {
  const writer = new DeflateWriter();
  for (let block = 1; block < EMPTY_BLOCKS_PER_ENTRY; block++) writer.fixed(false).endOfBlock();
  return zlib([bodyOf(writer.fixed(true).endOfBlock())], 0);
}

/** Finishes a body without the header and the checksum of a zlib stream. */
function bodyOf(writer: DeflateWriter): Buffer {
  return Buffer.from(writer.zlib().subarray(2, -4));
}

function stored(content: Buffer, isLast: boolean): Buffer {
  const head = Buffer.from([isLast ? 1 : 0, 0, 0, 0, 0]);
  head.writeUInt16LE(content.length, 1);
  head.writeUInt16LE(0xffff - content.length, 3);
  return Buffer.concat([head, content]);
}

/** Makes a stream whose output is `zeros` zero bytes. */
function zlib(body: readonly Buffer[], zeros: number): Buffer {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt16BE(zeros % 65_521, 0);
  checksum.writeUInt16BE(1, 2);
  return Buffer.concat([Buffer.from([0x78, 0x9c]), ...body, checksum]);
}

function blob(size: number, stream: Buffer): Buffer {
  return Buffer.concat([sizeBytes(TYPE_NUMBERS.blob, size), stream]);
}

function full(bytes: number, entry: Buffer): Buffer {
  return packOf(Array.from({ length: Math.floor(bytes / entry.length) }, () => entry));
}

function packOf(entries: readonly Buffer[]): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  header.writeUInt32BE(entries.length, 8);
  const all = Buffer.concat([header, ...entries]);
  return Buffer.concat([all, createHash('sha1').update(all).digest()]);
}
