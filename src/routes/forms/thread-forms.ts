/** Open an issue with a form, or reply: by the code of the JSON endpoints, in create-issue.ts and anonymous-comment.ts. */
import { recordName } from '../../config/hosts.ts';
import { newAddresses } from '../../edit/addresses.ts';
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
import { type GivenAway, MAX_OWN_NAME } from '../../pages/forms/parts.ts';
import {
  donePage,
  issueFormPage,
  issuePreviewPage,
  type ReplyForm,
  replyFormPage,
  replyPreviewPage,
  replyToPage,
} from '../../pages/forms/thread-pages.ts';
import type { Page } from '../../pages/layout.ts';
import { Findings, searchedLine } from '../../push/judge/names/search-names.ts';
import { remarksOn } from '../../push/judge/names/messages.ts';
import { fullName } from '../../repository-name.ts';
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
import { answerForm, frameOf, type Place, placeOf, secretsOf, type SentForm } from './form.ts';
import { issueTemplate, issueTemplates } from './issue-templates.ts';
import { REPLY_FORM } from '../request/repository.ts';

const NO_TEMPLATE =
  'This template cannot be used here: only files of Markdown up to 64 KB are. Write the issue without it.';
/** What the contract says in Spanish (section 7). */
const IN_ENGLISH: Readonly<Record<string, string>> = {
  [BLOCKED]: 'this pseudonym is blocked, because six people have reported it',
  [COOLDOWN]: 'this pseudonym may not post now, because people have reported it; try again in some hours',
};
export const NO_NAME = 'You gave no name, so nothing was searched for. Check the text yourself.';
const NO_FILES = { homeFolders: [], files: [], opaque: [] };

/** What a form posts: in words, and how it is counted. */
const KINDS = {
  issues: { what: 'issue', counter: 'gitveil_issues_total' },
  comments: { what: 'reply', counter: 'gitveil_comments_total' },
} as const;

/** Shows the form with what was typed. @param own its token; null: a new one. @param refusal why it is shown again. */
type Show = (own: string | null, refusal: Refused | null) => Promise<Response>;

interface Ready {
  readonly kind: 'ready';
  readonly secrets: FormSecrets;
  readonly userToken: string;
  preview(): Promise<Page>;
  /** Called at most once for all forms of these secrets. */
  post(): Promise<PostOutcome>;
}

/** The steps of a form: it is previewed, edited, and posted. */
async function answerSteps(
  { c, target }: Place,
  kind: keyof typeof KINDS,
  { fields, token, problem: unfit }: SentForm,
  show: Show,
  check: (token: FormToken) => Promise<Ready | Refused>,
): Promise<Response> {
  if (token === null) return show(null, problem(403, unfit));
  const step = fields.get('step');
  if (step === 'edit') return show(token.text, null);
  const ready = await check(token);
  if (ready.kind === 'refused') return show(token.text, ready);
  if (step !== 'post') return answerForm(c, await ready.preview());
  const { secrets, userToken } = ready;
  const { what, counter } = KINDS[kind];
  const counted = (posted: PostOutcome): PostOutcome => {
    countAct(counter, posted.kind === 'refused' ? posted.status : 200);
    return posted;
  };
  // First, because a form that is refused must not reach the account’s object.
  const refusal = await refusePosting(c, target, kind);
  // What was typed is in the name.
  const name = { name: secrets('name'), content: '' };
  const post = async () => counted(await ready.post());
  const outcome = refusal ? counted(refusal) : await postOnce(c, name, { what, sent: 'form' }, post);
  // If it may have been posted, with a new token: so a person who has checked and sends it again sends another form.
  if (outcome.kind === 'refused') return show(outcome.code === 'may-exist' ? null : token.text, outcome);
  const hash = await pseudonymOn(c, { repository: target, number: outcome.number }, userToken);
  const next = await frameOf(placeOf(c, target, REPLY_FORM));
  return answerForm(c, donePage(what, next, { ...outcome, userToken, hash }));
}

export async function showIssueForm(place: Place): Promise<Response> {
  const { c } = place;
  const name = c.req.query('template') ?? '';
  const template = name === '' ? null : await issueTemplate(place, name);
  const form = {
    ...(await frameOf(place)),
    ...issueFields((field) => c.req.query(field) ?? template?.[field] ?? ''),
    ownName: '',
    problem: name === '' || template !== null ? null : NO_TEMPLATE,
  };
  return answerForm(c, issueFormPage(form, name === '' ? await issueTemplates(place) : []));
}

/** As a link of a project may fill them in, and as a browser sends them. */
function issueFields(value: (field: 'title' | 'body' | 'labels') => string) {
  return { title: value('title'), body: withPlainLineEnds(value('body')), labels: value('labels') };
}

export async function answerIssue(place: Place, sent: SentForm): Promise<Response> {
  const { c, target } = place;
  const issue = issueFields((field) => sent.fields.get(field) ?? '');
  const typed = { ...issue, ownName: ownNameIn(sent.fields) };
  const show: Show = async (own, refusal) => {
    const form = { ...(await frameOf(place, own)), ...typed, problem: refusal && explanationOf(refusal) };
    return answerForm(c, issueFormPage(form), refusal?.status, refusal?.headers);
  };
  return answerSteps(place, 'issues', sent, show, async (token) => {
    const labels = issue.labels.split(',').map((label) => label.trim());
    const checked = await checkIssue(c, target, { ...issue, labels: labels.filter((label) => label !== '') });
    if (checked.kind === 'refused') return checked;
    const secrets = await secretsOf(c, token, [issue.title, issue.body, issue.labels]);
    const userToken = userTokenOf(secrets);
    return {
      kind: 'ready',
      secrets,
      userToken,
      async preview() {
        const given = givenAway({ title: issue.title, body: issue.body }, typed.ownName);
        const form = { ...(await frameOf(place, token.text)), ...typed };
        return issuePreviewPage(form, checked.issue.body, given);
      },
      post: () => createIssue(c, target, checked.issue, userToken),
    };
  });
}

export async function showReplyForm(place: Place): Promise<Response> {
  const { c, target } = place;
  const typed = c.req.query('to') ?? '';
  /** For another number. */
  const askAgain = (words: string | null, status: 200 | 400 | 404) =>
    answerForm(c, replyToPage(place, typed, words), status);
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
  return answerForm(c, replyFormPage(await replyForm(place, number, new Map(), null), thread));
}

export async function answerReply(place: Place, sent: SentForm): Promise<Response> {
  const { c, target } = place;
  const { fields } = sent;
  const named = parseThreadText(fields.get('number') ?? '', target, c.var.host.url);
  // The form itself has written the number.
  if (named.kind === 'invalid') return c.redirect(place.action, 303);
  const { number } = named;
  const onThread = { repository: target, number };
  const show: Show = async (own, refusal) => {
    // A form that is refused does not ask the host.
    const thread =
      refusal === null
        ? await conversationOf(c, c.var.host, target, number)
        : knownConversation(c.var.host, target, number);
    const silenced = refusal === null ? undefined : IN_ENGLISH[refusal.error];
    const shown = {
      ...(await replyForm(place, number, fields, own)),
      problem: refusal && (silenced === undefined ? explanationOf(refusal) : sentence(silenced)),
      appealFor: silenced === undefined ? null : `${recordName(c.var.host, target)}#${number}`,
    };
    return answerForm(c, replyFormPage(shown, thread), refusal?.status, refusal?.headers);
  };
  return answerSteps(place, 'comments', sent, show, async (token) => {
    const form = await replyForm(place, number, fields, token.text);
    if (isBlank(form.body)) return refused(400, 'body is required');
    const secrets = await secretsOf(c, token, [String(number), form.body, form.userToken]);
    const userToken = form.userToken || userTokenOf(secrets);
    const checked = await checkComment(c, target, { body: form.body, user_token: userToken });
    if (checked.kind === 'refused') return checked;
    return {
      kind: 'ready',
      secrets,
      userToken,
      async preview() {
        const hash = await pseudonymOn(c, onThread, userToken);
        // The page says that the karma will be another.
        const footer = { hash, karma: 1, origin: publishedOrigin(c.req.raw, c.var.config) };
        const given = givenAway({ body: form.body }, form.ownName);
        return replyPreviewPage({ ...form, userToken }, commentText(form.body, footer), hash, given);
      },
      post: () => postComment(c, onThread, checked),
    };
  });
}

/** @param token of the form that was sent; null: a new one. */
async function replyForm(
  place: Place,
  number: number,
  fields: FormFields,
  token: string | null,
): Promise<ReplyForm> {
  return {
    ...(await frameOf(place, token)),
    number,
    threadUrl: `${place.c.var.host.url}/${place.repository}/issues/${number}`,
    body: withPlainLineEnds(fields.get('body') ?? ''),
    ownName: ownNameIn(fields),
    userToken: (fields.get('user_token') ?? '').trim(),
    appealFor: null,
  };
}

/** Longer ones are nobody's. */
function ownNameIn(fields: FormFields): string {
  return (fields.get('own_name') ?? '').trim().slice(0, MAX_OWN_NAME);
}

/** What texts, by their names, would give away: the search of a push for `ownName`, without files. It refuses nothing. */
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
