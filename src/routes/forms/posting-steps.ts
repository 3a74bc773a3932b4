/**
 * Handles the steps of the forms that open an issue and reply: preview, edit, post.
 * Proved by test/e2e/people/thread-form.test.ts.
 */
import type { Limit } from '../../limits/sliding-window.ts';
import { donePage } from '../../pages/forms/thread-pages.ts';
import type { Page } from '../../pages/layout.ts';
import { REPLY_FORM } from '../../pages/remote-paths.ts';
import { forgetConversation } from '../request/conversation.ts';
import { userTokenOf } from '../request/form-fields.ts';
import { shownOrigin } from '../request/public-origin.ts';
import { problem, type Refused } from '../request/refused.ts';
import { type PostKind, postOnce, type PostOutcome, pseudonymOn } from '../threads/posting.ts';
import { answerForm, frameOf, type RequestedForm, requestedForm, secretsOf, type SentForm } from './form.ts';

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

export async function answerSteps(
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
