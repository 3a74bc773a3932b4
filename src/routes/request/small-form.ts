/** A form of a few fields that only buttons send. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { type FormFields, parseFormFields } from '../../forms/form-fields.ts';
import { BodyError } from '../../streams/body-error.ts';
import { bodyText } from '../../streams/request-body.ts';

/** A password, or a page of check boxes. */
const MAX_BODY_BYTES = 8 * 1024;

/** Null: this is none. @throws BodyError if it does not arrive completely. */
export async function readSmallForm(c: Context<AppEnv>): Promise<FormFields | null> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(c.req.header('Content-Type') ?? '')) return null;
  try {
    const limits = { maxBytes: MAX_BODY_BYTES, timeoutMs: c.var.config.readTimeoutMs };
    return parseFormFields(await bodyText(c.req.raw, limits));
  } catch (error) {
    if (error instanceof BodyError && error.code === 'too-large') return null;
    throw error;
  }
}
