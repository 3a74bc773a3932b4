/** Packs as the search for names gets them: without commits and tags, header and trailer. */
import { inflateSync } from 'node:zlib';
import type { StoredPack } from '../../src/git/pack/entry-walker.ts';
import { randomPieces } from './byte-chunks.ts';

const HEADER_BYTES = 12;
const TRAILER_BYTES = 20;
const COMMIT = 1;
const TAG = 4;
const REF_DELTA = 7;
const OFS_DELTA = 6;

/** Stores a pack whose commits and tags are whole and come before all others, as Git sends them. */
export function filesOnly(pack: Uint8Array, seed: number | null = null, maxReads = Infinity): StoredPack {
  let first = HEADER_BYTES;
  const end = pack.length - TRAILER_BYTES;
  for (; first < end; first = endOf(pack, first)) if (![COMMIT, TAG].includes(typeAt(pack, first))) break;
  const entries = pack.subarray(first, end);
  return {
    byteLength: entries.length,
    maxReads,
    async *read(start) {
      const bytes = entries.subarray(start);
      yield* seed === null ? [bytes] : randomPieces(bytes, seed);
    },
  };
}

const typeAt = (pack: Uint8Array, at: number): number => ((pack[at] as number) >> 4) & 7;

function endOf(pack: Uint8Array, start: number): number {
  let at = start;
  while ((pack[at++] as number) >= 0x80);
  if (typeAt(pack, start) === REF_DELTA) at += 20;
  if (typeAt(pack, start) === OFS_DELTA) while ((pack[at++] as number) >= 0x80);
  const { engine } = inflateSync(pack.subarray(at), { info: true }) as unknown as {
    engine: { bytesWritten: number };
  };
  return at + engine.bytesWritten;
}
