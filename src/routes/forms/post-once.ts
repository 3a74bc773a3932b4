/**
 * Posts an issue or a reply once for each form, however often the form is sent: the object of the bot account remembers
 * it (src/durable/host-account/sent-forms.ts).
 *
 * If that object cannot be asked, the form is posted all the same: a reply that stands there twice does less harm than
 * one that is lost.
 */
import type { Context } from 'hono';
import { systemClock } from '../../clock.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { FormResult, FormStanding, PostedByForm } from '../../durable/host-account/sent-forms.ts';
import type { AppEnv } from '../../env.ts';
import type { FormSecrets } from '../../forms/form-secrets.ts';
import { base32, TOKEN_BYTES } from '../../identity/user-token.ts';
import { knownWait, refuseTooMany } from '../request/rate-limit.ts';
import { type Refused, refused } from '../request/refused.ts';

/** How long the second of two equal forms waits for the first, and how often it looks. */
const ATTEMPTS = 140;
const PAUSE_MS = 500;

export type PostOutcome = ({ readonly kind: 'posted' } & PostedByForm) | Refused;

/** Of an author who has none yet. */
export function userTokenOf(secrets: FormSecrets): string {
  return base32(Buffer.from(secrets('user-token'), 'hex').subarray(0, TOKEN_BYTES));
}

/** @param what in words. @param post is called at most once for all forms of these secrets. */
export async function postOnce(
  c: Context<AppEnv>,
  what: 'issue' | 'reply',
  secrets: FormSecrets,
  post: () => Promise<PostOutcome>,
): Promise<PostOutcome> {
  // A client that is over its limit reaches no object, and is told so by the posting itself.
  if ((await knownWait(c, 'comments').catch(() => 0)) > 0) return post();
  const form = secrets('name');
  let standing = await begin(c, form);
  if (standing.kind !== 'new') {
    // Whoever sends one form again and again is held to the limit of those who send many.
    const tooMany = await refuseTooMany(c, 'comments');
    if (tooMany !== null) return tooMany;
  }
  for (let attempt = 1; standing.kind === 'sending' && attempt < ATTEMPTS; attempt++) {
    await systemClock.sleep(PAUSE_MS);
    standing = await begin(c, form);
  }
  switch (standing.kind) {
    case 'posted':
      return { kind: 'posted', ...standing.posted };
    case 'sending':
      return refused(503, `the service is still posting this ${what}; send the form again in a minute`, {
        'Retry-After': '60',
      });
    case 'unknown':
      return { ...refused(409, sentBefore(what)), mayBePosted: true };
    case 'new':
      return posted(c, form, post);
  }
}

async function posted(
  c: Context<AppEnv>,
  form: string,
  post: () => Promise<PostOutcome>,
): Promise<PostOutcome> {
  let result: FormResult = { kind: 'unknown' };
  try {
    const outcome = await post();
    if (outcome.kind === 'posted') {
      result = { kind: 'posted', posted: { url: outcome.url, number: outcome.number } };
    } else if (outcome.mayBePosted !== true) {
      result = { kind: 'new' };
    }
    return outcome;
  } finally {
    await end(c, form, result);
  }
}

function sentBefore(what: 'issue' | 'reply'): string {
  return `this form was sent before, and its answer was lost: the ${what} may exist; look there before you send it again`;
}

async function begin(c: Context<AppEnv>, form: string): Promise<FormStanding> {
  try {
    return await hostAccountOf(c.env, c.var.host).beginForm(form);
  } catch (error) {
    c.var.logger.warn('a form could not be compared with those sent before', { error });
    return { kind: 'new' };
  }
}

/** If this fails, nobody can tell whether the form was posted, until it expires. Never rejects. */
async function end(c: Context<AppEnv>, form: string, result: FormResult): Promise<void> {
  await hostAccountOf(c.env, c.var.host)
    .endForm(form, result)
    .catch((error: unknown) => c.var.logger.warn('a form that was sent could not be remembered', { error }));
}
