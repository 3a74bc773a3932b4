/**
 * The pages /admin/delayed and below: delayed pushes as they would be public, and the operator's
 * decisions. They work without script.
 * Proved by test/routes/moderation/delayed.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import { REVIEW_PATH } from '../notify/alert.ts';
import { bytesOf, type DelayedPush, type SeenPush } from '../durable/delayed-pushes/delayed-push.ts';
import { DISCARD_REASONS } from '../durable/delayed-pushes/endings.ts';
import type { Changes } from '../edit/changes.ts';
import { minuteOf } from '../push/reply/banner.ts';
import type { LeavingTexts, ShownMessage, ShownText } from './leaving-texts.ts';
import { pullRequestPath } from '../words/pr-hash.ts';
import { changesList } from './changes-list.ts';
import { hidden, problemNotice } from './forms/parts.ts';
import { card, countOf, exactText, factList, type Html, type Page } from './layout.ts';
import { type OperatorDoor, operatorPage } from './operator-page.ts';

type ListedPush = Pick<
  DelayedPush,
  'name' | 'reason' | 'spool' | 'commits' | 'keptAt' | 'from' | 'to' | 'dueAt'
>;

export interface ReviewedPush {
  readonly listed: ListedPush;
  /** The bot's name and address, as the commits will have them. */
  readonly author: string;
  /** `octo/hello`, or `cb/octo/hello` on another host; null if the texts cannot be shown. */
  readonly repository: string | null;
  /** Everything that leaves as text; null if it cannot be shown. */
  readonly texts: LeavingTexts | null;
  /** Why they cannot be shown, in sentences. */
  readonly problem: string | null;
}

/** A decision, and how many pushes it took effect on, or came too late for. */
export interface DecisionResult {
  readonly what: 'publish' | 'discard';
  readonly done: number;
  readonly late: number;
}

export const REVIEW_DOOR: OperatorDoor = {
  path: REVIEW_PATH,
  title: 'Delayed pushes',
  description: 'Pushes that are published later.',
};

const page = (title: string, content: Html): Page => operatorPage({ ...REVIEW_DOOR, title }, 'wide', content);

export interface ReviewList {
  readonly waiting: number;
  /** The number of this page, from 1 on. */
  readonly page: number;
  readonly pageSize: number;
  readonly pushes: readonly ReviewedPush[];
  readonly decided: DecisionResult | null;
  readonly problem: string | null;
}

export function reviewListPage({ pushes, waiting, decided, problem, ...place }: ReviewList): Page {
  const count = `${countOf(waiting, 'push')} ${waiting === 1 ? 'waits' : 'wait'}`;
  const buttons = decisionButtons(pushes.some(({ listed: { dueAt } }) => dueAt === null));
  const list = html`<form method="post" action="${REVIEW_PATH}">
    ${pushes.map(listItem)} ${card('decide', 'Those that you have chosen', buttons)}
  </form>`;
  return page(
    REVIEW_DOOR.title,
    html`<h1>Delayed pushes</h1>
      <p class="lead">
        ${waiting === 0 ? 'No push waits.' : `${count}: first those that wait for you, then the oldest. What waits for you for 14 days is discarded.`}
      </p>
      ${decided === null ? '' : decidedNotice(decided)} ${problemNotice(problem)}
      ${pushes.length === 0 ? '' : list} ${pageLinks(waiting, place.page, place.pageSize)}`,
  );
}

export function reviewOnePage(push: ReviewedPush, changes: Changes | string): Page {
  const list = typeof changes === 'string' ? html`<p>${changes}</p>` : changesList(changes);
  const form = html`<form method="post" action="${REVIEW_PATH}">
    ${hidden({ 'push-0': seenValue(push.listed) })} ${decisionButtons(push.listed.dueAt === null)}
  </form>`;
  return page(
    'A delayed push',
    html`<p class="crumbs"><a href="${REVIEW_PATH}">Delayed pushes</a></p>
      <h1>${titleOf(push)}</h1>
      ${card('what', 'What it is', html`${factsOf(push)} ${textsOf(push)}`)}
      ${card('changes', 'What it changes', list)} ${card('decide', 'Decide', form)}`,
  );
}

/** Names a push, as it was seen, in the value of a field. */
const seenValue = ({ name, spool }: ListedPush): string => `${name} ${spool.attempt}`;

/** Reads a value of `seenValue`; null if it is none. */
export function seenIn(value: string): SeenPush | null {
  const [name = '', attempt = '', ...rest] = value.split(' ');
  return name === '' || attempt === '' || rest.length > 0 ? null : { name, attempt };
}

function titleOf({ texts, listed }: ReviewedPush): string {
  if (texts === null) return `Push ${listed.name}`;
  if (texts.title !== null) return exactText(texts.title.text);
  const [first = ''] = texts.messages.at(-1)?.text.split('\n') ?? [];
  return `Update: ${exactText(first)}`;
}

function listItem(push: ReviewedPush, at: number): Html {
  const title = `push-${at}-title`;
  const address = `${REVIEW_PATH}/${push.listed.name}`;
  const value = seenValue(push.listed);
  return card(
    title,
    titleOf(push),
    html`${factsOf(push)} ${textsOf(push)}
      <p><a href="${address}" aria-describedby="${title}">See all that leaves with it</a></p>
      <label class="choice">
        <input type="checkbox" name="push-${at}" value="${value}" aria-describedby="${title}" /> Choose it
      </label>`,
  );
}

function factsOf({ listed, author, repository, texts }: ReviewedPush): Html {
  const updates = texts?.updates ?? null;
  return factList({
    ...(texts !== null && repository !== null && { Repository: repository, Base: exactText(texts.base) }),
    Updates: updates === null ? null : html`<a href="${pullRequestPath(updates)}">${updates}</a>`,
    'Opened as': texts?.isDraft ? 'a draft' : null,
    Author: author,
    'Waits since': minuteOf(listed.keptAt),
    'Waits for': waitsFor(listed),
    Size: `${countOf(listed.commits, 'commit')}, ${countOf(bytesOf(listed), 'byte')}`,
  });
}

function waitsFor({ dueAt, reason, from, to }: ListedPush): string {
  if (dueAt === null) return 'you';
  return reason === 'busy' ? 'room' : `its time, between ${minuteOf(from)} and ${minuteOf(to)}`;
}

function textsOf({ texts, problem }: ReviewedPush): Html {
  if (texts === null) return html`<p class="notice bad">${problem}</p>`;
  const { title, description, messages, commitCount, updates } = texts;
  const more = commitCount - messages.length;
  const kept = html`<p>Title and description of the pull request stay as they are.</p>`;
  const described = html`<h3>Description</h3>
    ${description === null || description.text === '' ? html`<p>There is none.</p>` : plainText(description)}`;
  return html`${updates !== null && title === null && description === null ? kept : described}
    <h3>${commitCount === 1 ? 'Commit message' : 'Commit messages'}</h3>
    ${messages.map(messageOf)}
    ${more > 0 ? html`<p class="notice">${more.toLocaleString('en')} more are not shown.</p>` : ''}`;
}

function messageOf({ encoding, encoded, ...message }: ShownMessage): Html {
  return html`${plainText(message)}
  ${encoding === null ? '' : html`<p class="soft">Its commit says that this is in ${exactText(encoding)}. The code host may read it so.</p>`}
  ${encoded && plainText(encoded)}`;
}

function plainText({ text, missing }: ShownText): Html {
  return html`<pre class="text">${'\n'}${exactText(text)}</pre>
    ${missing === 0 ? '' : html`<p class="notice">${missing.toLocaleString('en')} bytes more are not shown.</p>`}`;
}

function decisionButtons(mayPublish: boolean): Html {
  const options = Object.entries(DISCARD_REASONS).map(
    ([reason, words]) => html`<option value="${reason}">${words}</option>`,
  );
  return html`<div class="row">
      <label for="reason">If you discard it: why</label>
      <select id="reason" name="reason" aria-describedby="reason-hint">
        ${options}
      </select>
      <p class="soft small" id="reason-hint">The author reads it on the page of the push.</p>
    </div>
    <div class="buttons">
      ${mayPublish ? html`<button type="submit" name="decision" value="publish">Publish</button>` : ''}
      <button type="submit" name="decision" value="discard" class="second">Discard</button>
    </div>`;
}

function decidedNotice({ done, what, late }: DecisionResult): Html {
  const verb = what === 'publish' ? 'published within minutes, or at the chosen time' : 'discarded';
  const why =
    'nothing was done. It does not wait for you, is being published, or somebody else has decided already. Look again in a minute.';
  return html`<div class="notice" role="status">
    ${done === 0 ? '' : html`<p>${countOf(done, 'push')}: ${verb}.</p>`}
    ${late === 0 ? '' : html`<p>${countOf(late, 'push')}: ${why}</p>`}
  </div>`;
}

const pageLink = (to: number, words: string): Html => html`<a href="${REVIEW_PATH}?page=${to}">${words}</a>`;

function pageLinks(waiting: number, at: number, size: number): Html | '' {
  const last = Math.max(1, Math.ceil(waiting / size));
  if (last === 1 && at === 1) return '';
  return html`<nav class="card" aria-label="Pages">
    ${at > 1 ? pageLink(Math.min(at - 1, last), 'Earlier ones') : ''} Page ${at} of ${last}
    ${at < last ? pageLink(at + 1, 'Later ones') : ''}
  </nav>`;
}
