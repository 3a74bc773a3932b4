/**
 * Posts an issue or a comment once for each form, or for each Idempotency-Key, however often it is sent: the object of
 * the bot account remembers it (src/durable/host-account/host-account.ts).
 *
 * If that object cannot be asked, it is posted all the same: a comment that stands there twice does less harm than one
 * that is lost.
 */
import type { Context } from 'hono';
import * as z from 'zod';
import { systemClock } from '../../isolate/clock.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { Posted, PostName, PostResult, PostStanding } from '../../durable/host-account/host-account.ts';
import type { AppEnv } from '../../env.ts';
import { formSecrets, userTokenOf } from '../../forms/form-fields.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { invalidField, type Refused, refused } from '../request/refused.ts';

/** How long the second of two equal ones waits for the first, and how often it looks. */
const ATTEMPTS = 140;
const PAUSE_MS = 500;

export type PostOutcome = ({ readonly kind: 'posted' } & Posted) | Refused;

/** For messages: what is posted, and what was sent for it. */
export interface PostWords {
  readonly what: 'issue' | 'comment' | 'reply';
  readonly sent: 'form' | 'request';
}

/** @param post is called at most once for all that have this name. */
export async function postOnce(
  c: Context<AppEnv>,
  name: PostName,
  { what, sent }: PostWords,
  post: () => Promise<PostOutcome>,
): Promise<PostOutcome> {
  let standing = await begin(c, name);
  for (let attempt = 1; standing.kind === 'sending' && attempt < ATTEMPTS; attempt++) {
    await systemClock.sleep(PAUSE_MS);
    standing = await begin(c, name);
  }
  switch (standing.kind) {
    case 'posted':
      return { kind: 'posted', ...standing.posted };
    case 'sending':
      return refused(503, `the service is still posting this ${what}; send the ${sent} again in a minute`, {
        'Retry-After': '60',
      });
    case 'unknown':
      return refused(409, lost(what, sent), {}, 'may-exist');
    case 'other':
      return refused(422, 'this Idempotency-Key was sent with another body; send a new key with each text');
    case 'new':
      return posted(c, name, post);
  }
}

function lost(what: string, sent: PostWords['sent']): string {
  const again = sent === 'form' ? 'it again' : 'it with another key';
  return `this ${sent} was sent before, and its answer was lost: the ${what} may exist; look there before you send ${again}`;
}

async function posted(
  c: Context<AppEnv>,
  { name }: PostName,
  post: () => Promise<PostOutcome>,
): Promise<PostOutcome> {
  let result: PostResult = { kind: 'unknown' };
  try {
    const outcome = await post();
    if (outcome.kind === 'posted') {
      const { url, number, karma } = outcome;
      result = { kind: 'posted', posted: { url, number, karma } };
    } else if (outcome.code !== 'may-exist') {
      result = { kind: 'new' };
    }
    return outcome;
  } finally {
    await end(c, name, result);
  }
}

async function begin(c: Context<AppEnv>, name: PostName): Promise<PostStanding> {
  try {
    return await hostAccountOf(c.env, c.var.host).beginPost(name);
  } catch (error) {
    c.var.logger.warn('a post could not be compared with those sent before', { error });
    return { kind: 'new' };
  }
}

/** If this fails, nobody can tell whether it was posted, until its name expires. Never rejects. */
async function end(c: Context<AppEnv>, name: string, result: PostResult): Promise<void> {
  await hostAccountOf(c.env, c.var.host)
    .endPost(name, result)
    .catch((error: unknown) => c.var.logger.warn('what was posted could not be remembered', { error }));
}

/** draft-ietf-httpapi-idempotency-key-header: a program that got no answer sends its request again with the same one. */
const IDEMPOTENCY_KEY = 'Idempotency-Key';

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
