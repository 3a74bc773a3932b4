/**
 * Posts an issue or a reply once for each form, however often the form is sent: the object of the bot account remembers
 * it (src/durable/host-account/sent-forms.ts).
 *
 * If that object cannot be asked, the form is posted all the same: a reply that stands there twice does less harm than
 * one that is lost.
 */
import type { Context } from 'hono';
import { systemClock } from '../../isolate/clock.ts';
import { hostAccountOf } from '../../durable/host-access.ts';
import type { FormResult, FormStanding, PostedByForm } from '../../durable/host-account/sent-forms.ts';
import type { AppEnv } from '../../env.ts';
import type { FormSecrets } from '../../forms/form-secrets.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { base32, TOKEN_BYTES } from '../../secret/user-token.ts';
import { countAct } from '../../middleware/measure.ts';
import { type Refused, refused } from '../request/refused.ts';
import { refusePosting } from '../threads/posting.ts';

/** How long the second of two equal forms waits for the first, and how often it looks. */
const ATTEMPTS = 140;
const PAUSE_MS = 500;

export type PostOutcome = ({ readonly kind: 'posted' } & PostedByForm) | Refused;

/** Of an author who has none yet. */
export function userTokenOf(secrets: FormSecrets): string {
  return base32(Buffer.from(secrets('user-token'), 'hex').subarray(0, TOKEN_BYTES));
}

/** What a form posts: in words, and how it is counted. */
const KINDS = {
  issues: { word: 'issue', counter: 'gitveil_issues_total' },
  comments: { word: 'reply', counter: 'gitveil_comments_total' },
} as const;

/** @param post is called at most once for all forms of these secrets, and only if `refusePosting` lets it pass. */
export async function postOnce(
  c: Context<AppEnv>,
  target: RepositoryName,
  what: keyof typeof KINDS,
  secrets: FormSecrets,
  post: () => Promise<PostOutcome>,
): Promise<PostOutcome> {
  const { word, counter } = KINDS[what];
  // First, because a form that is refused must not reach the account's object. Sending one form again counts, too.
  const refusal = await refusePosting(c, target, what);
  if (refusal !== null) {
    countAct(counter, refusal.status);
    return refusal;
  }
  const form = secrets('name');
  let standing = await begin(c, form);
  for (let attempt = 1; standing.kind === 'sending' && attempt < ATTEMPTS; attempt++) {
    await systemClock.sleep(PAUSE_MS);
    standing = await begin(c, form);
  }
  switch (standing.kind) {
    case 'posted':
      return { kind: 'posted', ...standing.posted };
    case 'sending':
      return refused(503, `the service is still posting this ${word}; send the form again in a minute`, {
        'Retry-After': '60',
      });
    case 'unknown':
      return { ...refused(409, sentBefore(word)), mayBePosted: true };
    case 'new': {
      const outcome = await posted(c, form, post);
      countAct(counter, outcome.kind === 'refused' ? outcome.status : 200);
      return outcome;
    }
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

function sentBefore(word: string): string {
  return `this form was sent before, and its answer was lost: the ${word} may exist; look there before you send it again`;
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
