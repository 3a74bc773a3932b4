/**
 * Reads bodies within limits of size and time: BYOB reads, ten times faster than the default ones
 * of 4 KiB.
 */
import { type Arrived, ByteReader, type ChunkSource, sourceOf } from '../git/wire/byte-reader.ts';
import { gunzipped } from '../git/zlib/gunzip.ts';
import { systemClock } from '../isolate/clock.ts';
import { bodiesMemory, type MemoryHold } from '../isolate/memory-budget.ts';
import { within } from '../isolate/within.ts';
import { isolate } from '../metrics/isolate.ts';
import { BodyError } from './body-error.ts';
import { openBodies } from './open-bodies.ts';

const READ_BYTES = 64 * 1024;
/**
 * A sender of small chunks, or of nothing yet, takes little memory: each chunk is smaller than
 * this.
 */
const SLOW_READ_BYTES = 16 * 1024;
/** A chunk is handed on when it is full, or after this time. */
const CHUNK_MS = 1_000;

export interface BodyLimits {
  readonly maxBytes: number;
  /** How long to wait for the next bytes; time in which nobody reads does not count. */
  readonly timeoutMs: number;
  /**
   * `any`: it may pause for long. `whole`: the time is for all waits together. Default: `steady`,
   * see Pace.
   */
  readonly pace?: 'steady' | 'any' | 'whole';
  /** The request whose body it is. */
  readonly of?: Request;
}

export interface LimitedSource extends ChunkSource {
  /** Whether the body has passed its limit. */
  readonly isOverLimit: boolean;
}

/**
 * What `source` gives, up to a limit; beyond it, or that of the source, `read` rejects with
 * BodyError `too-large`.
 */
export function limited(source: ChunkSource, maxBytes: number): LimitedSource {
  let bytesLeft = maxBytes;
  let isOverLimit = false;
  return {
    ...source,
    get isOverLimit() {
      return isOverLimit;
    },
    async read() {
      try {
        const chunk = await source.read();
        bytesLeft -= chunk?.byteLength ?? 0;
        // Throw once: a caller that reads on discards the rest.
        if (bytesLeft >= 0 || isOverLimit) return chunk;
        throw new BodyError('too-large');
      } catch (error) {
        isOverLimit ||= error instanceof BodyError && error.code === 'too-large';
        throw error;
      }
    },
  };
}

/**
 * The chunks of a body. Their buffers are reused: V8 is slow to notice garbage outside its heap.
 * Throws BodyError.
 */
export function chunksOf(body: ReadableStream<Uint8Array> | null, limits: BodyLimits): LimitedSource {
  return limited(body === null ? sourceOf() : patientSource(body, limits), limits.maxBytes);
}

function patientSource(body: ReadableStream<Uint8Array>, limits: BodyLimits): ChunkSource {
  const { timeoutMs, pace = 'steady', of } = limits;
  const ended = (): void => of && openBodies.end(of);
  const reader = body.getReader({ mode: 'byob' });
  const steadyPace = pace === 'steady' ? new Pace(timeoutMs) : null;
  let lastChunk: Uint8Array<ArrayBuffer> | null = null;
  let freeBuffer: ArrayBuffer | null = null;
  let hasEnded = false;
  let isFast = false;
  let leftMs = timeoutMs;
  const arrived = { bytes: 0 };
  /** An abandoned body cannot be read again: one read is still waiting for bytes. */
  let failure: BodyError | null = null;

  /**
   * Reads behind `filled` bytes: how many came, 0 at the end, and the memory, which a read
   * transfers.
   */
  async function readMore(buffer: ArrayBuffer, filled: number) {
    const startedAt = Date.now();
    const view = new Uint8Array(buffer, filled);
    // Each read leaves garbage, so of a fast sender it waits for more, but no more than the slowest
    // sends in time.
    const longBytes = Math.min(Math.floor(timeoutMs * SLOWEST_BYTES_PER_MS), view.byteLength);
    const reading = isFast ? reader.readAtLeast(Math.max(1, longBytes), view) : reader.read(view);
    // A line that was silent for nearly as long as it may be, and then crawls as it may, has not
    // sent so much at once.
    const waitMs = leftMs + (isFast ? longBytes / SLOWEST_BYTES_PER_MS : 0);
    const { value } = await within(waitMs, reading, () => new BodyError('timeout')).catch(
      (error: unknown) => {
        throw error instanceof BodyError ? error : new BodyError('aborted', error);
      },
    );
    const bytes = value?.byteLength ?? 0;
    const waitedMs = Date.now() - startedAt;
    if (pace === 'whole') leftMs -= waitedMs;
    if (bytes > 0 && steadyPace?.keepsUp(waitedMs, bytes) === false) throw new BodyError('timeout');
    return { bytes, moved: value?.buffer };
  }

  /**
   * A full chunk, or less at the end of the body or from a slow sender; null if there is nothing.
   */
  async function readChunk(): Promise<Uint8Array<ArrayBuffer> | null> {
    const size = (lastChunk?.byteLength ?? 0) < SLOW_READ_BYTES ? SLOW_READ_BYTES : READ_BYTES;
    let buffer = freeBuffer?.byteLength === size ? freeBuffer : new ArrayBuffer(size);
    freeBuffer = null;
    const startedAt = Date.now();
    let filled = 0;
    // The beginning of a body (commands, sections) is worth reading before more arrives.
    const fullAt = lastChunk === null ? 1 : size;
    // Several short reads, not a single one for all bytes, because the time limit is for each read.
    while (filled < fullAt && !hasEnded && (filled === 0 || Date.now() - startedAt < CHUNK_MS)) {
      const { bytes, moved } = await readMore(buffer, filled);
      // A body that was cancelled keeps the memory.
      if (moved === undefined) return null;
      buffer = moved;
      filled += bytes;
      hasEnded = bytes === 0;
    }
    isFast = filled === READ_BYTES && steadyPace !== null && Date.now() - startedAt < CHUNK_MS;
    return filled === 0 ? null : new Uint8Array(buffer, 0, filled);
  }

  return {
    arrived,
    async read() {
      if (failure !== null) throw failure;
      if (hasEnded) return null;
      const chunk = await readChunk().catch((error: BodyError) => {
        failure = error;
        ended();
        throw error;
      });
      if (hasEnded || chunk === null) ended();
      else if (of !== undefined) openBodies.read(of, Date.now());
      if (chunk === null) return null;
      lastChunk = chunk;
      arrived.bytes += chunk.byteLength;
      isolate.buffered(chunk.buffer);
      return chunk;
    },
    recycle() {
      if (lastChunk !== null) isolate.reusing(lastChunk.buffer);
      freeBuffer = lastChunk?.buffer ?? null;
    },
    async cancel() {
      ended();
      // A broken body cannot be cancelled, and need not be.
      await reader.cancel().catch(() => {});
    },
  };
}

/**
 * More than a client usually still has in flight when the answer is ready. A client that sends more
 * is cut off.
 */
const MAX_DRAINED_BYTES = 128 * 1024 * 1024;
/** No client that is still sending is silent for so long. */
const ANSWERED_PATIENCE_MS = 1_000;

/**
 * Reads and discards what a client still sends, which would show a broken pipe instead of our
 * answer. Never rejects.
 * @param until `limit`: up to the body's limit, so that the caller can answer. `end`: the client
 * has the answer.
 */
export async function drain(reader: ByteReader, until: 'limit' | 'end' = 'limit'): Promise<void> {
  for (let left = MAX_DRAINED_BYTES; left > 0;) {
    try {
      const reading = reader.nextChunk();
      const chunk = await (until === 'end' ? within(ANSWERED_PATIENCE_MS, reading) : reading);
      if (chunk === null) return;
      left -= chunk.byteLength;
      reader.recycle();
    } catch (error) {
      if (!(error instanceof BodyError && error.code === 'too-large')) break;
      if (until === 'limit') return;
    }
  }
  await reader.cancel();
}

/** Reads what a client still sends, and keeps nothing of it. Never rejects. */
export async function discardBody(body: ChunkSource): Promise<void> {
  await drain(new ByteReader(body), 'end');
}

/**
 * Both names of gzip (RFC 9110, 8.4.1.3). JGit compresses small pushes, and Git a fetch of more
 * than a kilobyte.
 */
export function isGzip(encoding: string): boolean {
  return /^(?:x-)?gzip$/i.test(encoding);
}

/** Every compressed body may inflate to this: all that JGit compresses by default is smaller. */
const FREE_INFLATED_BYTES = 1024 * 1024;

/** Of a request without a body. */
const NOTHING_ARRIVED: Arrived = { bytes: 0 };

export interface GitBodyLimits extends BodyLimits {
  /** To how many bytes a compressed body may inflate for each one that arrived, besides 1 MiB. */
  readonly inflatedPerArrived: number;
}

/** The body of a request of Git, inflated if necessary. `maxBytes` applies before and after. */
export function gitBody(request: Request, limits: GitBodyLimits): LimitedSource {
  const { headers, body } = request;
  const sent = chunksOf(body, { ...limits, of: request });
  if (!isGzip(headers.get('Content-Encoding') ?? '')) return sent;
  const inflated = gunzipped(sent, (cause) => new BodyError('damaged', cause));
  return limited(paidFor(inflated, limits.inflatedPerArrived), limits.maxBytes);
}

/**
 * Limits an inflated body. `read` rejects once with BodyError `bomb`; the rest stays compressed.
 */
function paidFor(source: ChunkSource, inflatedPerArrived: number): ChunkSource {
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

/** The time is for the whole body: READ_TIMEOUT, as the contract has it (section 1). */
interface TextLimits extends Omit<BodyLimits, 'pace'> {
  /** Rejects what is not UTF-8, with TypeError. Default: replaces it. */
  readonly isStrict?: true;
  /** Where the body counts once it is there. Without it: no longer than `UNCOUNTED_BYTES`. */
  readonly memory?: MemoryHold;
}

/**
 * What each connection's buffer has room for. So a short request never waits for the memory of
 * others.
 */
export const UNCOUNTED_BYTES = 16 * 1024;
/** A text in memory: as it was sent, as fields, as lines, and in the page. */
const TEXT_COPIES = 4;
/** To read a text as Markdown costs as much as to search so many bytes for each of it. */
const TEXT_WORK = 64;

/**
 * The whole body as text, not inflated. What has arrived counts, not what is announced, so nobody
 * takes memory by a promise.
 * @throws BodyError; HostError `busy`, after the rest: a client that cannot send never reads the
 * answer.
 */
export async function bodyText(request: Request, limits: TextLimits): Promise<string> {
  const { isStrict = false, memory } = limits;
  const arriving = memory && bodiesMemory.open(systemClock, memory.client);
  const claim = arriving?.claim();
  const decoder = new TextDecoder('utf-8', { fatal: isStrict, ignoreBOM: false });
  const chunks = chunksOf(request.body, { ...limits, of: request, pace: 'whole' });
  let text = '';
  let bytes = 0;
  try {
    for (let chunk = await chunks.read(); chunk !== null; chunk = await chunks.read()) {
      bytes += chunk.byteLength;
      if (bytes > UNCOUNTED_BYTES) await claim?.set(TEXT_COPIES * bytes);
      text += decoder.decode(chunk, { stream: true });
      chunks.recycle?.();
    }
    if (bytes > UNCOUNTED_BYTES) await memory?.claim().set(TEXT_COPIES * bytes);
    await memory?.worked(TEXT_WORK * bytes);
    return text + decoder.decode();
  } catch (error) {
    await discardBody(chunks);
    throw error;
  } finally {
    arriving?.end();
  }
}

const MINUTE_MS = 60_000;
const SLOWEST_BYTES_PER_MS = 1024 / 1000;
const PATIENCE_MS = 5 * MINUTE_MS;
/** What a line gives that is slow, and honest. */
const PATIENT_BYTES_PER_MS = 8 * SLOWEST_BYTES_PER_MS;

/**
 * How slowly a body may come: at least 1 KiB a second over each minute of waiting, which stops a
 * sender of a byte now and then; and within five minutes beyond what 8 KiB a second would take,
 * which stops one that crawls on purpose to keep a connection and its memory. A slow line is not
 * given up: 15 KB a second, or Tor's 20 to 50, take 100 MB to their end. Only waiting counts: a
 * slow receiver on our side makes no sender look slow.
 */
export class Pace {
  readonly #windowMs: number;
  #waitedMs = 0;
  #bytes = 0;
  readonly #patienceMs: number;
  #patienceLeftMs: number;

  /**
   * @param longestWaitMs if more than a minute, the pace is measured over it, and the patience
   * lasts for it.
   */
  constructor(longestWaitMs: number) {
    this.#windowMs = Math.max(MINUTE_MS, longestWaitMs);
    this.#patienceMs = Math.max(PATIENCE_MS, longestWaitMs);
    this.#patienceLeftMs = this.#patienceMs;
  }

  /** Counts one wait and what it brought; false if the sender is too slow. */
  keepsUp(waitedMs: number, bytes: number): boolean {
    const leftMs = this.#patienceLeftMs - waitedMs + bytes / PATIENT_BYTES_PER_MS;
    this.#patienceLeftMs = Math.min(this.#patienceMs, leftMs);
    this.#waitedMs += waitedMs;
    this.#bytes += bytes;
    if (leftMs < 0) return false;
    if (this.#waitedMs < this.#windowMs) return true;
    const isFastEnough = this.#bytes >= this.#waitedMs * SLOWEST_BYTES_PER_MS;
    this.#waitedMs = 0;
    this.#bytes = 0;
    return isFastEnough;
  }
}
