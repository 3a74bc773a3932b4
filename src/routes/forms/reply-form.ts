/**
 * Reply to an issue or a pull request with a form. The JSON endpoint's code does it:
 * src/routes/threads/anonymous-comment.ts.
 */
import type { Context } from 'hono';
import { recordName } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { type FormFields, withPlainLineEnds } from '../../forms/form-fields.ts';
import { parseThreadText } from '../../forms/thread-text.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { commentText } from '../../text/footer.ts';
import {
  donePage,
  type ReplyForm,
  replyFormPage,
  replyPreviewPage,
  replyToPage,
} from '../../pages/forms/thread-pages.ts';
import { openLedger } from '../../stats/open-ledger.ts';
import { conversationOf, knownConversation } from '../request/conversation.ts';
import { publishedOrigin } from '../request/public-origin.ts';
import { refuseTooMany } from '../request/limits.ts';
import { type Refused, refused, sentence } from '../request/refused.ts';
import { isBlank } from '../request/payload.ts';
import { BLOCKED, checkComment, COOLDOWN, postComment, pseudonymOn } from '../threads/anonymous-comment.ts';
import { answerForm, frameOf, placeOf } from './form-answer.ts';
import { givenAway, ownNameIn } from './given-away.ts';
import { receiveForm, secretsOf, type SentForm } from './form-request.ts';
import { MAX_TEXT_FORM_BYTES } from './issue-form.ts';
import { REPLY_FORM } from './paths.ts';
import { postForm } from './post-form.ts';
import { userTokenOf } from '../../forms/form-secrets.ts';

/** What the contract says in Spanish (section 7). */
const IN_ENGLISH: Readonly<Record<string, string>> = {
  [BLOCKED]: 'this pseudonym is blocked, because six people have reported it',
  [COOLDOWN]: 'this pseudonym may not post now, because people have reported it; try again in some hours',
};

export async function showReplyForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const typed = c.req.query('to') ?? '';
  const named = parseThreadText(typed, target, c.var.host.url);
  if (named.kind === 'thread') {
    const { number } = named;
    const thread = await conversationOf(c, c.var.host, target, number);
    const name = `${fullName(target)}#${number}`;
    if (thread.kind === 'missing') {
      const problem = `${fullName(target)} has no issue or pull request #${number} that the public can see. Check the number, or open an issue.`;
      return askAgain(c, target, problem, typed);
    }
    if (thread.kind === 'moved')
      return askAgain(c, target, `${name} was moved to ${thread.to}. Reply there.`, typed);
    return answerForm(c, replyFormPage(await formOf(c, target, number, new Map()), thread));
  }
  const isNothing = typed === '';
  const frame = { ...placeOf(c, target, REPLY_FORM), problem: isNothing ? null : named.problem };
  return answerForm(c, replyToPage(frame, typed), isNothing ? 200 : 400);
}

/** For another number. */
function askAgain(c: Context<AppEnv>, target: RepositoryName, problem: string, typed: string) {
  return answerForm(c, replyToPage({ ...placeOf(c, target, REPLY_FORM), problem }, typed), 404);
}

export async function sendReplyForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const { action: path } = placeOf(c, target, REPLY_FORM);
  return receiveForm(c, path, { maxBytes: MAX_TEXT_FORM_BYTES }, (sent) => answerReply(c, target, sent));
}

async function answerReply(
  c: Context<AppEnv>,
  target: RepositoryName,
  { fields, token, problem }: SentForm,
): Promise<Response> {
  const named = parseThreadText(fields.get('number') ?? '', target, c.var.host.url);
  // The form itself has written the number.
  if (named.kind === 'invalid') return c.redirect(placeOf(c, target, REPLY_FORM).action, 303);
  const { number } = named;
  // What was typed is shown again, whatever became of the thread. A form that is refused does not ask the host.
  const page = (shown: ReplyForm) => replyFormPage(shown, knownConversation(c.var.host, target, number));
  if (token === null) {
    return answerForm(c, page({ ...(await formOf(c, target, number, fields)), problem }), 403);
  }
  const form = await formOf(c, target, number, fields, token.text);
  const step = fields.get('step');
  if (step === 'edit') {
    return answerForm(c, replyFormPage(form, await conversationOf(c, c.var.host, target, number)));
  }

  const again = async ({ error, status, headers, code }: Refused) => {
    // The page now has a new token, so a person who has checked and sends it again sends another form.
    const next = code === 'may-exist' ? await formOf(c, target, number, fields) : form;
    const words = sentence(IN_ENGLISH[error] ?? error);
    const appealFor = error in IN_ENGLISH ? `${recordName(c.var.host, target)}#${number}` : null;
    return answerForm(c, page({ ...next, problem: words, appealFor }), status, headers);
  };
  if (isBlank(form.body)) return again(refused(400, 'body is required'));
  const secrets = await secretsOf(c, token, [String(number), form.body, form.userToken]);
  const userToken = form.userToken || userTokenOf(secrets);
  const checked = await checkComment(c, target, { body: form.body, user_token: userToken });
  if (checked.kind === 'refused') return again(checked);
  if (step !== 'post') {
    const hash = await pseudonymOn(c, { repository: target, number }, userToken);
    // A new pseudonym has none.
    const karma = (form.userToken === '' ? 0 : await karmaOf(c, hash)) + 1;
    const text = commentText(form.body, { hash, karma, origin: publishedOrigin(c.req.raw, c.var.config) });
    const given = givenAway({ body: form.body }, form.ownName);
    return answerForm(c, replyPreviewPage({ ...form, userToken }, text, hash, given));
  }
  const post = () => postComment(c, { repository: target, number }, checked);
  const outcome = await postForm(c, target, 'comments', secrets, post);
  if (outcome.kind === 'refused') return again(outcome);
  const hash = await pseudonymOn(c, { repository: target, number }, userToken);
  const next = await frameOf(c, target, REPLY_FORM);
  return answerForm(
    c,
    donePage(
      'Your reply is posted',
      next,
      { url: outcome.url, number, hash, userToken },
      'Write another reply',
    ),
  );
}

/** As far as the ledger knows, which lags some seconds behind. It is asked as often as the client may clone. */
async function karmaOf(c: Context<AppEnv>, hash: string): Promise<number> {
  const { config, http, logger } = c.var;
  if ((await refuseTooMany(c, 'discoveries')) !== null) return 0;
  try {
    return (await openLedger(c.env, config, http).karma(hash)) ?? 0;
  } catch (error) {
    logger.warn('the ledger does not answer', { error });
    return 0;
  }
}

/** @param token of the form that was sent; null: a new one. */
async function formOf(
  c: Context<AppEnv>,
  target: RepositoryName,
  number: number,
  fields: FormFields,
  token: string | null = null,
): Promise<ReplyForm> {
  return {
    ...(await frameOf(c, target, REPLY_FORM, token)),
    number,
    threadUrl: `${c.var.host.url}/${fullName(target)}/issues/${number}`,
    body: withPlainLineEnds(fields.get('body') ?? ''),
    ownName: ownNameIn(fields),
    userToken: (fields.get('user_token') ?? '').trim(),
    appealFor: null,
  };
}
