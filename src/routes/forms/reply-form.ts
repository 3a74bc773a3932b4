/**
 * Serves the form that replies on a thread, with the code of the JSON endpoint.
 * Proved by test/e2e/people/thread-form.test.ts.
 */
import { recordName } from '../../config/hosts.ts';
import { type ReplyForm, replyFormPage, replyPreviewPage } from '../../pages/forms/reply-pages.ts';
import { commentText } from '../../text/footer.ts';
import { sentence } from '../../words/sentence.ts';
import { conversationOf, knownConversation } from '../request/conversation.ts';
import { type FormFields, parseThreadText, withPlainLineEnds } from '../request/form-fields.ts';
import { isBlankText } from '../request/payload.ts';
import { publishedOrigin } from '../request/public-origin.ts';
import { explanationOf, refused } from '../request/refused.ts';
import { BLOCKED, checkComment, COOLDOWN, postComment } from '../threads/comments.ts';
import { pseudonymOn } from '../threads/posting.ts';
import { chooseThread } from './choose-thread.ts';
import { answerForm, frameOf, type RequestedForm, type SentForm } from './form.ts';
import { givenAway, ownNameIn } from './given-away.ts';
import { outlookOf } from './known-first.ts';
import { answerSteps } from './posting-steps.ts';

/** Sentences that the contract has in Spanish (section 7). */
const IN_ENGLISH: Readonly<Record<string, string>> = {
  [BLOCKED]: 'this pseudonym is blocked, because six people have reported it',
  [COOLDOWN]: 'this pseudonym may not post now, because people have reported it; try again in some hours',
};

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
