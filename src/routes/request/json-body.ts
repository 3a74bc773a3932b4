/** Reads the JSON body of a request, within bounds. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { ByteReader } from '../../git/byte-reader.ts';
import { BodyError, chunksOf, drain } from '../../streams.ts';

/** Room for the longest comment that the host takes, with every character escaped. */
const MAX_JSON_BYTES = 512 * 1024;

/**
 * The object in the request's body. `invalid`: it cannot be parsed, or is not a JSON object (contract, section 7:
 * "invalid payload"). Bytes that are not UTF-8 are invalid, too. Cost: the body once, in memory.
 * @throws BodyError `too-large` over 512 KiB, `timeout` when the client stalls.
 */
export async function readJsonObject(
  c: Context<AppEnv>,
): Promise<{ kind: 'object'; value: Record<string, unknown> } | { kind: 'invalid' }> {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
  const limits = { maxBytes: MAX_JSON_BYTES, timeoutMs: c.var.config.readTimeoutMs };
  const chunks = chunksOf(c.req.raw.body, limits);
  let json = '';
  try {
    for (let chunk = await chunks.read(); chunk !== null; chunk = await chunks.read()) {
      json += text.decode(chunk, { stream: true });
      chunks.recycle?.();
    }
    const value: unknown = JSON.parse(json + text.decode());
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { kind: 'invalid' };
    return { kind: 'object', value: value as Record<string, unknown> };
  } catch (error) {
    // The rest is read anyway: a client that cannot send it never reads the answer.
    await drain(new ByteReader(chunks), 'end');
    if (error instanceof BodyError) throw error;
    return { kind: 'invalid' };
  }
}

/** The answer if the body did not arrive completely. */
export function bodyRefusal(c: Context<AppEnv>, { code }: BodyError): Response {
  if (code === 'too-large') return c.json({ error: 'request body too large' }, 413);
  if (code === 'timeout')
    return c.json({ error: 'the request body did not arrive in time; send it again' }, 408);
  return c.json({ error: 'the request body did not arrive completely; send it again' }, 400);
}
