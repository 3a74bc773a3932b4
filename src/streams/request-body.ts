/** The one reader of the bodies of requests: within limits of size and time, inflated where Git compresses them. */
import { gunzipped } from '../git/zlib/gunzip.ts';
import { ByteReader, type ChunkSource } from '../git/wire/byte-reader.ts';
import { systemClock } from '../isolate/clock.ts';
import { bodiesMemory, type MemoryHold } from '../isolate/memory-budget.ts';
import { BodyError } from './body-error.ts';
import { type BodyLimits, chunksOf, drain, limited, type LimitedSource } from './body.ts';

/** Both names of gzip (RFC 9110, 8.4.1.3). JGit compresses small pushes, and Git a fetch of more than a kilobyte. */
export function isGzip(encoding: string): boolean {
  return /^(?:x-)?gzip$/i.test(encoding);
}

/** The body of a request of Git, inflated if necessary. The limit applies before and after inflating. */
export function gitBody({ headers, body }: Request, limits: BodyLimits): LimitedSource {
  const sent = chunksOf(body, limits);
  const isCompressed = isGzip(headers.get('Content-Encoding') ?? '');
  if (!isCompressed) return sent;
  const inflated = gunzipped(sent, (cause) => new BodyError('damaged', cause));
  return limited(inflated, limits.maxBytes);
}

/** The time is for the whole body: READ_TIMEOUT, as the contract has it (section 1). */
export interface TextLimits extends Omit<BodyLimits, 'pace'> {
  /** Rejects what is not UTF-8, with TypeError. Default: replaces it. */
  readonly isStrict?: true;
  /** Where the body counts once it is there. Without it: no longer than `UNCOUNTED_BYTES`. */
  readonly memory?: MemoryHold;
}

/** What each connection's buffer has room for. So a short request never waits for the memory of others. */
export const UNCOUNTED_BYTES = 16 * 1024;
/** A text in memory: as it was sent, as fields, as lines, and in the page. */
const TEXT_COPIES = 4;

/**
 * The whole body as text; a compressed one is not inflated. What has arrived counts among all bodies, and then in the
 * memory of the request; what is only announced does not, so nobody takes memory by promising a body.
 * @throws BodyError if it does not arrive, or is too large; HostError `busy`. The rest has been read then, because a
 * client that cannot send it never reads the answer.
 */
export async function bodyText({ body }: Request, limits: TextLimits): Promise<string> {
  const { isStrict = false, memory } = limits;
  const arriving = memory && bodiesMemory.open(systemClock, memory.client);
  const share = arriving?.share();
  const decoder = new TextDecoder('utf-8', { fatal: isStrict, ignoreBOM: false });
  const chunks = chunksOf(body, { ...limits, pace: 'whole' });
  let text = '';
  let bytes = 0;
  try {
    for (let chunk = await chunks.read(); chunk !== null; chunk = await chunks.read()) {
      bytes += chunk.byteLength;
      if (bytes > UNCOUNTED_BYTES) await share?.set(TEXT_COPIES * bytes);
      text += decoder.decode(chunk, { stream: true });
      chunks.recycle?.();
    }
    if (bytes > UNCOUNTED_BYTES) await memory?.share().set(TEXT_COPIES * bytes);
    return text + decoder.decode();
  } catch (error) {
    await discardBody(chunks);
    throw error;
  } finally {
    arriving?.end();
  }
}

/** Reads what a client still sends, and keeps nothing of it. Never rejects. */
export async function discardBody(body: ChunkSource): Promise<void> {
  await drain(new ByteReader(body), 'end');
}
