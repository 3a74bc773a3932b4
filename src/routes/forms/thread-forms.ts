/**
 * Serves the forms that open an issue and reply, with the code of the JSON endpoints.
 * Proved by test/e2e/people/thread-form.test.ts.
 */
import type { Context } from 'hono';
import { recordName } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { type FormFields, parseThreadText, userTokenOf, withPlainLineEnds } from '../request/form-fields.ts';
import { utf8 } from '../../git/bytes.ts';
import { hashObject } from '../../git/objects/oid.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { type ReplyForm, replyFormPage, replyPreviewPage } from '../../pages/forms/reply-pages.ts';
import {
  type AskedForm,
  donePage,
  issueChoicePage,
  issueClosedPage,
  issueFormPage,
  issuePreviewPage,
} from '../../pages/forms/thread-pages.ts';
import type { Page } from '../../pages/layout.ts';
import {
  answeredBody,
  answerName,
  fieldsOf,
  type IssueTemplate,
  isTicked,
  missingAnswer,
  NO_TEMPLATES,
  type FormQuestion,
} from '../../policy/issue-templates.ts';
import { commentText } from '../../text/footer.ts';
import { conversationOf, forgetConversation, knownConversation } from '../request/conversation.ts';
import { isBlankText } from '../request/payload.ts';
import { publishedOrigin, shownOrigin } from '../request/public-origin.ts';
import {
  answerRefused,
  explained,
  explanationOf,
  problem,
  type Refused,
  refused,
} from '../request/refused.ts';
import { sentence } from '../../words/sentence.ts';
import { REPLY_FORM } from '../../pages/remote-paths.ts';
import { BLOCKED, checkComment, COOLDOWN, postComment } from '../threads/comments.ts';
import { checkIssue, createIssue } from '../threads/issues.ts';
import { type PostKind, postOnce, type PostOutcome, pseudonymOn } from '../threads/posting.ts';
import { chooseThread } from './choose-thread.ts';
import {
  answerForm,
  frameOf,
  SEND_AGAIN,
  type RequestedForm,
  requestedForm,
  secretsOf,
  type SentForm,
} from './form.ts';
import { givenAway, ownNameIn } from './given-away.ts';
import { issueTemplates } from './issue-templates.ts';
import { outlookOf } from './known-first.ts';

const NO_TEMPLATE =
  'This template cannot be used here: there is none of this name, or it is larger than 64 KB, or not valid.';
const FORM_CHANGED =
  'The maintainers have changed their form meanwhile. What you wrote is below: open their form again, or send it as it is.';
/** Sentences that the contract has in Spanish (section 7). */
const IN_ENGLISH: Readonly<Record<string, string>> = {
  [BLOCKED]: 'this pseudonym is blocked, because six people have reported it',
  [COOLDOWN]: 'this pseudonym may not post now, because people have reported it; try again in some hours',
};

interface Draft {
  readonly kind: PostKind;
  /** The values by which a form that was sent twice is recognised. */
  readonly typed: readonly string[];
  /** The author's token; empty for a new one. */
  readonly userToken: string;
  /**
   * Shows the form with what was typed.
   * @param token that of the form; null for a new one.
   * @param refusal why it is shown again; null if the person wants to edit it.
   */
  readonly show: (token: string | null, refusal: Refused | null) => Promise<Response>;
  readonly check: (userToken: string) => Promise<Ready | Refused>;
}

interface Ready {
  readonly kind: 'ready';
  /** The number of the thread that it is posted on; left out for a new one. */
  readonly thread?: number;
  preview(token: string): Promise<Page>;
  post(limits: readonly Limit[]): Promise<PostOutcome>;
}

/** Handles the steps of a form: preview, edit, post. */
async function answerSteps(
  { c, target }: RequestedForm,
  { fields, token, problem: unfit }: SentForm,
  { kind, typed, userToken: given, show, check }: Draft,
): Promise<Response> {
  if (token === null) return show(null, problem(403, unfit));
  const step = fields.get('step');
  if (step === 'edit') return show(token.text, null);
  const secrets = await secretsOf(c, token, typed);
  const userToken = given || userTokenOf(secrets);
  const ready = await check(userToken);
  if (ready.kind === 'refused') return show(token.text, ready);
  if (step !== 'post') return answerForm(c, await ready.preview(token.text));
  const name = { name: secrets('name'), content: '' };
  const post: Ready['post'] = (limits) => ready.post(limits);
  const outcome = await postOnce(c, target, kind, { sent: 'form', name }, post, ready.thread);
  // If it may have been posted, the form gets a new token, so that a person who has checked and
  // sends it again sends another form.
  if (outcome.kind === 'refused') return show(outcome.code === 'may-exist' ? null : token.text, outcome);
  // Whoever goes on from here looks for what they wrote.
  forgetConversation(c.var.host, target, outcome.posted.number);
  const hash = await pseudonymOn(c, target, outcome.posted.number, userToken);
  const next = await frameOf(requestedForm(c, target, REPLY_FORM));
  const origin = shownOrigin(c.req.raw, c.var.config);
  return answerForm(c, donePage(kind, origin, next, outcome.posted, { hash, userToken }));
}

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

export async function showReplyForm(place: RequestedForm): Promise<Response> {
  const { c, target, repository } = place;
  const typed = c.req.query('to') ?? '';
  if (typed === '') return chooseThread(place, typed, null, 200);
  const named = parseThreadText(typed, target, c.var.host.url);
  if (named.kind === 'invalid') return chooseThread(place, typed, named.problem, 400);
  const { number } = named;
  const [thread, { closed }] = await Promise.all([
    conversationOf(c, c.var.host, target, number),
    outlookOf(place, 'comments', number),
  ]);
  if (thread.kind === 'missing') {
    const words = `${repository} has no issue or pull request #${number} that the public can see. Check the number, or open an issue.`;
    return chooseThread(place, typed, words, 404);
  }
  if (thread.kind === 'moved')
    return chooseThread(place, typed, `${repository}#${number} was moved to ${thread.to}. Reply there.`, 404);
  const form = { ...(await replyForm(place, number, new Map(), null)), closed };
  return answerForm(c, replyFormPage(form, thread));
}

export async function answerReply(place: RequestedForm, sent: SentForm): Promise<Response> {
  const { c, target } = place;
  const { fields } = sent;
  const named = parseThreadText(fields.get('number') ?? '', target, c.var.host.url);
  // The number is invalid only if somebody has changed the form.
  if (named.kind === 'invalid') return c.redirect(place.action, 303);
  const { number } = named;
  const { body, own_name, user_token } = replyFields(fields);
  return answerSteps(place, sent, {
    kind: 'comments',
    typed: [String(number), body, user_token],
    userToken: user_token,
    async show(token, refusal) {
      // A refused form must not cause calls of the host, so only a cached thread is shown.
      const thread =
        refusal === null
          ? await conversationOf(c, c.var.host, target, number)
          : knownConversation(c.var.host, target, number);
      const silenced = refusal === null ? undefined : IN_ENGLISH[refusal.error];
      const shown = {
        ...(await replyForm(place, number, fields, token)),
        problem: refusal && (silenced === undefined ? explanationOf(refusal) : sentence(silenced)),
        appealFor: silenced === undefined ? null : `${recordName(c.var.host, target)}#${number}`,
      };
      return answerForm(c, replyFormPage(shown, thread), refusal?.status, refusal?.headers);
    },
    async check(userToken) {
      if (isBlankText(body)) return refused(400, 'body is required');
      const checked = await checkComment(c, target, { body, user_token: userToken });
      if (checked.kind === 'refused') return checked;
      return {
        kind: 'ready',
        thread: number,
        async preview(token) {
          const form = { ...(await replyForm(place, number, fields, token)), user_token: userToken };
          const hash = await pseudonymOn(c, target, number, userToken);
          // The karma is a stand-in, as the page says.
          const footer = { hash, karma: 1, origin: publishedOrigin(c.req.raw, c.var.config) };
          return replyPreviewPage(form, commentText(body, footer), hash, givenAway({ body }, own_name));
        },
        post: (limits) => postComment(c, target, number, { body, userToken }, limits),
      };
    },
  });
}

/** @param token that of the form that was sent; null for a new one. */
async function replyForm(
  place: RequestedForm,
  number: number,
  fields: FormFields,
  token: string | null,
): Promise<ReplyForm> {
  const { c, target } = place;
  const threadUrl = `${c.var.host.url}/${place.repository}/issues/${number}`;
  const typed = replyFields(fields);
  const hash = typed.user_token === '' ? null : await pseudonymOn(c, target, number, typed.user_token);
  return {
    ...(await frameOf(place, token)),
    number,
    threadUrl,
    ...typed,
    closed: null,
    appealFor: null,
    own: hash && `anon-${hash}`,
  };
}

function replyFields(fields: FormFields) {
  return {
    body: withPlainLineEnds(fields.get('body') ?? ''),
    own_name: ownNameIn(fields),
    user_token: (fields.get('user_token') ?? '').trim(),
  };
}
