/**
 * The header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a program that got no answer sends its
 * request again with the same key, and it is posted once, within a day.
 */
import type { Context } from 'hono';
import * as z from 'zod';
import type { PostName } from '../../durable/host-account/sent-posts.ts';
import type { AppEnv } from '../../env.ts';
import { formSecrets, userTokenOf } from '../../forms/form-fields.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { invalidField, type Refused } from '../request/refused.ts';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** Visible ASCII. Short ones can be guessed: anybody who has the key and the text gets the answer with the token. */
const KEY_PATTERN = /^[!-~]{16,255}$/;

/** For the API's description. */
export const idempotencyHeader = z.object({
  [IDEMPOTENCY_KEY]: z.string().optional().meta({
    description:
      'Random, 16 to 255 visible ASCII characters. A request that is sent again with the same key and body within a day is posted once, and gets the same answer.',
  }),
});

export interface Repeatable {
  readonly kind: 'repeatable';
  readonly name: PostName;
  /** Of an author who has sent none: each time the same. */
  readonly userToken: string;
}

/** Null: the request has no key. @param payload what is to be posted. */
export async function repeatable(c: Context<AppEnv>, payload: unknown): Promise<Repeatable | Refused | null> {
  const key = c.req.header(IDEMPOTENCY_KEY);
  if (key === undefined) return null;
  if (!KEY_PATTERN.test(key)) {
    return invalidField(
      `${IDEMPOTENCY_KEY} must be 16 to 255 visible ASCII characters, such as a random UUID`,
    );
  }
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const request = { text: `${IDEMPOTENCY_KEY} ${key}` };
  const ofRequest = formSecrets(secret, request, [c.req.path]);
  const ofContent = formSecrets(secret, request, [c.req.path, JSON.stringify(payload)]);
  return {
    kind: 'repeatable',
    name: { name: ofRequest('name'), content: ofContent('name') },
    userToken: userTokenOf(ofContent),
  };
}
