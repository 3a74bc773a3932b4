/**
 * Worker in which the pack engine is measured. It holds one pack, and reads it on request.
 *
 * A Worker's clock stands still while it computes, so each kind of work is timed from outside, and
 * repeated until the cost of the request itself is negligible. Chunks have the size of a push's
 * reads.
 */
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { EntryHeaderReader } from '../../src/git/pack/entry-header.ts';
import { PackScanner } from '../../src/git/pack/pack-scanner.ts';

const CHUNK_BYTES = 256 * 1024;
const PACK_HEADER_BYTES = 12;
const TRAILER_BYTES = 20;

let pack: Uint8Array = new Uint8Array(0);

function* chunks(): Generator<Uint8Array> {
  for (let at = 0; at < pack.byteLength; at += CHUNK_BYTES) yield pack.subarray(at, at + CHUNK_BYTES);
}

/**
 * Does what every pack needs: finds the ends of its entries, keeps commits and tags, verifies its
 * checksum.
 */
function scan(): void {
  const scanner = new PackScanner();
  for (const chunk of chunks()) scanner.scan(chunk);
  scanner.finish();
}

/** Reads a pack with Node's means: inflates each entry. */
function inflateEach(): void {
  forEachEntry((start, header) => {
    const { buffer, engine } = inflateSync(pack.subarray(start), { info: true }) as unknown as {
      buffer: Uint8Array;
      engine: { bytesWritten: number };
    };
    if (buffer.byteLength !== header.size) throw new Error('the pack is damaged');
    return start + engine.bytesWritten;
  });
  createHash('sha1').update(pack.subarray(0, -TRAILER_BYTES)).digest();
}

/**
 * Reads all entries.
 * @param take reads the entry whose compressed bytes begin at `start`, and answers where they end.
 */
function forEachEntry(take: (start: number, header: EntryHeaderReader) => number): void {
  const header = new EntryHeaderReader();
  for (let at = PACK_HEADER_BYTES; at < pack.byteLength - TRAILER_BYTES;) {
    header.begin();
    while (!header.push(pack[at++] as number));
    at = take(at, header);
  }
}

const WORK: Readonly<Record<string, () => void>> = { scan, inflateEach };

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const name = pathname.slice(1);
    if (name === 'pack') {
      pack = new Uint8Array(await request.arrayBuffer());
      return new Response();
    }
    const work = WORK[name];
    if (work === undefined) return new Response(null, { status: 404 });
    for (let times = Number(searchParams.get('times')); times > 0; times--) work();
    return new Response();
  },
};
