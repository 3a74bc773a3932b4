/**
 * Inflates a gzip body while it is read (RFC 1952: one or several members, followed by nothing but
 * zeros). It uses node:zlib, which stops while its output waits. DecompressionStream of workerd
 * inflates all input at once, even if nobody reads. V8 lets some 60 MB of node:zlib's buffers
 * accumulate before it collects them (measured).
 */
import { createGunzip, type Gunzip } from 'node:zlib';
import type { ChunkSource } from '../wire/byte-reader.ts';

const CHUNK_BYTES = 64 * 1024;

/**
 * Wraps a source. `read` rejects with the source's error, or with `damaged` if the data is. After
 * that, and after `discard`, it returns the rest of the source as it is.
 */
export function gunzipped(source: ChunkSource, damaged: (cause: unknown) => Error): ChunkSource {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // The reader gets the error from the iterator. An `error` event without a listener would end the
  // isolate.
  gunzip.on('error', () => {});
  const inflated: AsyncIterator<Uint8Array> = gunzip[Symbol.asyncIterator]();
  let feeding: Promise<void> | null = null;
  let isOver = false;
  let sourceError: unknown;

  return {
    ...(source.arrived && { arrived: source.arrived }),
    async read() {
      // Wait for feeding to end, so that only one of the two reads from the source.
      if (isOver) {
        await feeding;
        return source.read();
      }
      feeding ??= feed(gunzip, source).catch((error: unknown) => {
        sourceError = error;
        gunzip.destroy(error as Error);
      });
      try {
        const { done, value } = await inflated.next();
        return done === true ? null : value;
      } catch (error) {
        isOver = true;
        throw error === sourceError ? error : damaged(error);
      }
    },
    discard() {
      isOver = true;
      gunzip.destroy();
    },
    async cancel() {
      isOver = true;
      gunzip.destroy();
      await source.cancel();
    },
  };
}

/** Writes the source into gunzip, as fast as that takes it. Rejects with the source's error. */
async function feed(gunzip: Gunzip, source: ChunkSource): Promise<void> {
  const closed = new Promise<void>((resolve) => gunzip.once('close', () => resolve()));
  for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) {
    const piece = chunk;
    const written = new Promise<void>((resolve) => gunzip.write(piece, () => resolve()));
    await Promise.race([written, closed]);
    if (gunzip.destroyed) return;
    source.recycle?.();
  }
  gunzip.end();
}
