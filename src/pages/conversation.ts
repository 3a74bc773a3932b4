/**
 * Shows what people wrote on a thread, as plain text without links and images, so that no reader's
 * address reaches others.
 * Proved by test/pages/pull-request-page.test.ts.
 */
import { html } from 'hono/html';
import type { Conversation, ThreadComment } from '../host/code-host.ts';
import { card, type Html, isoTime, timeElement, visibleText } from './layout.ts';

export type ShownConversation =
  | { readonly kind: 'shown'; readonly conversation: Conversation }
  /** There is no such thread, or the public does not see it. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'moved'; readonly to: string }
  /** It cannot be read now. `why`: in whole sentences. */
  | { readonly kind: 'unknown'; readonly why: string };

const MOST_CHARACTERS = 2_000;
const LOCKED = 'It is locked: only the people of the repository may comment on it.';

/** @param link the link to the reply form; empty where that form is on the page. */
export function conversationSection(shown: ShownConversation, link: Html | ''): Html {
  return card('conversation', 'What people wrote', html`${content(shown)} ${link}`);
}

function content(shown: ShownConversation): Html {
  if (shown.kind !== 'shown') return html`<p class="soft">${whyNot(shown)}</p>`;
  const { comments, isLocked } = shown.conversation;
  const order = html`<p class="soft small">The newest first, as plain text, read at most once a minute.</p>`;
  const note = comments.length === 0 ? html`<p class="soft">Nothing yet.</p>` : order;
  return html`${isLocked && html`<p>${LOCKED}</p>`} ${note} ${comments.map(comment)}`;
}

function comment(said: ThreadComment): Html {
  const { at, path } = said;
  return html`<article>
    <p class="said-by">
      <strong>${authorOf(said)}</strong>
      ${timeElement(timeOf(at), ' small')}
      ${path === null ? '' : html`<span class="soft small">on <span class="mono">${plainText(path)}</span></span>`}
    </p>
    <pre class="text said">${'\n'}${plainText(said.text)}</pre>
  </article>`;
}

/** Makes the lines for a terminal. */
export function conversationLines(shown: ShownConversation): string[] {
  if (shown.kind !== 'shown') return [whyNot(shown)];
  const { comments, isLocked } = shown.conversation;
  const lines = comments.flatMap((said) => {
    const about = said.path === null ? '' : ` on ${plainText(said.path)}`;
    const words = plainText(said.text).split('\n');
    return [`${timeOf(said.at)}  ${authorOf(said)}${about}`].concat(words.map((line) => `  ${line}`));
  });
  return isLocked ? [LOCKED, ...lines] : lines;
}

/** Shortens a title, name or comment, and writes out what would change how the page is read. */
export function plainText(text: string): string {
  const typed = text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/\n(?:[^\S\n]*\n){2,}/g, '\n\n')
    .trim();
  // The cut must not leave half of a surrogate pair.
  const start = typed.slice(0, MOST_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '');
  const cut = typed.length > MOST_CHARACTERS ? `${start}…` : typed;
  return visibleText(cut).replaceAll(/(?![\n\t])\p{Cc}/gu, '\uFFFD');
}

const authorOf = ({ author }: ThreadComment): string =>
  author === null ? 'A deleted account' : plainText(author);

const timeOf = (at: string): string => isoTime(Date.parse(at) / 1000);

function whyNot(shown: Exclude<ShownConversation, { kind: 'shown' }>): string {
  if (shown.kind === 'moved') return `It was moved to another repository: ${plainText(shown.to)}`;
  return shown.kind === 'missing' ? 'The code host does not show it to the public.' : shown.why;
}
