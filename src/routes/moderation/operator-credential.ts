/**
 * Checks that a request comes from the operator, by PANIC_PASSWORD or by the token of an alert's
 * button. Each attempt counts for its address before it is read, and one without the correct
 * password for its /48, too.
 * Proved by test/routes/moderation/admin.test.ts.
 */
import type { Context } from 'hono';
import * as z from 'zod';
import type { OperatorCredential } from '../../durable/guard/guard.ts';
import { tokenHash } from '../../durable/guard/tokens.ts';
import type { AppEnv } from '../../env.ts';
import { longestWait } from '../../limits/sliding-window.ts';
import { isSameSecret } from '../../secret/keyed-hash.ts';
import { limitsOf } from '../../service/limits.ts';
import { refusedUntil } from '../request/limits.ts';
import { answerRefused, refused, type Refused } from '../request/refused.ts';
import { readPayload } from '../request/payload.ts';
import { scopeOf } from '../request/scope.ts';

const text = z.string().optional();

export const credentialFields = {
  password: text.describe('The password of the operator.'),
  token: text.describe('The token of an alert button. It works once, for one action, within ten minutes.'),
};

export const INVALID_CREDENTIALS = refused(401, 'invalid credentials');

/** Limits in which an attempt counts. */
type Actions = readonly ('admin' | 'rollback')[];

/**
 * Makes a handler that counts a request before it reads it.
 * @param handle gets a credential that may be valid, and gives null if the guard refuses it.
 */
export function forOperator<T extends { password?: string | undefined; token?: string | undefined }>(
  schema: z.ZodType<T>,
  handle: (c: Context<AppEnv>, fields: T, credential: OperatorCredential) => Promise<Response | null>,
  actions: Actions = ['admin'],
) {
  return async (c: Context<AppEnv>): Promise<Response> => {
    const tooOften = await refuseTooOften(c, actions);
    if (tooOften !== null) return answerRefused(c, tooOften);
    const payload = await readPayload(c, schema);
    if (payload.kind === 'refused') return answerRefused(c, payload);
    const credential = await credentialOf(c, payload.fields);
    const response = credential && (await handle(c, payload.fields, credential));
    // The credential may have been the one that went over the limit.
    return response ?? answerRefused(c, (await refuseTooOften(c, [])) ?? INVALID_CREDENTIALS);
  };
}

/** Counts an attempt. Gives the refusal if the client is over one of its limits; else null. */
export async function refuseTooOften(c: Context<AppEnv>, actions: Actions): Promise<Refused | null> {
  const limits = limitsOf(scopeOf(c));
  const counted = actions.map((action) => limits.count(action));
  const wait = longestWait(await Promise.all([limits.known('prefixAdmin'), ...counted]));
  return wait.waitMs === 0 ? null : refusedUntil(wait, 'rate limit exceeded');
}

/**
 * Gives the credential, or null if it cannot be valid. The guard checks tokens later, so every
 * token counts like a wrong password: nobody has forty valid ones. While a /48 is over its limit,
 * even the correct password is answered like a wrong one, so that further guesses tell nothing.
 */
export async function credentialOf(
  c: Context<AppEnv>,
  { password, token }: { password?: string | undefined; token?: string | undefined },
): Promise<OperatorCredential | null> {
  const expected = c.var.config.panicPassword;
  const isCorrect = expected !== null && password !== undefined && isSameSecret(password, expected);
  // Correct guesses make the same call, so that one of many at once does not overtake the others.
  const { waitMs } = await limitsOf(scopeOf(c)).count('prefixAdmin', !isCorrect);
  if (waitMs > 0) return null;
  if (isCorrect) return { kind: 'password' };
  return token === undefined ? null : { kind: 'token', hash: tokenHash(token) };
}
