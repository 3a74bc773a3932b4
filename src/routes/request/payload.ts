/**
 * Reads what a request sends: the JSON of an endpoint, checked against its schema, or a form that
 * buttons send.
 * Proved by test/routes/threads/comments.test.ts and test/routes/moderation/moderation.test.ts.
 */
import type { Context } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { type FormFields, parseFormFields } from './form-fields.ts';
import { HostError } from '../../words/host-error.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import { BodyError } from '../../streams/body-error.ts';
import { bodyText, UNCOUNTED_BYTES } from '../../streams/body-text.ts';
import { BUSY, invalidField, type Refused, refused } from './refused.ts';

/** Enough for the longest comment that the host takes, with every character escaped. */
const MAX_JSON_BYTES = 512 * 1024;

const INVALID_PAYLOAD = refused(400, 'invalid payload', {}, 'invalid-payload');

/**
 * Refuses a content type that a page of another site can make its readers send without their
 * browsers asking us first.
 */
const FOREIGN = refused(403, 'a page of another site must send this as application/json');
const NOT_ALLOWED = refused(403, 'a page of this site may not post here');

type Payload<T> = { readonly kind: 'payload'; readonly fields: T };

/** Does the same as `readObject`, but may refuse a page of another site. */
export async function readJsonObject(c: Context<AppEnv>, memory?: MemoryHold): ReturnType<typeof readObject> {
  if (isCrossSite(c.req.raw)) {
    const { allowedOrigins } = c.var.config;
    if (allowedOrigins?.includes(c.req.header('Origin') ?? '') === false) return NOT_ALLOWED;
    if (!/^application\/json\b/i.test(c.req.header('Content-Type') ?? '')) return FOREIGN;
  }
  return readObject(c, memory);
}

/**
 * The object in the request's body; refused if it is no JSON object in UTF-8 (contract, section 7).
 * @param memory of the request, for any text that the host takes. Without it, 16 KiB at most,
 * without waiting.
 * @throws BodyError if the body is too large, or does not arrive completely.
 */
async function readObject(
  c: Context<AppEnv>,
  memory?: MemoryHold,
): Promise<Payload<Readonly<Record<string, unknown>>> | Refused> {
  const maxBytes = memory === undefined ? UNCOUNTED_BYTES : MAX_JSON_BYTES;
  const limits = { maxBytes, timeoutMs: c.var.config.readTimeoutMs, isStrict: true } as const;
  try {
    const fields: unknown = JSON.parse(await bodyText(c.req.raw, { ...limits, ...(memory && { memory }) }));
    const isObject = typeof fields === 'object' && fields !== null && !Array.isArray(fields);
    return isObject ? { kind: 'payload', fields: fields as Record<string, unknown> } : INVALID_PAYLOAD;
  } catch (error) {
    if (error instanceof BodyError) throw error;
    return error instanceof HostError ? BUSY : INVALID_PAYLOAD;
  }
}

/**
 * Reads and checks a payload. Pages of other sites may send it, because the operator's alerts have
 * buttons there.
 */
export async function readPayload<T>(
  c: Context<AppEnv>,
  schema: z.ZodType<T>,
): Promise<Payload<T> | Refused> {
  const payload = await readObject(c);
  return payload.kind === 'refused' ? payload : checkPayload(schema, payload.fields);
}

/**
 * Checks fields against a schema. The refusal names the field that breaks a rule, unless it is
 * missing or of another type.
 */
export function checkPayload<T>(schema: z.ZodType<T>, fields: unknown): Payload<T> | Refused {
  const { success, data, error } = schema.safeParse(fields, { reportInput: true });
  if (success) return { kind: 'payload', fields: data };
  const [issue] = error.issues;
  if (issue === undefined || error.issues.some(isOfOtherType)) return INVALID_PAYLOAD;
  if (issue.code !== 'invalid_value') return invalidField(issue.message);
  return invalidField(`${issue.path.join('.')} must be one of ${issue.values.join(', ')}`);
}

function isOfOtherType({ code, input }: z.core.$ZodIssue): boolean {
  return code === 'invalid_type' || (code === 'invalid_value' && typeof input !== 'string');
}

/**
 * True if a browser sends a POST for another site's page, which would count for whoever has that
 * open. Browsers say where a POST comes from, in Sec-Fetch-Site or Origin, which no page can
 * change. Programs send neither.
 */
export function isCrossSite(request: Request): boolean {
  const site = request.headers.get('Sec-Fetch-Site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  const origin = request.headers.get('Origin');
  if (origin === null) return false;
  // Compares only hosts, because a proxy in front may have terminated TLS. `Origin: null` has no
  // host.
  return !URL.canParse(origin) || new URL(origin).host !== new URL(request.url).host;
}

/**
 * True if a page of another site loads this into itself, as a picture or by script, and not because
 * somebody follows a link. It would spend what the people who have it open may ask of a code host.
 */
export function isEmbedded(request: Request): boolean {
  return request.headers.get('Sec-Fetch-Dest') !== 'document' && isCrossSite(request);
}

export function isForm(c: Context<AppEnv>): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(c.req.header('Content-Type') ?? '');
}

/**
 * Reads a form that buttons send. Null: this is no form, or too large for one.
 * @throws BodyError if it does not arrive completely.
 */
export async function readSmallForm(c: Context<AppEnv>): Promise<FormFields | null> {
  try {
    return isForm(c) ? parseFormFields(await smallBody(c)) : null;
  } catch (error) {
    if (error instanceof BodyError && error.code === 'too-large') return null;
    throw error;
  }
}

/**
 * Reads a small body.
 * @throws BodyError `too-large` above 16 KiB, or if it does not arrive completely.
 */
export function smallBody(c: Context<AppEnv>): Promise<string> {
  return bodyText(c.req.raw, { maxBytes: UNCOUNTED_BYTES, timeoutMs: c.var.config.readTimeoutMs });
}

/** Refuses a request whose body is too large, or did not arrive completely. */
export function bodyRefused({ code }: BodyError): Refused {
  if (code === 'too-large') return refused(413, 'request body too large');
  if (code === 'timeout') return refused(408, 'the request body did not arrive in time; send it again');
  return refused(400, 'the request body did not arrive completely; send it again', {}, 'body-incomplete');
}

/**
 * The schema of a string that the host can store unchanged.
 * @param field its name, for the message.
 */
export function publicText(field: string) {
  return z
    .string()
    .refine((text) => !text.includes('\0'), { error: `${field} must not contain NUL characters` })
    .refine((text) => text.isWellFormed(), {
      error: `${field} must be valid Unicode: it holds half a character`,
    });
}

/** True for a value that is absent, null, or nothing but white space. */
export function isBlankText(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}
