/**
 * Shows what people wrote on a thread, and what has happened to it, in the order of time: as plain
 * text without links and images, so that no reader's address reaches others.
 * Proved by test/pages/pull-request-page.test.ts.
 */
import { html } from 'hono/html';
import type { Conversation, ThreadComment } from '../host/code-host.ts';
import { splitFooter } from '../text/footer.ts';
import { type Html, isoTime, timeElement, visibleText } from './layout.ts';

/** A text, and who wrote it as far as the service can tell. */
export interface SignedComment extends ThreadComment {
  /** The name under which this service has posted it; null: it has not. */
  readonly postedAs: string | null;
}

/** The person behind what the bot has opened. */
export const CONTRIBUTOR = 'The contributor';

export interface SignedConversation extends Conversation {
  readonly description: SignedComment | null;
  readonly comments: readonly SignedComment[];
}

export type ShownConversation =
  | { readonly kind: 'shown'; readonly conversation: SignedConversation }
  /** There is no such thread, or the public does not see it. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'moved'; readonly to: string }
  /** It cannot be read now. `why`: in whole sentences. */
  | { readonly kind: 'unknown'; readonly why: string };

/** Something that has happened, in a line. */
export interface HappenedLine {
  readonly words: string;
  /** Seconds since 1970. */
  readonly at: number;
}

/** Everything on a thread, in the order of time. */
type Entry = HappenedLine | SignedComment | 'gap';

const MOST_CHARACTERS = 2_000;
const LOCKED = 'It is locked: only the people of the repository may comment on it.';
const GAP = 'Earlier comments are left out here. The code host shows them.';

/**
 * @param happened the oldest first.
 * @param own the name of the reader's pseudonym; null: it is not known.
 */
export function conversationItems(
  shown: ShownConversation,
  happened: readonly HappenedLine[] = [],
  own: string | null = null,
): Html {
  const entries = entriesOf(shown, happened);
  const items = entries.map((entry) => html`<li>${entryItem(entry, own)}</li>`);
  const nothing = shown.kind === 'shown' ? html`<p class="soft">Nobody has written anything yet.</p>` : '';
  const list = html`<ol class="timeline">
    ${items}
  </ol>`;
  return html`${notes(shown)} ${items.length === 0 ? nothing : list}`;
}

function notes(shown: ShownConversation): Html {
  if (shown.kind !== 'shown') return html`<p>${whyNot(shown)}</p>`;
  const locked = shown.conversation.isLocked ? html`<p>${LOCKED}</p>` : '';
  return html`${locked}
    <p class="soft small">The oldest first, as plain text. Reload the page to see what is new.</p>`;
}

function entriesOf(shown: ShownConversation, happened: readonly HappenedLine[]): Entry[] {
  if (shown.kind !== 'shown') return [...happened];
  const { description, comments, hasEarlier } = shown.conversation;
  const later = [...happened, ...comments.toReversed()].toSorted((a, b) => secondOf(a) - secondOf(b));
  return [
    ...(description === null ? [] : [description]),
    ...(hasEarlier ? (['gap'] as const) : []),
    ...later,
  ];
}

const secondOf = (entry: HappenedLine | SignedComment): number =>
  typeof entry.at === 'number' ? entry.at : Math.floor(Date.parse(entry.at) / 1000);

function entryItem(entry: Entry, own: string | null): Html {
  if (entry === 'gap') return html`<p class="soft small">${GAP}</p>`;
  if ('words' in entry)
    return html`<p class="happened small">${entry.words} ${timeElement(isoTime(entry.at))}</p>`;
  const { at, path, postedAs } = entry;
  const isOwn = postedAs !== null && postedAs === own;
  const tag = postedAs === null ? '' : html`<span class="tag small">${isOwn ? 'you' : 'anonymous'}</span>`;
  return html`<article class="${postedAs === null ? 'theirs' : 'ours'}">
    <p class="said-by">
      <strong><bdi>${authorOf(entry)}</bdi></strong> ${tag} ${timeElement(timeOf(at), ' small')}
      ${path === null ? '' : html`<span class="soft small">on <span class="mono">${plainText(path)}</span></span>`}
    </p>
    <pre class="text said" dir="auto">${'\n'}${wordsOf(entry)}</pre>
  </article>`;
}

/** Gives the text without the footer, which says what its heading says. */
function wordsOf({ text, postedAs }: SignedComment): string {
  return plainText((postedAs === null ? null : splitFooter(text))?.words ?? text);
}

/** Makes the lines for a terminal. */
export function conversationLines(shown: ShownConversation, happened: readonly HappenedLine[]): string[] {
  const lines = entriesOf(shown, happened).flatMap((entry) => {
    if (entry === 'gap') return [GAP];
    if ('words' in entry) return [`${isoTime(entry.at)}  ${entry.words}`];
    const about = entry.path === null ? '' : ` on ${plainText(entry.path)}`;
    const words = wordsOf(entry).split('\n');
    return [`${timeOf(entry.at)}  ${authorOf(entry)}${about}`].concat(words.map((line) => `  ${line}`));
  });
  if (shown.kind !== 'shown') return [whyNot(shown), ...lines];
  return shown.conversation.isLocked ? [LOCKED, ...lines] : lines;
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
  return visibleText(cut.replaceAll(/(?![\n\t])\p{Cc}/gu, '\uFFFD'));
}

const authorOf = ({ author, postedAs }: SignedComment): string =>
  postedAs ?? (author === null ? 'A deleted account' : plainText(author));

const timeOf = (at: string): string => isoTime(Date.parse(at) / 1000);

function whyNot(shown: Exclude<ShownConversation, { kind: 'shown' }>): string {
  if (shown.kind === 'moved') return `It was moved to another repository: ${plainText(shown.to)}`;
  return shown.kind === 'missing' ? 'The code host does not show it to the public.' : shown.why;
}
