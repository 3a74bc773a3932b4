/** Reads the JSON body of a request, within bounds. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { BodyError } from '../../streams/body.ts';
import { bodyText } from '../../streams/request-body.ts';
import { type Refused, refused } from './refused.ts';

/** Room for the longest comment that the host takes, with every character escaped. */
const MAX_JSON_BYTES = 512 * 1024;

export type JsonBody =
  { readonly kind: 'object'; readonly value: Record<string, unknown> } | { readonly kind: 'invalid' };

/**
 * The object in the request's body. `invalid`: it cannot be parsed, or is not a JSON object (contract, section 7:
 * "invalid payload"). Bytes that are not UTF-8 are invalid, too. Cost: the body once, in memory.
 * @throws BodyError `too-large` over 512 KiB, `timeout` when the client stalls.
 */
export async function readJsonObject(c: Context<AppEnv>): Promise<JsonBody> {
  const limits = { maxBytes: MAX_JSON_BYTES, timeoutMs: c.var.config.readTimeoutMs, isStrict: true } as const;
  try {
    const value: unknown = JSON.parse(await bodyText(c.req.raw, limits));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { kind: 'invalid' };
    return { kind: 'object', value: value as Record<string, unknown> };
  } catch (error) {
    if (error instanceof BodyError) throw error;
    return { kind: 'invalid' };
  }
}

export const INVALID_PAYLOAD = refused(400, 'invalid payload', {}, 'invalid-payload');

/** If the body did not arrive completely. */
export function bodyRefused({ code }: BodyError): Refused {
  if (code === 'too-large') return refused(413, 'request body too large');
  if (code === 'timeout') return refused(408, 'the request body did not arrive in time; send it again');
  return refused(400, 'the request body did not arrive completely; send it again', {}, 'body-incomplete');
}
