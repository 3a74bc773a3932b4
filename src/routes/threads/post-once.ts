/**
 * Posts an issue or a comment once for each form, or for each Idempotency-Key, however often it is sent: the object of
 * the bot account remembers it (src/durable/host-account/sent-posts.ts).
 *
 * If that object cannot be asked, it is posted all the same: a comment that stands there twice does less harm than one
 * that is lost.
 */
import type { Context } from 'hono';
import { systemClock } from '../../isolate/clock.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { Posted, PostName, PostResult, PostStanding } from '../../durable/host-account/sent-posts.ts';
import type { AppEnv } from '../../env.ts';
import { type Refused, refused } from '../request/refused.ts';

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
