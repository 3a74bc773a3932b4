/** Why a request is refused, before it is decided whether a program or a person reads it. */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../../env.ts';

export interface Refused {
  readonly kind: 'refused';
  readonly status: ContentfulStatusCode;
  /** As JSON endpoints say it: a sentence without its capital and its full stop. */
  readonly error: string;
  readonly headers: Record<string, string>;
  /** The code host has not answered, so it may have been posted. */
  readonly mayBePosted?: true;
}

export function refused(
  status: ContentfulStatusCode,
  error: string,
  headers: Record<string, string> = {},
): Refused {
  return { kind: 'refused', status, error, headers };
}

/** The answer of a JSON endpoint (contract, section 4). */
export function answerRefused(c: Context<AppEnv>, { status, error, headers }: Refused): Response {
  return c.json({ error }, status, headers);
}
