/** Reads bodies that are texts: forms and JSON. */
import { systemClock } from '../isolate/clock.ts';
import { bodiesMemory, type MemoryHold } from '../isolate/memory-budget.ts';
import { type BodyLimits, chunksOf, discardBody } from './body.ts';

/**
 * Limits of a text. The time limit is for the whole body, as the contract demands of READ_TIMEOUT
 * (section 1).
 */
interface TextLimits extends Omit<BodyLimits, 'pace'> {
  /** Rejects text that is not UTF-8, with TypeError. By default, it is replaced. */
  readonly isStrict?: true;
  /**
   * Counts the body once it has arrived. Without it, the body may have no more than
   * `UNCOUNTED_BYTES`.
   */
  readonly memory?: MemoryHold;
}

/**
 * Size of a body that is not counted, because the buffer of its connection is as large. So a short
 * request never waits for the memory of others.
 */
export const UNCOUNTED_BYTES = 16 * 1024;
/** Copies of a text in memory: as it was sent, as fields, as lines, and in the page. */
const TEXT_COPIES = 4;
/** Work for each byte: reading a text as Markdown costs as much as searching so many bytes. */
const TEXT_WORK = 64;

/**
 * Reads the whole body as text. It is not inflated. Memory is counted for bytes that have arrived,
 * not for an announced length, so that nobody takes memory by a promise.
 * @throws BodyError, HostError `busy`, and TypeError if `isStrict`; each after the rest was
 * discarded, because a client that cannot send never reads the answer.
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
