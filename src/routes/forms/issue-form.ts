/**
 * Serves the form that opens an issue, with the code of the JSON endpoint.
 * Proved by test/e2e/people/thread-form.test.ts.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { utf8 } from '../../git/bytes.ts';
import { hashObject } from '../../git/objects/oid.ts';
import {
  type AskedForm,
  issueChoicePage,
  issueClosedPage,
  issueFormPage,
  issuePreviewPage,
} from '../../pages/forms/thread-pages.ts';
import {
  answeredBody,
  answerName,
  fieldsOf,
  type FormQuestion,
  type IssueTemplate,
  isTicked,
  missingAnswer,
  NO_TEMPLATES,
} from '../../policy/issue-templates.ts';
import { type FormFields, withPlainLineEnds } from '../request/form-fields.ts';
import { answerRefused, explained, explanationOf, problem, type Refused } from '../request/refused.ts';
import { checkIssue, createIssue } from '../threads/issues.ts';
import { answerForm, frameOf, SEND_AGAIN, type RequestedForm, type SentForm } from './form.ts';
import { givenAway, ownNameIn } from './given-away.ts';
import { issueTemplates } from './issue-templates.ts';
import { outlookOf } from './known-first.ts';
import { answerSteps } from './posting-steps.ts';

const NO_TEMPLATE =
  'This template cannot be used here: there is none of this name, or it is larger than 64 KB, or not valid.';
const FORM_CHANGED =
  'The maintainers have changed their form meanwhile. What you wrote is below: open their form again, or send it as it is.';

export async function showIssueForm(place: RequestedForm): Promise<Response> {
  const { c } = place;
  const [outlook, found] = await Promise.all([outlookOf(place, 'issues'), issueTemplates(place)]);
  if (outlook.closed !== null) return answerForm(c, issueClosedPage(place, outlook.closed));
  const offered = found ?? NO_TEMPLATES;
  const name = c.req.query('template') ?? '';
  const template = offered.templates.find(({ file }) => file === name);
  const unknown = name === '' || template !== undefined ? null : NO_TEMPLATE;
  if (template === undefined && offered.isBlankRefused)
    return answerForm(c, issueChoicePage(place, offered, unknown));
  const form = {
    ...(await frameOf(place)),
    ...issueFields((field) => c.req.query(field) ?? template?.[field] ?? ''),
    asked: template === undefined ? null : askedForm(template, (_, question) => filledIn(c, question)),
    own_name: '',
    problem: unknown,
  };
  const { gate } = outlook;
  return answerForm(c, issueFormPage(form, name === '' ? offered : NO_TEMPLATES, gate));
}

/** Reads the answer to begin with, which a link may give by the question's name. */
function filledIn(c: Context<AppEnv>, question: FormQuestion): string {
  const { id, value } = question;
  if (isTicked(question)) return '';
  return id === '' ? value : (c.req.query(id) ?? value);
}

/** Reads the fields as a link of a project fills them in, or as a browser sends them. */
function issueFields(value: (field: 'title' | 'body' | 'labels') => string) {
  return { title: value('title'), body: withPlainLineEnds(value('body')), labels: value('labels') };
}

/** Fills in a form of the repository's; null: the template is no form. */
function askedForm(
  { file, name, questions }: IssueTemplate,
  answer: (field: string, question: FormQuestion) => string,
): AskedForm | null {
  if (questions === null) return null;
  const answers = questions.flatMap((question, at) =>
    fieldsOf(question).map((suffix): [string, string] => {
      const field = answerName(at, suffix);
      return [field, withPlainLineEnds(answer(field, question))];
    }),
  );
  // Answers are sent by the places of their questions, so they must be those of the same form.
  const asked = hashObject('blob', utf8(JSON.stringify(questions)));
  return { name, questions, sent: { template: file, asked, ...Object.fromEntries(answers) } };
}

/** Finds the repository's form that was sent; null: none was. */
async function sentAsked(place: RequestedForm, fields: FormFields): Promise<AskedForm | Refused | null> {
  const name = fields.get('template') ?? '';
  if (name === '') return null;
  const offered = await issueTemplates(place);
  if (offered === null) return explained(503, 'The form cannot be read now', SEND_AGAIN);
  const template = offered.templates.find(({ file }) => file === name);
  const asked = template && askedForm(template, (field) => fields.get(field) ?? '');
  return asked?.sent['asked'] === fields.get('asked') ? (asked ?? null) : problem(409, FORM_CHANGED);
}

export async function answerIssue(place: RequestedForm, sent: SentForm): Promise<Response> {
  const { c, target } = place;
  const found = await sentAsked(place, sent.fields);
  if (found !== null && 'kind' in found && found.status === 503) return answerRefused(c, found, 'page');
  const [asked, changed] = found === null || !('kind' in found) ? [found, null] : [null, found];
  const typed = issueFields((field) => sent.fields.get(field) ?? '');
  const answers = (name: string) => asked?.sent[name] ?? '';
  const body = asked === null ? typed.body || answersIn(sent.fields) : answeredBody(asked.questions, answers);
  const { title, labels } = typed;
  const own_name = ownNameIn(sent.fields);
  const formOf = async (token: string | null) => ({
    ...(await frameOf(place, token)),
    title,
    labels,
    body,
    own_name,
    asked,
  });
  return answerSteps(place, sent, {
    kind: 'issues',
    typed: [title, body, labels],
    userToken: '',
    async show(token, refusal) {
      const form = { ...(await formOf(token)), problem: refusal && explanationOf(refusal) };
      return answerForm(c, issueFormPage(form), refusal?.status, refusal?.headers);
    },
    async check(userToken) {
      const missing = asked && missingAnswer(asked.questions, answers);
      if (changed !== null || missing !== null) return changed ?? problem(400, missing ?? '');
      const names = labels.split(',').map((label) => label.trim());
      const checked = await checkIssue(c, target, { title, body, labels: names.filter(Boolean) });
      if (checked.kind === 'refused') return checked;
      const given = () => givenAway({ title, body }, own_name);
      return {
        kind: 'ready',
        preview: async (token) => issuePreviewPage(await formOf(token), checked.issue.body, given()),
        post: (limits) => createIssue(c, target, checked.issue, userToken, limits),
      };
    },
  });
}

/** Joins the answers to a form that is not there any more, so that nothing typed is lost. */
function answersIn(fields: FormFields): string {
  const answers = [...fields].filter(([name, value]) => /^answer-\d+$/.test(name) && value.trim() !== '');
  return withPlainLineEnds(answers.map(([, value]) => value).join('\n\n'));
}
