/**
 * Open an issue with a form, or reply to an issue or a pull request. The code of the JSON endpoints does it:
 * create-issue.ts and anonymous-comment.ts in src/routes/threads.
 */
import type { Context } from 'hono';
import { recordName } from '../../config/hosts.ts';
import { newAddresses } from '../../edit/addresses.ts';
import type { AppEnv } from '../../env.ts';
import {
  type FormFields,
  type FormSecrets,
  parseThreadText,
  userTokenOf,
  withPlainLineEnds,
} from '../../forms/form-fields.ts';
import { utf8 } from '../../git/bytes.ts';
import { SearchedNames } from '../../git/search/searched-names.ts';
import { countAct } from '../../middleware/measure.ts';
import type { GivenAway } from '../../pages/forms/change-pages.ts';
import { MAX_OWN_NAME } from '../../pages/forms/parts.ts';
import {
  donePage,
  issueFormPage,
  issuePreviewPage,
  type ReplyForm,
  replyFormPage,
  replyPreviewPage,
  replyToPage,
} from '../../pages/forms/thread-pages.ts';
import { Findings, searchedLine } from '../../push/judge/names/findings.ts';
import { remarksOn } from '../../push/judge/names/remarks.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import type { FormToken } from '../../secret/form-token.ts';
import { commentText } from '../../text/footer.ts';
import { conversationOf, knownConversation } from '../request/conversation.ts';
import { isBlank } from '../request/payload.ts';
import { publishedOrigin } from '../request/public-origin.ts';
import { explanationOf, problem, type Refused, refused, sentence } from '../request/refused.ts';
import { BLOCKED, checkComment, COOLDOWN, postComment, pseudonymOn } from '../threads/anonymous-comment.ts';
import { checkIssue, createIssue } from '../threads/create-issue.ts';
import { postOnce, type PostOutcome } from '../threads/post-once.ts';
import { refusePosting } from '../threads/posting.ts';
import { identityOf } from './change/change-form.ts';
import { answerForm, frameOf, placeOf, receiveForm, secretsOf, type SentForm } from './form.ts';
import { issueTemplate, issueTemplates } from './issue-templates.ts';
import { ISSUE_FORM, REPLY_FORM } from '../request/repository.ts';

/** The longest text that the host takes, with every character in four bytes, each of them escaped. */
const MAX_FORM_BYTES = 1024 * 1024;

const NO_TEMPLATE =
  'This template cannot be used here: only files of Markdown up to 64 KB are. Write the issue without it.';
/** What the contract says in Spanish (section 7). */
const IN_ENGLISH: Readonly<Record<string, string>> = {
  [BLOCKED]: 'this pseudonym is blocked, because six people have reported it',
  [COOLDOWN]: 'this pseudonym may not post now, because people have reported it; try again in some hours',
};
export const NO_NAME = 'You gave no name, so nothing was searched for. Check the text yourself.';
const NO_FILES = { homeFolders: [], files: [], opaque: [] };

/** Shows the form with what was typed. @param own its token; null: a new one. @param refusal why it is shown again. */
type Show = (own: string | null, refusal: Refused | null) => Promise<Response>;

export async function showIssueForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const name = c.req.query('template') ?? '';
  const template = name === '' ? null : await issueTemplate(c, target, name);
  const form = {
    ...(await frameOf(c, target, ISSUE_FORM)),
    ...issueFields((field) => c.req.query(field) ?? template?.[field] ?? ''),
    ownName: '',
    problem: name === '' || template !== null ? null : NO_TEMPLATE,
  };
  return answerForm(c, issueFormPage(form, name === '' ? await issueTemplates(c, target) : []));
}

export async function sendIssueForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const { action: path } = placeOf(c, target, ISSUE_FORM);
  return receiveForm(c, path, MAX_FORM_BYTES, (sent) => answerIssue(c, target, sent));
}

/** As a link of a project may fill them in, and as a browser sends them. */
function issueFields(value: (field: 'title' | 'body' | 'labels') => string) {
  return { title: value('title'), body: withPlainLineEnds(value('body')), labels: value('labels') };
}

async function answerIssue(
  c: Context<AppEnv>,
  target: RepositoryName,
  { fields, token, problem: unfit }: SentForm,
): Promise<Response> {
  const issue = issueFields((field) => fields.get(field) ?? '');
  const typed = { ...issue, ownName: ownNameIn(fields) };
  const show: Show = async (own, refusal) => {
    const frame = await frameOf(c, target, ISSUE_FORM, own);
    const words = refusal && explanationOf(refusal);
    const page = issueFormPage({ ...frame, ...typed, problem: words });
    return answerForm(c, page, refusal?.status, refusal?.headers);
  };
  if (token === null) return show(null, problem(403, unfit));
  const step = fields.get('step');
  if (step === 'edit') return show(token.text, null);
  const labels = issue.labels.split(',').map((label) => label.trim());
  const checked = await checkIssue(c, target, { ...issue, labels: labels.filter((label) => label !== '') });
  if (checked.kind === 'refused') return showRefused(show, token, checked);
  if (step !== 'post') {
    const form = { ...(await frameOf(c, target, ISSUE_FORM, token.text)), ...typed };
    const given = givenAway({ title: issue.title, body: issue.body }, typed.ownName);
    return answerForm(c, issuePreviewPage(form, checked.issue.body, given));
  }
  const secrets = await secretsOf(c, token, [issue.title, issue.body, issue.labels]);
  const userToken = userTokenOf(secrets);
  const post = () => createIssue(c, target, checked.issue, userToken);
  const outcome = await postForm(c, target, 'issues', secrets, post);
  if (outcome.kind === 'refused') return showRefused(show, token, outcome);
  return done(c, target, { ...outcome, userToken }, 'Your issue is open', 'Reply to this issue');
}

export async function showReplyForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const typed = c.req.query('to') ?? '';
  /** For another number. */
  const askAgain = (words: string | null, status: 200 | 400 | 404) =>
    answerForm(c, replyToPage({ ...placeOf(c, target, REPLY_FORM), problem: words }, typed), status);
  const named = parseThreadText(typed, target, c.var.host.url);
  if (named.kind === 'invalid') return typed === '' ? askAgain(null, 200) : askAgain(named.problem, 400);
  const { number } = named;
  const thread = await conversationOf(c, c.var.host, target, number);
  const name = fullName(target);
  if (thread.kind === 'missing') {
    const words = `${name} has no issue or pull request #${number} that the public can see. Check the number, or open an issue.`;
    return askAgain(words, 404);
  }
  if (thread.kind === 'moved')
    return askAgain(`${name}#${number} was moved to ${thread.to}. Reply there.`, 404);
  return answerForm(c, replyFormPage(await replyForm(c, target, number, new Map(), null), thread));
}

export async function sendReplyForm(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const { action: path } = placeOf(c, target, REPLY_FORM);
  return receiveForm(c, path, MAX_FORM_BYTES, (sent) => answerReply(c, target, sent));
}

async function answerReply(
  c: Context<AppEnv>,
  target: RepositoryName,
  { fields, token, problem: unfit }: SentForm,
): Promise<Response> {
  const named = parseThreadText(fields.get('number') ?? '', target, c.var.host.url);
  // The form itself has written the number.
  if (named.kind === 'invalid') return c.redirect(placeOf(c, target, REPLY_FORM).action, 303);
  const { number } = named;
  const show: Show = async (own, refusal) => {
    // A form that is refused does not ask the host.
    const thread =
      refusal === null
        ? await conversationOf(c, c.var.host, target, number)
        : knownConversation(c.var.host, target, number);
    const isSilenced = refusal !== null && refusal.error in IN_ENGLISH;
    const shown = {
      ...(await replyForm(c, target, number, fields, own)),
      problem: refusal && (isSilenced ? sentence(IN_ENGLISH[refusal.error] ?? '') : explanationOf(refusal)),
      appealFor: isSilenced ? `${recordName(c.var.host, target)}#${number}` : null,
    };
    return answerForm(c, replyFormPage(shown, thread), refusal?.status, refusal?.headers);
  };
  if (token === null) return show(null, problem(403, unfit));
  const step = fields.get('step');
  if (step === 'edit') return show(token.text, null);
  const form = await replyForm(c, target, number, fields, token.text);
  if (isBlank(form.body)) return show(token.text, refused(400, 'body is required'));
  const secrets = await secretsOf(c, token, [String(number), form.body, form.userToken]);
  const userToken = form.userToken || userTokenOf(secrets);
  const checked = await checkComment(c, target, { body: form.body, user_token: userToken });
  if (checked.kind === 'refused') return showRefused(show, token, checked);
  if (step !== 'post') {
    const hash = await pseudonymOn(c, { repository: target, number }, userToken);
    // The page says that the karma will be another.
    const text = commentText(form.body, { hash, karma: 1, origin: publishedOrigin(c.req.raw, c.var.config) });
    const given = givenAway({ body: form.body }, form.ownName);
    return answerForm(c, replyPreviewPage({ ...form, userToken }, text, hash, given));
  }
  const post = () => postComment(c, { repository: target, number }, checked);
  const outcome = await postForm(c, target, 'comments', secrets, post);
  if (outcome.kind === 'refused') return showRefused(show, token, outcome);
  return done(c, target, { ...outcome, userToken }, 'Your reply is posted', 'Write another reply');
}

/** @param token of the form that was sent; null: a new one. */
async function replyForm(
  c: Context<AppEnv>,
  target: RepositoryName,
  number: number,
  fields: FormFields,
  token: string | null,
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

/** If it may have been posted, with a new token: so a person who has checked and sends it again sends another form. */
function showRefused(show: Show, token: FormToken, refusal: Refused): Promise<Response> {
  return show(refusal.code === 'may-exist' ? null : token.text, refusal);
}

/** @param onward how the button of the next reply is called. */
async function done(
  c: Context<AppEnv>,
  target: RepositoryName,
  posted: { readonly url: string; readonly number: number; readonly userToken: string },
  title: string,
  onward: string,
): Promise<Response> {
  const { number, userToken } = posted;
  const hash = await pseudonymOn(c, { repository: target, number }, userToken);
  const next = await frameOf(c, target, REPLY_FORM);
  return answerForm(c, donePage(title, next, { ...posted, hash }, onward));
}

/** What a form posts: in words, and how it is counted. */
const KINDS = {
  issues: { what: 'issue', counter: 'gitveil_issues_total' },
  comments: { what: 'reply', counter: 'gitveil_comments_total' },
} as const;

/** @param post is called at most once for all forms of these secrets, and only if `refusePosting` lets it pass. */
async function postForm(
  c: Context<AppEnv>,
  target: RepositoryName,
  kind: keyof typeof KINDS,
  secrets: FormSecrets,
  post: () => Promise<PostOutcome>,
): Promise<PostOutcome> {
  const { what, counter } = KINDS[kind];
  const counted = (outcome: PostOutcome): PostOutcome => {
    countAct(counter, outcome.kind === 'refused' ? outcome.status : 200);
    return outcome;
  };
  // First, because a form that is refused must not reach the account’s object.
  const refusal = await refusePosting(c, target, kind);
  if (refusal !== null) return counted(refusal);
  // What was typed is in the name.
  const name = { name: secrets('name'), content: '' };
  return postOnce(c, name, { what, sent: 'form' }, async () => counted(await post()));
}

/** Longer ones are nobody's. */
function ownNameIn(fields: FormFields): string {
  return (fields.get('own_name') ?? '').trim().slice(0, MAX_OWN_NAME);
}

/**
 * What a text would give away: the search of a push, without its files. It refuses nothing.
 * @param texts by what they are called. @param ownName what the person has given to be searched for.
 */
function givenAway(texts: Readonly<Record<string, string>>, ownName: string): GivenAway {
  const { name, email } = identityOf({ ownName }, '');
  const content = utf8(`author ${name} <${email}> 0 +0000\n\n`);
  const names = new SearchedNames({ headers: [{ content, encoding: null }], originalIds: [], nobodys: [] });
  const findings = new Findings(names);
  for (const [where, text] of Object.entries(texts)) findings.addText(() => where, utf8(text));
  const searched = ownName === '' ? NO_NAME : searchedLine(names.identities);
  const leaks = [...findings.leaks.map(({ heading }) => heading), ...findings.lines, ...findings.words];
  return {
    addresses: newAddresses('', Object.values(texts).join('\n')),
    remarks: [...leaks, ...remarksOn(Object.entries(texts), NO_FILES), searched],
  };
}
