/** /admin/delayed: what waits, as it would be public, and what the operator may do with it. Without script. */
import { html } from 'hono/html';
import { REVIEW_PATH } from '../notify/alert.ts';
import {
  bytesOf,
  type DelayedPush,
  DISCARD_REASONS,
  type SeenPush,
} from '../durable/delayed-pushes/delayed-push.ts';
import type { ChangedFile, Changes } from '../push/changes.ts';
import { minuteOf } from '../push/reply/banner.ts';
import type { LeavingTexts, ShownMessage, ShownText } from '../push/delay/leaves.ts';
import { pullRequestPath } from '../pr-hash.ts';
import { differenceTable } from './forms/difference.ts';
import { hidden, problemNotice, secretField } from './forms/parts.ts';
import { type Html, type Page, unlistedPage } from './layout.ts';
import { exactText } from './visible-text.ts';

type ListedPush = Pick<
  DelayedPush,
  'name' | 'reason' | 'spool' | 'commits' | 'keptAt' | 'from' | 'to' | 'dueAt'
>;

export interface ReviewedPush {
  readonly listed: ListedPush;
  /** As it will be written; the bot's. */
  readonly author: string;
  /** `owner/repo`, on another host than the first one with its key in front; null: the texts are not shown. */
  readonly repository: string | null;
  /** Null: they cannot be shown. */
  readonly texts: LeavingTexts | null;
  /** Why not, in sentences. */
  readonly problem: string | null;
}

/** What has become of a decision. */
export interface Decided {
  readonly done: number;
  readonly what: 'publish' | 'discard';
  /** Of which nothing has become. */
  readonly late: number;
}

const CHANGES = {
  added: 'New',
  removed: 'Removed',
  changed: 'Changed',
  earlier: 'Only in an earlier commit',
  elsewhere: 'In no folder that could be compared',
} as const;

function page(title: string, width: 'narrow' | 'wide', content: Html): Page {
  const description = 'Pushes that are published later.';
  const cookies = 'One cookie, for this page and ten minutes';
  return { ...unlistedPage(title, description, content, width), cookies };
}

/** @param token of an alert; null: the address had none. @param hasPassword whether the service has one. */
export function reviewDoorPage(token: string | null, hasPassword: boolean, problem: string | null): Page {
  const password = secretField(
    { name: 'password', label: 'PANIC_PASSWORD of this service', value: '' },
    { label: 'Account', value: 'operator' },
    'current-password',
  );
  const noWay = html`<div class="notice">
    <p>This service has no PANIC_PASSWORD. Use the button of an alert.</p>
  </div>`;
  return page(
    'Delayed pushes',
    'narrow',
    html`<h1>Delayed pushes</h1>
      <p class="lead">For the operator. It stays open for ten minutes.</p>
      ${problemNotice(problem)}
      ${token !== null ? doorForm(hidden({ token })) : hasPassword ? doorForm(password) : noWay}`,
  );
}

function doorForm(fields: Html | Html[]): Html {
  return html`<form method="post" action="${REVIEW_PATH}" class="card">
    ${fields}
    <div class="buttons"><button type="submit">Open</button></div>
  </form>`;
}

export interface ReviewList {
  readonly pushes: readonly ReviewedPush[];
  readonly waiting: number;
  /** From 1 on. */
  readonly page: number;
  readonly pageSize: number;
  readonly decided: Decided | null;
  readonly problem: string | null;
}

export function reviewListPage({ pushes, waiting, decided, problem, ...place }: ReviewList): Page {
  const count = waiting === 1 ? '1 push waits' : `${waiting} pushes wait`;
  const list = html`<form method="post" action="${REVIEW_PATH}">
    ${pushes.map((push, at) => listItem(push, at))}
    <section class="card" aria-labelledby="decide">
      <h2 id="decide">Those that you have chosen</h2>
      ${decisionButtons(pushes.some(({ listed: { dueAt } }) => dueAt === null))}
    </section>
  </form>`;
  return page(
    'Delayed pushes',
    'wide',
    html`<h1>Delayed pushes</h1>
      <p class="lead">
        ${waiting === 0 ? 'No push waits.' : `${count}: first those that wait for you, then the oldest. What waits for you for 14 days is discarded.`}
      </p>
      ${decided === null ? '' : decidedNotice(decided)} ${problemNotice(problem)}
      ${pushes.length === 0 ? '' : list} ${pageLinks(waiting, place.page, place.pageSize)}`,
  );
}

export function reviewOnePage(push: ReviewedPush, changes: Changes | string): Page {
  const title = titleOf(push);
  return page(
    'A delayed push',
    'wide',
    html`<p class="crumbs"><a href="${REVIEW_PATH}">Delayed pushes</a></p>
      <h1>${title}</h1>
      <section class="card" aria-labelledby="what">
        <h2 id="what">What it is</h2>
        ${factsOf(push)} ${textsOf(push)}
      </section>
      <section class="card" aria-labelledby="changes">
        <h2 id="changes">What it changes</h2>
        ${typeof changes === 'string' ? html`<p>${changes}</p>` : changesList(changes)}
      </section>
      <section class="card" aria-labelledby="decide">
        <h2 id="decide">Decide</h2>
        <form method="post" action="${REVIEW_PATH}">
          ${hidden({ 'push-0': seenValue(seenOf(push.listed)) })}
          ${decisionButtons(push.listed.dueAt === null)}
        </form>
      </section>`,
  );
}

/** The value of a form's field that names a push as it was seen. */
export function seenValue({ name, attempt }: SeenPush): string {
  return `${name} ${attempt}`;
}

/** Null: it is none. */
export function seenIn(value: string): SeenPush | null {
  const [name = '', attempt = '', ...rest] = value.split(' ');
  return name === '' || attempt === '' || rest.length > 0 ? null : { name, attempt };
}

function seenOf({ name, spool }: ListedPush): SeenPush {
  return { name, attempt: spool.attempt };
}

function titleOf({ texts, listed }: ReviewedPush): string {
  if (texts === null) return `Push ${listed.name}`;
  if (texts.title !== null) return exactText(texts.title.text);
  const [first = ''] = texts.messages.at(-1)?.text.split('\n') ?? [];
  return `Update: ${exactText(first)}`;
}

function listItem(push: ReviewedPush, at: number): Html {
  const { listed } = push;
  const id = `push-${at}`;
  return html`<section class="card" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${titleOf(push)}</h2>
    ${factsOf(push)} ${textsOf(push)}
    <p>
      <a href="${REVIEW_PATH}/${listed.name}" aria-describedby="${id}-title">See all that leaves with it</a>
    </p>
    <label class="choice">
      <input
        type="checkbox"
        name="${id}"
        value="${seenValue(seenOf(listed))}"
        aria-describedby="${id}-title"
      />
      Choose it
    </label>
  </section>`;
}

function factsOf({ listed, author, repository, texts }: ReviewedPush): Html {
  const { keptAt, commits } = listed;
  return html`<dl class="facts">
    ${
      texts === null || repository === null
        ? ''
        : html`${fact('Repository', repository)} ${fact('Base', exactText(texts.base))}
          ${
            texts.updates === null
              ? ''
              : fact('Updates', html`<a href="${pullRequestPath(texts.updates)}">${texts.updates}</a>`)
          }
          ${texts.isDraft ? fact('Opened as', 'a draft') : ''}`
    }
    ${fact('Author', author)} ${fact('Waits since', minuteOf(keptAt))} ${fact('Waits for', waitsFor(listed))}
    ${fact('Size', `${commits === 1 ? '1 commit' : `${commits.toLocaleString('en')} commits`}, ${bytesOf(listed).toLocaleString('en')} bytes`)}
  </dl>`;
}

function waitsFor({ dueAt, reason, from, to }: ListedPush): string {
  if (dueAt === null) return 'you';
  return reason === 'busy' ? 'room' : `its time, between ${minuteOf(from)} and ${minuteOf(to)}`;
}

function fact(name: string, value: Html | string): Html {
  return html`<dt>${name}</dt>
    <dd>${value}</dd>`;
}

function textsOf({ texts, problem }: ReviewedPush): Html {
  if (texts === null) return html`<p class="notice bad">${problem}</p>`;
  const { title, description, messages, commitCount, updates } = texts;
  const more = commitCount - messages.length;
  const kept = updates !== null && title === null && description === null;
  return html`${
      kept
        ? html`<p>Title and description of the pull request stay as they are.</p>`
        : html`<h3>Description</h3>
            ${description === null || description.text === '' ? html`<p>There is none.</p>` : plainText(description)}`
    }
    <h3>${commitCount === 1 ? 'Commit message' : 'Commit messages'}</h3>
    ${messages.map(messageOf)}
    ${more > 0 ? html`<p class="notice">${more.toLocaleString('en')} more are not shown.</p>` : ''}`;
}

function messageOf(message: ShownMessage): Html {
  const { encoding, encoded } = message;
  return html`${plainText(message)}
  ${encoding === null ? '' : html`<p class="soft">Its commit says that this is in ${exactText(encoding)}. The code host may read it so.</p>`}
  ${encoded === null ? '' : plainText(encoded)}`;
}

function plainText({ text, missing }: ShownText): Html {
  return html`<pre class="text">${'\n'}${exactText(text)}</pre>
    ${missing === 0 ? '' : html`<p class="notice">${missing.toLocaleString('en')} characters more are not shown.</p>`}`;
}

function changesList({ files, gaps }: Changes): Html {
  return html`${gaps.map((gap) => html`<p class="notice">${exactText(gap)}</p>`)}
  ${files.length === 0 && gaps.length === 0 ? html`<p>It changes no file.</p>` : ''} ${files.map(fileOf)}`;
}

function fileOf({ path, kind, mode, bytes, difference, remarks }: ChangedFile): Html {
  const name = exactText(path);
  const facts = [
    ...(mode === null ? [] : [`Mode ${mode}`]),
    ...(bytes === null ? [] : [`${bytes.toLocaleString('en')} bytes`]),
  ];
  return html`<h3>${CHANGES[kind]}: <code>${name}</code></h3>
    ${facts.length === 0 ? '' : html`<p class="soft small">${facts.join(', ')}</p>`}
    ${remarks.map((remark) => html`<p class="soft">${exactText(remark)}</p>`)}
    ${difference === null ? '' : differenceTable(name, difference, exactText)}`;
}

/** @param mayPublish whether one of them waits for the operator. */
function decisionButtons(mayPublish: boolean): Html {
  const reasons = Object.entries(DISCARD_REASONS);
  return html`<div class="row">
      <label for="reason">If you discard it: why</label>
      <select id="reason" name="reason" aria-describedby="reason-hint">
        ${reasons.map(([reason, words]) => html`<option value="${reason}">${words}</option>`)}
      </select>
      <p class="soft small" id="reason-hint">The author reads it on the page of the push.</p>
    </div>
    <div class="buttons">
      ${mayPublish ? html`<button type="submit" name="decision" value="publish">Publish</button>` : ''}
      <button type="submit" name="decision" value="discard" class="second">Discard</button>
    </div>`;
}

function decidedNotice({ done, what, late }: Decided): Html {
  const verb = what === 'publish' ? 'published within minutes, or at the chosen time' : 'discarded';
  return html`<div class="notice" role="status">
    ${done === 0 ? '' : html`<p>${countOf(done)}: ${verb}.</p>`}
    ${
      late === 0
        ? ''
        : html`<p>
            ${countOf(late)}: nothing was done. It does not wait for you, is being published, or somebody else
            has decided already. Look again in a minute.
          </p>`
    }
  </div>`;
}

function countOf(pushes: number): string {
  return pushes === 1 ? '1 push' : `${pushes} pushes`;
}

function pageLink(to: number, words: string): Html {
  return html`<a href="${REVIEW_PATH}?page=${to}">${words}</a>`;
}

function pageLinks(waiting: number, at: number, size: number): Html | '' {
  const last = Math.ceil(waiting / size);
  if (last <= 1 && at <= 1) return '';
  return html`<nav class="card" aria-label="Pages">
    ${at > 1 ? pageLink(Math.min(at - 1, Math.max(1, last)), 'Earlier ones') : ''} Page ${at} of
    ${Math.max(1, last)} ${at < last ? pageLink(at + 1, 'Later ones') : ''}
  </nav>`;
}
