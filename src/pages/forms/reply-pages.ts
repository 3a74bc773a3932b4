/**
 * Pages to reply on a thread: the choice of the thread, the form, and the preview.
 * Proved by test/e2e/people/thread-form.test.ts, test/e2e/people/conversation.test.ts and
 * test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import type { ListedThread } from '../../host/code-host.ts';
import { conversationItems, plainText, type ShownConversation } from '../conversation.ts';
import { card, folded, type Html, listCard, type Page, safeUrl } from '../layout.ts';
import { APPEAL_PATH } from '../report-page.ts';
import {
  asItStands,
  cardForm,
  closedNotice,
  field,
  type FormFrame,
  formPage,
  type FormPlace,
  type GivenAway,
  nameField,
  previewPage,
  problemNotice,
  queryField,
} from './parts.ts';
import { dayElement, threadItem } from '../thread-item.ts';
import { BODY_HINT } from './thread-pages.ts';

export interface ReplyForm
  extends FormFrame, Readonly<Record<'threadUrl' | 'body' | 'own_name' | 'user_token', string>> {
  readonly number: number;
  /** Lines that say why no reply can be posted now; null: as far as is known, it can. */
  readonly closed: string | null;
  /** The thread, if reports have silenced the pseudonym there; else null. */
  readonly appealFor: string | null;
  /** The pseudonym of the token that was given; null: none was. */
  readonly own: string | null;
}

const TOKEN_HINT =
  'You got it after an earlier reply or issue of yours. With it, you write under the same pseudonym. Without it, you get a new one.';

const MOST_THREADS = 20;

/**
 * Asks which thread is meant.
 * @param threads the newest open ones; null: they are not known now.
 */
export function replyToPage(
  place: FormPlace,
  value: string,
  problem: string | null,
  threads: readonly ListedThread[] | null,
): Page {
  const label = 'Number or address of the issue or pull request';
  const query = { name: 'to', label, value, placeholder: '12', maxlength: 300 };
  const button = html`<button type="submit">Reply</button>`;
  return replyPage(
    place,
    html`<form method="get" action="${place.action}" class="card">${queryField(query, button, problem)}</form>
      ${threadList(place, threads)}`,
  );
}

/** @param closed lines that say why no reply can be posted now. */
export function replyClosedPage(place: FormPlace, closed: string): Page {
  return replyPage(place, closedNotice(place, closed));
}

function replyPage(place: FormPlace, content: Html): Page {
  return formPage(
    'Reply to an issue',
    place,
    'Reply to an issue or a pull request without an account.',
    content,
  );
}

function threadList({ action }: FormPlace, threads: readonly ListedThread[] | null): Html {
  const items = (threads ?? []).slice(0, MOST_THREADS).map(({ number, title, isPullRequest, openedAt }) => {
    const kind = isPullRequest ? 'pull request' : 'issue';
    return threadItem(action, number, title, html`<span>${kind}</span> ${dayElement(openedAt)}`);
  });
  const nothing =
    threads === null ? 'The list cannot be read now. Write the number above.' : 'No thread is open now.';
  return listCard('threads', 'Or choose one of the newest', items, nothing, 'threads');
}

/** @param thread the thread to reply to; null if it is not shown. */
export function replyFormPage(form: ReplyForm, thread: ShownConversation | null): Page {
  const { problem, body, number, threadUrl, user_token: value, closed } = form;
  const own = { hint: TOKEN_HINT, isOptional: true, secret: 'shown' } as const;
  const fields = html`${field('body', 'Your reply', body, { hint: BODY_HINT, rows: 10 })}
  ${field('user_token', 'Your token (optional)', value, own)} ${nameField(form)}`;
  const isLocked = thread?.kind === 'shown' && thread.conversation.isLocked;
  // What was typed is shown all the same.
  const hasForm = closed === null && !(isLocked && body === '');
  const ownForm = hasForm ? cardForm(form, { number: String(number) }, fields, { preview: 'Preview' }) : '';
  return formPage(
    `Reply to #${number}`,
    form,
    'A bot posts your reply. It shows neither your name nor your address.',
    html`${threadNotice(thread, hasForm)} ${problemNotice(problem)}
      ${form.appealFor === null ? '' : appealLink(form.appealFor)}
      ${closed === null ? '' : closedNotice(form, closed)} ${thread && conversation(form, thread)} ${ownForm}
      <p class="soft small">
        At the code host: <a href="${safeUrl(threadUrl)}" rel="noreferrer">${form.repository} #${number}</a>.
        It sees the address of whoever opens it.
      </p>`,
  );
}

/** Shows the thread above the form, but closed where the form was filled in already. */
function conversation({ problem, body, own }: ReplyForm, thread: ShownConversation): Html {
  const items = conversationItems(thread, [], own);
  const isBehind = problem !== null || body !== '';
  return isBehind
    ? folded('conversation', 'Conversation', items)
    : card('conversation', 'Conversation', items);
}

function appealLink(thread: string): Html {
  const form = `${APPEAL_PATH}?thread=${encodeURIComponent(thread)}`;
  return html`<p>If the reports were wrong, <a href="${form}">appeal to the operator</a>.</p>`;
}

const LOCKED = html`<div class="notice bad" role="alert">
  <p>This thread is locked: the code host will take no reply. Open an issue of your own instead.</p>
</div>`;
const STATES = { open: 'Open', closed: 'Closed', merged: 'Merged' } as const;

function threadNotice(thread: ShownConversation | null, hasForm: boolean): Html | '' {
  if (thread?.kind !== 'shown') return '';
  const { title, state, isLocked } = thread.conversation;
  const down = hasForm ? html`· <a href="#body">Write your reply</a>` : '';
  return html`<p>
      <bdi><strong>${plainText(title)}</strong></bdi> <span class="soft">${STATES[state]}</span> ${down}
    </p>
    ${isLocked ? LOCKED : ''}`;
}

/**
 * @param text the whole text, with its footer.
 * @param hash that of the pseudonym.
 */
export function replyPreviewPage(form: ReplyForm, text: string, hash: string, given: GivenAway): Page {
  const { body, number, user_token, own_name } = form;
  const karma = 'The last line will show your karma at the moment of posting.';
  const shown = html`${asItStands(text)}
    <p class="soft small after-commands">${karma}</p>`;
  return previewPage(`Preview of the reply to #${number}`, form, {
    lead: html`This is everything that becomes public, under the pseudonym
      <span class="mono">anon-${hash}</span>.`,
    given,
    shown: card('shown', 'Your reply', shown),
    typed: { number: String(number), body, user_token, own_name },
    steps: { post: 'Post the reply', edit: 'Change it' },
  });
}
