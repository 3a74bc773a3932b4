/** The report page (contract, 4.4): a pseudonym's reports and state, what reports lead to, and the button. */
import { html } from 'hono/html';
import {
  BLOCK_THRESHOLD,
  COOLDOWN_MS,
  FLAG_THRESHOLD,
  type ModerationState,
  REPORT_LIFE_MS,
  type Standing,
} from '../durable/identity/moderation.ts';
import { safeUrl } from './forms/parts.ts';
import REPORT_HTML from './fragments/report.html';
import REPORTS_HTML from './fragments/reports.html';
import { dotted, filled, type Html, type Page, unlistedPage } from './layout.ts';

export const REPORT_PATH = '/v1/moderation/report';
export const APPEAL_PATH = '/v1/moderation/appeal';

const COOLDOWN_HOURS = COOLDOWN_MS / 3_600_000;
const REPORT_LIFE_DAYS = REPORT_LIFE_MS / 86_400_000;

const POLICY = filled(REPORTS_HTML, {
  unflagged: String(FLAG_THRESHOLD - 1),
  flag: String(FLAG_THRESHOLD),
  block: String(BLOCK_THRESHOLD),
  hours: String(COOLDOWN_HOURS),
  days: String(REPORT_LIFE_DAYS),
  appeal: APPEAL_PATH,
});

const STATES: Readonly<Record<ModerationState, { readonly tone: string; readonly meaning: string }>> = {
  registered: { tone: 'good', meaning: 'It may post. The service counts reports.' },
  flagged: {
    tone: 'warn',
    meaning: `Its karma is 0, and it may comment at most once every ${COOLDOWN_HOURS} hours.`,
  },
  blocked: { tone: 'bad', meaning: 'It may no longer post, and its comments are deleted.' },
};

/** A comment at the code host. */
export interface ReportedComment {
  readonly url: string;
  /** Such as `octo/hello#7`. */
  readonly thread: string;
}

/** @param hash 8 hexadecimal characters. @param comments that the pseudonym has posted, the newest first. */
export function reportPage(hash: string, standing: Standing, comments: readonly ReportedComment[]): Page {
  return unlistedPage(
    `Report anon-${hash}`,
    'Report an anonymous pseudonym for abuse.',
    html`<h1>Report <span class="mono">anon-${hash}</span></h1>
      <p class="lead">
        One person wrote everything under this pseudonym on its thread. Nobody knows who. Report the pseudonym
        for spam, harassment or abuse.
      </p>
      ${facts(hash, standing)} ${commentList(comments)}
      ${filled(REPORT_HTML, { hash, days: String(REPORT_LIFE_DAYS), path: REPORT_PATH })} ${POLICY}`,
  );
}

/** The same for a repeated report, because others may share the address of whoever sent the first one. */
export function receivedPage(hash: string, standing: Standing): Page {
  const notice =
    standing.state === 'blocked'
      ? 'This pseudonym is blocked, and its comments are deleted. Further reports change nothing.'
      : `Each address counts once in ${REPORT_LIFE_DAYS} days. Thank you for taking care of this thread.`;
  return unlistedPage(
    'Report received',
    'The result of a report.',
    html`<h1>Report received</h1>
      <div class="notice" role="status"><p>${notice}</p></div>
      ${facts(hash, standing)} ${POLICY}`,
  );
}

function facts(hash: string, { reports, state }: Standing): Html {
  const { tone, meaning } = STATES[state];
  const steps = Array.from({ length: BLOCK_THRESHOLD }, (_, step) =>
    step < reports ? html`<span class="on"></span>` : html`<span></span>`,
  );
  return html`<section class="card" aria-labelledby="standing">
    <h2 id="standing">Current state</h2>
    <dl class="facts">
      <dt>Pseudonym</dt>
      <dd class="mono">anon-${hash}</dd>
      <dt>Reports</dt>
      <dd>
        ${reports}
        <small>in the last ${REPORT_LIFE_DAYS} days</small>
        <div class="steps ${tone}" aria-hidden="true">${steps}</div>
      </dd>
      <dt>State</dt>
      <dd>
        ${dotted(tone, state)}
        <small>${meaning}</small>
      </dd>
    </dl>
  </section>`;
}

function commentList(comments: readonly ReportedComment[]): Html | '' {
  if (comments.length === 0) return '';
  const items = comments.map(
    ({ url, thread }, index) =>
      html`<li>
        <a href="${safeUrl(url)}">${index === 0 ? 'The newest comment' : 'An earlier one'}</a> on ${thread}
      </li>`,
  );
  return html`<section class="card" aria-labelledby="comments">
    <h2 id="comments">What it wrote</h2>
    <ul>
      ${items}
    </ul>
  </section>`;
}

/** Replaces a page that cannot be shown. @param onward where else to go; null: nobody knows. */
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
