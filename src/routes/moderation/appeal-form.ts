/** GET and POST /v1/moderation/appeal for a browser: a form without script, with the JSON endpoint's checks (appeals.ts). */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { type FormFields, withPlainLineEnds } from '../../forms/form-fields.ts';
import { APPEAL_PATH, appealedPage, appealFormPage } from '../../pages/report-page.ts';
import { answerForm, newToken, receiveForm, SEND_AGAIN, type SentForm } from '../forms/form.ts';
import { explained, sentence } from '../request/refused.ts';
import { decideAppeal, MAX_APPEAL_CHARACTERS } from './appeals.ts';

/** Three short fields, each character escaped. */
const MAX_FORM_BYTES = 32 * 1024;

export const appealForm = new Hono<AppEnv>();

appealForm.get(APPEAL_PATH, (c) => showAppealForm(c));
appealForm.post(APPEAL_PATH, (c, next) => {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(c.req.header('Content-Type') ?? '');
  if (!isForm) return next();
  return receiveForm(c, APPEAL_PATH, MAX_FORM_BYTES, (sent) => answerAppeal(c, sent));
});

async function showAppealForm(c: Context<AppEnv>): Promise<Response> {
  const fields = new Map([['thread', c.req.query('thread') ?? '']]);
  return showForm(c, fields, await newToken(c, APPEAL_PATH), null);
}

async function answerAppeal(c: Context<AppEnv>, { fields, token, problem }: SentForm): Promise<Response> {
  if (token === null) return showForm(c, fields, await newToken(c, APPEAL_PATH), problem, 403);
  const { thread, userToken: user_token, text } = typed(fields);
  const outcome = await decideAppeal(c, { thread, user_token, text }).catch((error: unknown) => {
    c.var.logger.error('an appeal failed', { error });
    return explained(500, 'The service has a fault', `It was logged. ${SEND_AGAIN}`);
  });
  if (outcome.kind === 'taken') return answerForm(c, appealedPage(outcome.hash, outcome.standing));
  const words = outcome.explanation ?? sentence(outcome.error);
  return showForm(c, fields, token.text, words, outcome.status, outcome.headers);
}

async function showForm(
  c: Context<AppEnv>,
  fields: FormFields,
  token: string,
  problem: string | null,
  ...answered: [status?: Parameters<typeof answerForm>[2], headers?: Readonly<Record<string, string>>]
): Promise<Response> {
  const form = { ...typed(fields), token, problem };
  return answerForm(c, appealFormPage(form, MAX_APPEAL_CHARACTERS), ...answered);
}

function typed(fields: FormFields) {
  return {
    thread: (fields.get('thread') ?? '').trim(),
    userToken: (fields.get('user_token') ?? '').trim(),
    text: withPlainLineEnds(fields.get('text') ?? ''),
  };
}
