/** Reads the bodies of Git's requests, and bounds what a compressed one may inflate to. */
import type { Arrived, ChunkSource } from '../git/wire/byte-reader.ts';
import { gunzipped } from '../git/zlib/gunzip.ts';
import { type BodyLimits, chunksOf, LimitedSource } from './body.ts';
import { BodyError } from './body-error.ts';

/**
 * Recognizes both names of gzip (RFC 9110, 8.4.1.3). JGit compresses small pushes, and Git
 * compresses fetch requests of more than a kilobyte.
 */
export function isGzip(encoding: string): boolean {
  return /^(?:x-)?gzip$/i.test(encoding);
}

/**
 * Size to which every compressed body may inflate. All that JGit compresses by default is smaller.
 */
const FREE_INFLATED_BYTES = 1024 * 1024;

/** The count for a request without a body. */
const NOTHING_ARRIVED: Arrived = { bytes: 0 };

interface GitBodyLimits extends BodyLimits {
  /**
   * Maximum number of bytes to which each byte that arrived may inflate, besides the free 1 MiB.
   */
  readonly inflatedPerArrived: number;
}

/** Opens the body of a request, inflated if necessary. `maxBytes` limits both sizes. */
export function gitBody(request: Request, limits: GitBodyLimits): LimitedSource {
  const { headers, body } = request;
  const sent = chunksOf(body, { ...limits, of: request });
  if (!isGzip(headers.get('Content-Encoding') ?? '')) return sent;
  const inflated = gunzipped(sent, (cause) => new BodyError('damaged', cause));
  return new LimitedSource(withinRatio(inflated, limits.inflatedPerArrived), limits.maxBytes);
}

/**
 * Limits the ratio of inflation. `read` rejects once with BodyError `bomb`; after that, the rest
 * stays compressed.
 */
function withinRatio(source: ChunkSource, inflatedPerArrived: number): ChunkSource {
  const { arrived = NOTHING_ARRIVED } = source;
  let bytes = 0;
  let isOver = false;
  return {
    ...source,
    async read() {
      const chunk = await source.read();
      bytes += chunk?.byteLength ?? 0;
      if (isOver || bytes <= FREE_INFLATED_BYTES + inflatedPerArrived * arrived.bytes) return chunk;
      isOver = true;
      source.discard?.();
      throw new BodyError('bomb');
    },
  };
}
