/** The walker and zlib itself side by side: the same question to both. */
import { inflateSync } from 'node:zlib';
import { ProtocolError } from '../../../src/git/wire/protocol-error.ts';
import type { ZlibWalker } from '../../../src/git/zlib/zlib-walker.ts';

export type Outcome =
  | { readonly ends: true; readonly consumed: number; readonly produced: number; readonly kept: Uint8Array }
  | { readonly ends: false; readonly reason: string };

/** The outcome for a stream that is cut off. */
export const TRUNCATED = 'the stream goes on';

const GUARD = 0xa5;

export interface Walk {
  readonly inflatedBytes: number;
  /** Default: none. */
  readonly keepBytes?: number;
  /** Bytes of each piece that the walker is given, in turn; default: all at once. */
  readonly chunkBytes?: readonly number[];
}

/** Walks `stream`; throws when the walker does what no stream may bring about. */
export function walk(walker: ZlibWalker, stream: Uint8Array, options: Walk): Outcome {
  const { keepBytes = 0 } = options;
  const output = new Uint8Array(keepBytes + 300).fill(GUARD);
  const outcome = walkInto(walker, stream, options, output);
  if (output.subarray(keepBytes).some((byte) => byte !== GUARD)) throw new Error('wrote behind keepBytes');
  return outcome;
}

function walkInto(walker: ZlibWalker, stream: Uint8Array, options: Walk, output: Uint8Array): Outcome {
  const { inflatedBytes, keepBytes = 0 } = options;
  const begin = () => walker.begin(inflatedBytes, output, keepBytes);
  return walkFrom(walker, stream, options, begin, () => output.subarray(0, keepBytes));
}

/**
 * Walks `stream` with all its output passed on, as it is inflated; the pieces together are what is
 * kept.
 */
export function walkContent(walker: ZlibWalker, stream: Uint8Array, options: Walk): Outcome {
  const pieces: Uint8Array[] = [];
  const sink = (bytes: Uint8Array) => {
    if (bytes.length === 0 || bytes.length > 98_304 + 258)
      throw new Error(`a piece of ${bytes.length} bytes`);
    pieces.push(bytes.slice());
  };
  const begin = () => walker.beginContent(options.inflatedBytes, sink);
  return walkFrom(walker, stream, options, begin, () => new Uint8Array(Buffer.concat(pieces)));
}

function walkFrom(
  walker: ZlibWalker,
  stream: Uint8Array,
  { chunkBytes = [stream.length + 1] }: Walk,
  begin: () => void,
  kept: () => Uint8Array,
): Outcome {
  let consumed = 0;
  try {
    begin();
    for (let turn = 0; consumed < stream.length && !walker.done; turn++) {
      const size = Math.min(chunkBytes[turn % chunkBytes.length]!, stream.length - consumed);
      // Own memory for each piece: what lies behind it must not be seen.
      const chunk = stream.slice(consumed, consumed + size);
      const index = walker.walk(chunk, 0, size);
      if (index < 0 || index > size) throw new Error(`index ${index} of ${size}`);
      if (index < size && !walker.done) throw new Error('stopped within a chunk');
      consumed += index;
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    if (error.code !== 'bad-pack') throw new Error(`code ${error.code}`, { cause: error });
    return { ends: false, reason: error.message };
  }
  if (!walker.done) return { ends: false, reason: TRUNCATED };
  return { ends: true, consumed, produced: walker.produced, kept: kept() };
}

/**
 * Asks zlib about the same bytes, all of the content kept. It has a window of its own, as git has
 * it: with the header's, a distance beyond it is refused or not by how the output happens to be
 * cut.
 */
export function inflate(stream: Uint8Array): Outcome {
  try {
    const { buffer, engine } = inflateSync(stream, { info: true, windowBits: 15 }) as unknown as {
      buffer: Uint8Array;
      engine: { bytesWritten: number };
    };
    return { ends: true, consumed: engine.bytesWritten, produced: buffer.length, kept: buffer };
  } catch (error) {
    return { ends: false, reason: (error as Error).message };
  }
}
