/**
 * The Worker that bench/zlib-walker.ts measures: keeps one pack in memory and walks all of its
 * entries on request.
 *
 * A Worker's clock stands still while it computes, so each request repeats the work as often as it
 * is told, and is timed from outside.
 */
import { inflateSync } from 'node:zlib';
import { ZlibWalker } from '../src/git/zlib/zlib-walker.ts';

const TRAILER_BYTES = 20;
const OFS_DELTA = 6;
const REF_DELTA = 7;
/** A delta begins with the sizes of its base and its result. */
const DELTA_HEADER_BYTES = 20;
/** As read from a push's body. */
const CHUNK_BYTES = 262_144;

let pack = new Uint8Array(0);
const walker = new ZlibWalker();
const kept = new Uint8Array(1 << 20);

/**
 * The header of an entry, gitformat-pack §Object encoding. Fields, so that no object is allocated
 * for each entry.
 */
const entry = { type: 0, size: 0, at: 0 };

function readEntryHeader(at: number): void {
  let byte = pack[at++]!;
  entry.type = (byte >>> 4) & 7;
  entry.size = byte & 15;
  for (let factor = 16; byte & 0x80; factor *= 128) {
    byte = pack[at++]!;
    entry.size += (byte & 0x7f) * factor;
  }
  if (entry.type === OFS_DELTA) while (pack[at++]! & 0x80);
  if (entry.type === REF_DELTA) at += 20;
  entry.at = at;
}

/**
 * Counts what passes through, keeps commits, tags and the beginnings of deltas: what a push needs.
 */
function walkWhatAPushNeeds(): number {
  return walkEntries((type, size) => {
    if (type >= OFS_DELTA) return Math.min(size, DELTA_HEADER_BYTES);
    return type === 1 || type === 4 ? size : 0;
  });
}

function walkEntries(keepBytes: (type: number, size: number) => number): number {
  let entries = 0;
  for (let at = 12; at < pack.length - TRAILER_BYTES; entries++) {
    readEntryHeader(at);
    walker.begin(entry.size, kept, keepBytes(entry.type, entry.size));
    at = entry.at;
    while (!walker.done) {
      const chunkEnd = Math.min(pack.length, at + CHUNK_BYTES - (at % CHUNK_BYTES));
      at = walker.walk(pack, at, chunkEnd);
    }
  }
  return entries;
}

function inflateEntries(): number {
  let entries = 0;
  for (let at = 12; at < pack.length - TRAILER_BYTES; entries++) {
    readEntryHeader(at);
    const { buffer, engine } = inflateSync(pack.subarray(entry.at), { info: true }) as unknown as {
      buffer: Uint8Array;
      engine: { bytesWritten: number };
    };
    if (buffer.length !== entry.size) throw new Error('the pack is damaged');
    at = entry.at + engine.bytesWritten;
  }
  return entries;
}

const WORK: Record<string, () => number> = {
  push: walkWhatAPushNeeds,
  count: () => walkEntries(() => 0),
  keep: () => walkEntries((_, size) => (size <= kept.length ? size : 0)),
  inflate: inflateEntries,
};

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method === 'POST') {
      pack = new Uint8Array(await request.arrayBuffer());
      return new Response(`${WORK['count']!()}`);
    }
    const work = WORK[pathname.slice(1)];
    if (work === undefined) return new Response(null, { status: 404 });
    for (let times = Number(searchParams.get('times')); times > 0; times--) work();
    return new Response();
  },
};
