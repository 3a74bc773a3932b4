/** Reply to an issue or a pull request with a form. The JSON endpoint's code does it: src/routes/threads/post-comment.ts. */
import type { Context } from 'hono';
import { systemClock } from '../../clock.ts';
import type { AppEnv } from '../../env.ts';
import { type FormFields, withPlainLineEnds } from '../../forms/form-fields.ts';
import { parseThreadText } from '../../forms/thread-text.ts';
import { fullName, type RepositoryName } from '../../host/repository-name.ts';
import { isolateMemory } from '../../memory-budget.ts';
import { commentText } from '../../identity/footer.ts';
import {
  donePage,
  type ReplyForm,
  replyFormPage,
  replyPreviewPage,
  replyToPage,
} from '../../pages/forms/thread-pages.ts';
import { openLedger } from '../../stats/open-ledger.ts';
import { countAct } from '../../middleware/measure.ts';
import { answerPage } from '../pages/page.ts';
import { publicOrigin } from '../request/public-origin.ts';
import { sentence } from '../request/rate-limit.ts';
import { type Refused, refused } from '../request/refused.ts';
import { remotePath } from '../request/remote-path.ts';
import { isBlank } from '../schemas/text.ts';
import { BLOCKED, checkComment, COOLDOWN, postComment, pseudonymOn } from '../threads/post-comment.ts';
import { answerForm, formToken, NOT_KEPT, type SentForm } from './form-request.ts';
import { MAX_TEXT_FORM_BYTES } from './issue-form.ts';
import { REPLY_FORM } from './paths.ts';

/** What the contract says in Spanish (section 7). */
const IN_ENGLISH: Readonly<Record<string, string>> = {
  [BLOCKED]: 'this pseudonym is blocked, because six people have reported it',
  [COOLDOWN]: 'this pseudonym may not post now, because people have reported it; try again in some hours',
};

export async function showReplyForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const typed = c.req.query('to') ?? '';
  const named = parseThreadText(typed, target, c.var.host.url);
  if (named.kind === 'thread') {
    const form = await formOf(c, target, named.number, new Map(), null);
    return answerPage(c, replyFormPage(form), 200, NOT_KEPT);
  }
  const isNothing = typed === '';
  const frame = {
    repository: fullName(target),
    home: remotePath(c.var.host, target),
    action: remotePath(c.var.host, target) + REPLY_FORM,
    problem: isNothing ? null : named.problem,
  };
  return answerPage(c, replyToPage(frame, typed), isNothing ? 200 : 400, NOT_KEPT);
}

export async function sendReplyForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const path = remotePath(c.var.host, target) + REPLY_FORM;
  const limits = { path, maxBytes: MAX_TEXT_FORM_BYTES, memory: isolateMemory.open(systemClock) };
  return answerForm(c, limits, (sent) => answerReply(c, target, sent));
}

async function answerReply(c: Context<AppEnv>, target: RepositoryName, sent: SentForm): Promise<Response> {
  const { fields, token } = sent;
  const named = parseThreadText(fields.get('number') ?? '', target, c.var.host.url);
  // The form itself has written the number.
  if (named.kind === 'invalid') return c.redirect(remotePath(c.var.host, target) + REPLY_FORM, 303);
  const { number } = named;
  const form = await formOf(c, target, number, fields, sent.problem, token?.text);
  const step = fields.get('step');
  if (token === null) return answerPage(c, replyFormPage(form), 403, NOT_KEPT);
  if (step === 'edit') return answerPage(c, replyFormPage(form), 200, NOT_KEPT);

  const again = ({ status, error, headers }: Refused) =>
    answerPage(c, replyFormPage({ ...form, problem: sentence(IN_ENGLISH[error] ?? error) }), status, {
      ...NOT_KEPT,
      ...headers,
    });
  const payload = { body: form.body, user_token: form.userToken };
  if (isBlank(form.body)) return again(refused(400, 'body is required'));
  if (step !== 'post') {
    const checked = checkComment(payload);
    if (checked.kind === 'refused') return again(checked);
    const { body, userToken } = checked;
    const hash = await pseudonymOn(c, { repository: target, number }, userToken);
    const karma = (await karmaOf(c, hash)) + 1;
    const text = commentText(body, { hash, karma, origin: publicOrigin(c.req.raw, c.var.config) });
    return answerPage(c, replyPreviewPage({ ...form, userToken }, text, hash), 200, NOT_KEPT);
  }
  const outcome = await postComment(c, { repository: target, number }, payload);
  countAct('gitveil_comments_total', outcome.kind === 'refused' ? outcome.status : 200);
  if (outcome.kind === 'refused') return again(outcome);
  const next = { ...form, token: await formToken(c, form.action) };
  const { comment_url: url, hash, user_token: userToken } = outcome.answer;
  return answerPage(
    c,
    donePage('Your reply is posted', next, { url, number, hash, userToken }),
    200,
    NOT_KEPT,
  );
}

/** As far as the ledger knows, which lags some seconds behind. */
async function karmaOf(c: Context<AppEnv>, hash: string): Promise<number> {
  const { config, http, logger } = c.var;
  try {
    return (await openLedger(c.env, config, http).karma(hash)) ?? 0;
  } catch (error) {
    logger.warn('the ledger does not answer', { error });
    return 0;
  }
}

/** @param token of the form that was sent; a form with none gets a new one. */
async function formOf(
  c: Context<AppEnv>,
  target: RepositoryName,
  number: number,
  fields: FormFields,
  problem: string | null,
  token?: string,
): Promise<ReplyForm> {
  const action = remotePath(c.var.host, target) + REPLY_FORM;
  return {
    repository: fullName(target),
    home: remotePath(c.var.host, target),
    action,
    token: token ?? (await formToken(c, action)),
    problem,
    number,
    threadUrl: `${c.var.host.url}/${fullName(target)}/issues/${number}`,
    body: withPlainLineEnds(fields.get('body') ?? ''),
    userToken: (fields.get('user_token') ?? '').trim(),
  };
}
