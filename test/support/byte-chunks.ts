/**
 * The same bytes in every shape a network may give them: units that read streams are fed with all
 * of these.
 */
import { ByteReader, type ChunkSource } from '../../src/git/wire/byte-reader.ts';

/** Pieces of `size` bytes; the last one may be shorter. */
export function piecesOf(bytes: Uint8Array, size: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.byteLength; at += size) pieces.push(bytes.slice(at, at + size));
  return pieces;
}

/** Pieces of 1 to 64 bytes; the same seed gives the same pieces. */
export function randomPieces(bytes: Uint8Array, seed = 1): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let state = seed;
  for (let at = 0; at < bytes.byteLength;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const size = 1 + (Math.floor(state / 65_536) % 64);
    pieces.push(bytes.slice(at, at + size));
    at += size;
  }
  return pieces;
}

export const CHUNKINGS: readonly (readonly [name: string, cut: (bytes: Uint8Array) => Uint8Array[]])[] = [
  ['one byte', (bytes) => piecesOf(bytes, 1)],
  ['seven bytes', (bytes) => piecesOf(bytes, 7)],
  ['random', (bytes) => randomPieces(bytes)],
  ['whole', (bytes) => piecesOf(bytes, Math.max(1, bytes.byteLength))],
];

/** A source that notes whether it was cancelled. */
export class PiecesSource implements ChunkSource {
  cancelled = false;
  readonly #pieces: Uint8Array[];

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = [...pieces];
  }

  async read(): Promise<Uint8Array | null> {
    return this.#pieces.shift() ?? null;
  }

  async cancel(): Promise<void> {
    this.cancelled = true;
  }
}

export function readerOf(pieces: readonly Uint8Array[]): ByteReader {
  return new ByteReader(new PiecesSource(pieces));
}

/** A reader of a text or of bytes, in one chunk. */
export function readerOfWhole(content: string | Uint8Array): ByteReader {
  return readerOf([typeof content === 'string' ? Buffer.from(content, 'latin1') : content]);
}

/** All that is left to read. */
export async function restOf(reader: ByteReader): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let chunk = await reader.nextChunk(); chunk !== null; chunk = await reader.nextChunk())
    pieces.push(chunk);
  return Buffer.concat(pieces);
}
