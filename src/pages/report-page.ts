/**
 * The report page (contract, 4.4) with a pseudonym's reports, its state and the button; the pages
 * of appeals; and the page of an error.
 * Proved by test/routes/moderation/moderation.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import {
  BLOCK_THRESHOLD,
  COOLDOWN_MS,
  FLAG_THRESHOLD,
  type ModerationState,
  REPORT_LIFE_MS,
  type Standing,
} from '../durable/identity/moderation.ts';
import { cardForm, field, type FormFrame, problemNotice } from './forms/parts.ts';
import REPORT_HTML from './fragments/report.html';
import REPORTS_HTML from './fragments/reports.html';
import {
  card,
  dotted,
  factList,
  filled,
  type Html,
  listCard,
  type Page,
  safeUrl,
  unlistedPage,
} from './layout.ts';

export const REPORT_PATH = '/v1/moderation/report';
export const APPEAL_PATH = '/v1/moderation/appeal';

const hours = COOLDOWN_MS / 3_600_000;
const days = REPORT_LIFE_MS / 86_400_000;

const POLICY = filled(REPORTS_HTML, {
  unflagged: FLAG_THRESHOLD - 1,
  flag: FLAG_THRESHOLD,
  block: BLOCK_THRESHOLD,
  hours,
  days,
  appeal: APPEAL_PATH,
});

const STATES: Readonly<Record<ModerationState, { readonly tone: string; readonly meaning: string }>> = {
  registered: { tone: 'good', meaning: 'It may post. The service counts reports.' },
  flagged: { tone: 'warn', meaning: `Its karma is 0, and it may comment at most once every ${hours} hours.` },
  blocked: { tone: 'bad', meaning: 'It may no longer post, and its comments are deleted.' },
};

/** The address of a comment, and its thread, such as `octo/hello#7`. */
export type ReportedComment = Readonly<Record<'url' | 'thread', string>>;

/**
 * @param hash 8 hexadecimal characters.
 * @param comments those of the pseudonym, newest first.
 * @param closed says why nobody of this network can report now; null: they can.
 */
export function reportPage(
  hash: string,
  standing: Standing,
  comments: readonly ReportedComment[],
  closed: string | null = null,
): Page {
  return unlistedPage(
    `Report anon-${hash}`,
    'Report an anonymous pseudonym for abuse.',
    html`<h1>Report <span class="mono">anon-${hash}</span></h1>
      <p class="lead">
        One person wrote everything under this pseudonym on its thread. Nobody knows who. Report the pseudonym
        for spam, harassment or abuse.
      </p>
      ${facts(hash, standing)} ${commentList(comments)}
      ${closed === null ? filled(REPORT_HTML, { hash, days, path: REPORT_PATH }) : problemNotice(closed)}
      ${POLICY}`,
  );
}

const BLOCKED = 'This pseudonym is blocked, and its comments are deleted. Further reports change nothing.';
const COUNTED = `Each address counts once in ${days} days. Thank you for taking care of this thread.`;

/**
 * Thanks for a report. A repeated one gets the same page, because otherwise people who share an
 * address would learn that one of them has reported.
 */
export function receivedPage(hash: string, standing: Standing): Page {
  return unlistedPage(
    'Report received',
    'The result of a report.',
    html`<h1>Report received</h1>
      <div class="notice" role="status"><p>${standing.state === 'blocked' ? BLOCKED : COUNTED}</p></div>
      ${facts(hash, standing)} ${POLICY}`,
  );
}

function facts(hash: string, { reports, state }: Standing): Html {
  const { tone, meaning } = STATES[state];
  const on = html`<span class="on"></span>`;
  const steps = Array.from({ length: BLOCK_THRESHOLD }, (_, step) =>
    step < reports ? on : html`<span></span>`,
  );
  const list = factList({
    Pseudonym: html`<span class="mono">anon-${hash}</span>`,
    Reports: html`${reports} <small>in the last ${days} days</small>
      <div class="steps ${tone}" aria-hidden="true">${steps}</div>`,
    State: html`${dotted(tone, state)} <small>${meaning}</small>`,
  });
  return card('standing', 'Current state', list);
}

function commentList(comments: readonly ReportedComment[]): Html | '' {
  if (comments.length === 0) return '';
  const items = comments.map(({ url, thread }, index) => {
    const words = index === 0 ? 'The newest comment' : 'An earlier one';
    return html`<li><a href="${safeUrl(url)}">${words}</a> <span>on ${thread}</span></li>`;
  });
  return listCard('comments', 'What it wrote', items, '');
}

/**
 * Replaces a page that cannot be shown.
 * @param onward the path that was probably meant; null if nobody knows.
 */
export function problemPage(title: string, explanation: string, onward: string | null = null): Page {
  return unlistedPage(
    title,
    explanation,
    html`<h1>${title}</h1>
      <div class="notice bad"><p>${explanation}</p></div>
      ${onward === null ? '' : html`<p>Did you mean <a href="${onward}">${onward}</a>?</p>`}
      <p><a href="/">Start from the front page</a></p>`,
  );
}

type AppealForm = Pick<FormFrame, 'token' | 'problem'> &
  Readonly<Record<'thread' | 'userToken' | 'text', string>>;

/** @param maxLength the longest text, in characters. */
export function appealFormPage(form: AppealForm, maxLength: number): Page {
  const { token, problem, thread, userToken, text } = form;
  const threadHint =
    'An issue or pull request: octo/hello#7, or cb/octo/hello#7 on another code host of this service.';
  const tokenHint =
    'The token of your comments there. It shows that the pseudonym is yours; the operator does not get it.';
  const textHint = `At most ${maxLength} characters. Do not write anything that identifies you.`;
  const secret = { hint: tokenHint, secret: 'shown' } as const;
  const fields = html`${field('thread', 'Thread', thread, { hint: threadHint, maxLength: 300 })}
  ${field('user_token', 'Your token', userToken, secret)}
  ${field('text', 'Why the reports were wrong', text, { hint: textHint, rows: 6 })}`;
  return appealPage(
    'Appeal against reports',
    html`If reports have silenced your pseudonym and were wrong, tell the operator of this service why: once a
    day at most. They get the pseudonym and your words, and nothing else.`,
    html`${problemNotice(problem)}
    ${cardForm({ action: APPEAL_PATH, token }, {}, fields, { send: 'Send the appeal' })}`,
  );
}

/** @param closed says why no appeal can be delivered now. */
export function appealClosedPage(closed: string): Page {
  return appealPage(
    'Appeal against reports',
    html`If reports have silenced your pseudonym and were wrong, tell the operator of this service why.`,
    html`${problemNotice(closed)}
      <p>The <a href="/">front page</a> says who runs this service, if its operator has named a contact.</p>`,
  );
}

export function appealedPage(hash: string, { reports, state }: Standing): Page {
  return appealPage(
    'Your appeal is sent',
    html`The operator has your words about <span class="mono">anon-${hash}</span>.`,
    html`<p>
      It is ${state} now, with ${reports} ${reports === 1 ? 'report' : 'reports'}. The operator may pardon it,
      or not. <a href="${REPORT_PATH}?hash=${hash}">Its page</a> shows its state.
    </p>`,
  );
}

function appealPage(title: string, lead: Html, content: Html): Page {
  return unlistedPage(
    title,
    'Appeal to the operator against reports.',
    html`<h1>${title}</h1>
      <p class="lead">${lead}</p>
      ${content}`,
  );
}
