/**
 * The page of a delayed push: its state, and up to two buttons. Only whoever has pushed it is told
 * the address; the operator can make it of the push's name.
 * Proved by test/routes/pages/delayed-page.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import type { DelayedView, DelayState, PublishedAs } from '../durable/delayed-pushes/delayed-push.ts';
import { pullRequestPath } from '../words/pr-hash.ts';
import { minuteOf, willBePublished } from '../push/reply/banner.ts';
import { COPY_SCRIPT } from './commands.ts';
import { problemNotice } from './forms/parts.ts';
import { saveCard } from './forms/save-card.ts';
import { card, dotted, type Html, type Page, hostLine, OPENED_EARLY, unlistedPage } from './layout.ts';

/** Values that the buttons send as `action`. */
export const DELAYED_ACTIONS = ['publish', 'give-up'] as const;
export type DelayedAction = (typeof DELAYED_ACTIONS)[number];

interface ShownPush {
  readonly view: DelayedView;
  readonly origin: string;
  /** The pull request's key; null where it is not shown. */
  readonly prKey: string | null;
  /** Why the button that was pressed has done nothing; else null. */
  readonly problem: string | null;
}

const STATES: Readonly<Record<DelayState | 'left', { tone: string; word: string }>> = {
  waiting: { tone: 'warn', word: 'Delayed' },
  published: { tone: 'good', word: 'Published' },
  failed: { tone: 'bad', word: 'Failed' },
  'given-up': { tone: 'warn', word: 'Given up' },
  discarded: { tone: 'bad', word: 'Discarded' },
  // It was given up, but is not removed yet.
  left: { tone: 'bad', word: 'Not removed yet' },
};
const standingOf = ({ state, isGivenUp }: DelayedView) => STATES[isGivenUp ? 'left' : state];

export const delayedPath = (name: string): string => `/v1/delayed/${name}`;

export function delayedPage(shown: ShownPush): Page {
  const { view, problem } = shown;
  const { tone, word } = standingOf(view);
  const paragraphs = sentences(view).map((sentence) => html`<p>${sentence}</p>`);
  const content = html`<h1>A delayed push</h1>
    ${problemNotice(problem)} ${card('standing', dotted(tone, word), paragraphs)}
    ${view.published && pullRequestCard(view.published, shown)} ${buttons(view)}`;
  const page = unlistedPage(word, 'The state of a delayed push.', content);
  return view.published === null ? page : { ...page, script: COPY_SCRIPT };
}

function sentences(view: DelayedView): string[] {
  const { state, said, published, isGivenUp } = view;
  if (published !== null)
    return [`It was published as ${published.url}`, ...said, 'This page stays for 14 days.'];
  if (state !== 'waiting') return [...said];
  if (view.isBeingPublished)
    return [`It is being ${isGivenUp ? 'removed' : 'published'} now. Reload this page in a minute.`];
  if (isGivenUp) {
    return [
      'You have given it up, so nothing more of it will be published.',
      'Part of it may be public already. Press “Give up” again to remove that.',
    ];
  }
  const tried = 'It could not be published yet. The service tries again by itself. The reason:';
  return [
    when(view),
    view.isBegun ? 'Part of it may be public already.' : 'Nothing of it is public yet.',
    ...(said.length === 0 ? [] : [tried, ...said]),
  ];
}

function when({ reason, waitsForReview, from, to, until }: DelayedView): string {
  if (waitsForReview)
    return `The operator of this service looks at it before it is published, or discards it. It waits until ${minuteOf(until)}.`;
  return reason === 'busy'
    ? `There was no room for it. The service publishes it when there is, and tries until ${minuteOf(until)}.`
    : `It ${willBePublished({ from, to })}`;
}

const TO_UPDATE = 'Its page has the command that updates it.';

function pullRequestCard({ prHash, url }: PublishedAs, { prKey, origin }: ShownPush): Html {
  const page = pullRequestPath(prHash);
  return html`<p><a href="${page}" rel="noreferrer">Follow the pull request on its page</a></p>
    ${saveCard({
      lines: { Page: origin + page, Hash: prHash, ...(prKey !== null && { Key: prKey }) },
      note: prKey === null ? TO_UPDATE : `${TO_UPDATE} Only the key can withdraw it: keep that secret.`,
      fileName: `pull-request-${prHash}.txt`,
    })}
    ${hostLine(url)}`;
}

function buttons({ name, state, waitsForReview, isBeingPublished }: DelayedView): Html | '' {
  if (state !== 'waiting' || isBeingPublished) return '';
  const now = html`<button type="submit" name="action" value="publish">Publish now</button>`;
  return html`<form method="post" action="${delayedPath(name)}" class="card">
    <div class="buttons">
      ${waitsForReview ? '' : now}
      <button type="submit" name="action" value="give-up" class="second">Give up</button>
    </div>
    <p class="soft small">
      To change it, give it up, then push again. Keep the address of this page secret: it has the buttons.
    </p>
  </form>`;
}

/** Makes the text for a terminal. */
export function delayedText({ view, prKey, origin, problem }: ShownPush): string {
  const { name, state, waitsForReview, isBeingPublished, published } = view;
  const lines = [...(problem === null ? [] : [problem, '']), standingOf(view).word, ...sentences(view)];
  if (published !== null) {
    const { url, prHash } = published;
    lines.push('', `Page:     ${origin}${pullRequestPath(prHash)}`, `PR hash:  ${prHash}`);
    if (prKey !== null) lines.push(`PR key:   ${prKey}`);
    lines.push(`PR URL:   ${url}`, OPENED_EARLY);
  }
  const command = (what: string, action: DelayedAction) =>
    lines.push('', `${what}:`, `  curl -d action=${action} ${origin}${delayedPath(name)}`);
  const canAct = state === 'waiting' && !isBeingPublished;
  if (canAct && !waitsForReview) command('Publish it now', 'publish');
  if (canAct) command('Give it up', 'give-up');
  return `${lines.join('\n')}\n`;
}
