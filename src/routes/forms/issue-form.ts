/** Open an issue with a form. The JSON endpoint's code does it: see src/routes/threads/create-issue.ts. */
import type { Context } from 'hono';
import { systemClock } from '../../clock.ts';
import type { AppEnv } from '../../env.ts';
import { type FormFields, withPlainLineEnds } from '../../forms/form-fields.ts';
import { fullName, type RepositoryName } from '../../host/repository-name.ts';
import { isolateMemory } from '../../memory-budget.ts';
import { donePage, type IssueForm, issueFormPage, issuePreviewPage } from '../../pages/forms/thread-pages.ts';
import { countAct } from '../../middleware/measure.ts';
import { answerPage } from '../pages/page.ts';
import type { Refused } from '../request/refused.ts';
import { sentence } from '../request/rate-limit.ts';
import { remotePath } from '../request/remote-path.ts';
import { checkIssue, createIssue } from '../threads/create-issue.ts';
import { answerForm, formToken, NOT_KEPT, type SentForm } from './form-request.ts';
import { ISSUE_FORM, REPLY_FORM } from './paths.ts';

/** The longest text that the host takes, with every character in four bytes, each of them escaped. */
export const MAX_TEXT_FORM_BYTES = 1024 * 1024;

export async function showIssueForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  return answerPage(c, issueFormPage(await formOf(c, target, new Map(), null)), 200, NOT_KEPT);
}

export async function sendIssueForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const path = remotePath(c.var.host, target) + ISSUE_FORM;
  const limits = { path, maxBytes: MAX_TEXT_FORM_BYTES, memory: isolateMemory.open(systemClock) };
  return answerForm(c, limits, (sent) => answerIssue(c, target, sent));
}

async function answerIssue(c: Context<AppEnv>, target: RepositoryName, sent: SentForm): Promise<Response> {
  const { fields, token } = sent;
  const form = await formOf(c, target, fields, sent.problem, token?.text);
  const step = fields.get('step');
  if (token === null) return answerPage(c, issueFormPage(form), 403, NOT_KEPT);
  if (step === 'edit') return answerPage(c, issueFormPage(form), 200, NOT_KEPT);

  const payload = { title: form.title, body: form.body };
  const again = (refused: Refused) =>
    answerPage(c, issueFormPage({ ...form, problem: sentence(refused.error) }), refused.status, {
      ...NOT_KEPT,
      ...refused.headers,
    });
  if (step !== 'post') {
    const checked = checkIssue(c, payload);
    if (checked.kind === 'refused') return again(checked);
    return answerPage(c, issuePreviewPage(form, checked.issue.body), 200, NOT_KEPT);
  }
  const outcome = await createIssue(c, target, payload);
  countAct('gitveil_issues_total', outcome.kind === 'refused' ? outcome.status : 200);
  if (outcome.kind === 'refused') return again(outcome);
  const reply = remotePath(c.var.host, target) + REPLY_FORM;
  const next = { ...form, action: reply, token: await formToken(c, reply) };
  const { issue_url: url, number, hash, user_token: userToken } = outcome.answer;
  return answerPage(c, donePage('Your issue is open', next, { url, number, hash, userToken }), 200, NOT_KEPT);
}

/** @param token of the form that was sent; a form with none gets a new one. */
async function formOf(
  c: Context<AppEnv>,
  target: RepositoryName,
  fields: FormFields,
  problem: string | null,
  token?: string,
): Promise<IssueForm> {
  const action = remotePath(c.var.host, target) + ISSUE_FORM;
  return {
    repository: fullName(target),
    home: remotePath(c.var.host, target),
    action,
    token: token ?? (await formToken(c, action)),
    problem,
    title: fields.get('title') ?? '',
    body: withPlainLineEnds(fields.get('body') ?? ''),
  };
}
