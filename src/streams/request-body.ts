/** The one reader of the bodies of requests: within limits of size and time, inflated where Git compresses them. */
import { gunzipped } from '../git/zlib/gunzip.ts';
import { ByteReader, type ChunkSource } from '../git/wire/byte-reader.ts';
import { BodyError, type BodyLimits, chunksOf, drain, limited, type LimitedSource } from './body.ts';

/**
 * Both names of gzip (RFC 9110, 8.4.1.3). JGit compresses a push of less than a megabyte, and Git a fetch of more than
 * one kilobyte.
 */
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
  /** Called before a chunk of this size is kept; the reading ends with what it rejects with. */
  readonly makeRoom?: (bytes: number) => Promise<void>;
}

/**
 * The whole body as text; a compressed one is not inflated. Cost: the body once, in memory.
 * @throws BodyError if it does not arrive, or is too large. The rest has been read then, because a client that cannot
 * send it never reads the answer.
 */
export async function bodyText({ body }: Request, limits: TextLimits): Promise<string> {
  const { isStrict = false, makeRoom } = limits;
  const decoder = new TextDecoder('utf-8', { fatal: isStrict, ignoreBOM: false });
  const chunks = chunksOf(body, { ...limits, pace: 'whole' });
  let text = '';
  try {
    for (let chunk = await chunks.read(); chunk !== null; chunk = await chunks.read()) {
      await makeRoom?.(chunk.byteLength);
      text += decoder.decode(chunk, { stream: true });
      chunks.recycle?.();
    }
    return text + decoder.decode();
  } catch (error) {
    await discardBody(chunks);
    throw error;
  }
}

/** Reads what a client still sends, and keeps nothing of it. Never rejects. */
export async function discardBody(body: ChunkSource): Promise<void> {
  await drain(new ByteReader(body), 'end');
}
