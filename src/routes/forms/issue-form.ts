/** Open an issue with a form. The JSON endpoint's code does it: see src/routes/threads/create-issue.ts. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { withPlainLineEnds } from '../../forms/form-fields.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { donePage, issueFormPage, issuePreviewPage } from '../../pages/forms/thread-pages.ts';
import { type Refused, sentence } from '../request/refused.ts';
import { checkIssue, createIssue } from '../threads/create-issue.ts';
import { pseudonymOn } from '../threads/anonymous-comment.ts';
import { answerForm, frameOf, placeOf } from './form-answer.ts';
import { givenAway, ownNameIn } from './given-away.ts';
import { receiveForm, secretsOf, type SentForm } from './form-request.ts';
import { ISSUE_FORM, REPLY_FORM } from './paths.ts';
import { issueTemplate, issueTemplates } from './issue-templates.ts';
import { postForm } from './post-form.ts';
import { userTokenOf } from '../../forms/form-secrets.ts';

/** The longest text that the host takes, with every character in four bytes, each of them escaped. */
export const MAX_TEXT_FORM_BYTES = 1024 * 1024;

const NO_TEMPLATE =
  'This template cannot be used here: only files of Markdown up to 64 KB are. Write the issue without it.';

export async function showIssueForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const name = c.req.query('template') ?? '';
  const template = name === '' ? null : await issueTemplate(c, target, name);
  const form = {
    ...(await frameOf(c, target, ISSUE_FORM)),
    ...fieldsOf((field) => c.req.query(field) ?? template?.[field] ?? ''),
    problem: name === '' || template !== null ? null : NO_TEMPLATE,
  };
  return answerForm(c, issueFormPage(form, name === '' ? await issueTemplates(c, target) : []));
}

export async function sendIssueForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const { action: path } = placeOf(c, target, ISSUE_FORM);
  return receiveForm(c, path, { maxBytes: MAX_TEXT_FORM_BYTES }, (sent) => answerIssue(c, target, sent));
}

/** As a link of a project may fill them in, and as a browser sends them. */
function fieldsOf(value: (field: 'title' | 'body' | 'labels') => string) {
  const body = withPlainLineEnds(value('body'));
  return { title: value('title'), body, labels: value('labels'), ownName: '' };
}

async function answerIssue(
  c: Context<AppEnv>,
  target: RepositoryName,
  { fields, token, problem }: SentForm,
): Promise<Response> {
  const ownName = ownNameIn(fields);
  const issue = { ...fieldsOf((field) => fields.get(field) ?? ''), ownName };
  const formOf = async (own: string | null) => ({ ...(await frameOf(c, target, ISSUE_FORM, own)), ...issue });
  if (token === null) return answerForm(c, issueFormPage({ ...(await formOf(null)), problem }), 403);
  const form = await formOf(token.text);
  const step = fields.get('step');
  if (step === 'edit') return answerForm(c, issueFormPage(form));

  const again = async ({ error, status, headers, code }: Refused) => {
    // The page now has a new token, so a person who has checked and sends it again sends another form.
    const next = code === 'may-exist' ? await formOf(null) : form;
    return answerForm(c, issueFormPage({ ...next, problem: sentence(error) }), status, headers);
  };
  const labels = issue.labels.split(',').map((label) => label.trim());
  const checked = await checkIssue(c, target, { ...issue, labels: labels.filter((label) => label !== '') });
  if (checked.kind === 'refused') return again(checked);
  if (step !== 'post')
    return answerForm(
      c,
      issuePreviewPage(
        form,
        checked.issue.body,
        givenAway({ title: issue.title, body: issue.body }, ownName),
      ),
    );
  const secrets = await secretsOf(c, token, [issue.title, issue.body, issue.labels]);
  const userToken = userTokenOf(secrets);
  const post = () => createIssue(c, target, checked.issue, userToken);
  const outcome = await postForm(c, target, 'issues', secrets, post);
  if (outcome.kind === 'refused') return again(outcome);
  const { url, number } = outcome;
  const hash = await pseudonymOn(c, { repository: target, number }, userToken);
  const next = await frameOf(c, target, REPLY_FORM);
  return answerForm(
    c,
    donePage('Your issue is open', next, { url, number, hash, userToken }, 'Reply to this issue'),
  );
}
