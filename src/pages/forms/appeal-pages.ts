/** Appeal against reports: the form, and that the operator is told. */
import { html } from 'hono/html';
import type { Standing } from '../../durable/identity/moderation.ts';
import { type Html, type Page, unlistedPage } from '../layout.ts';
import { APPEAL_PATH, REPORT_PATH } from '../report-page.ts';
import { hidden, problemNotice, secretField, stepButtons, textArea, textField } from './parts.ts';

export interface AppealForm {
  readonly token: string;
  readonly problem: string | null;
  readonly thread: string;
  readonly userToken: string;
  readonly text: string;
}

/** @param maxLength of the text, in characters. */
export function appealFormPage(form: AppealForm, maxLength: number): Page {
  const { token, problem, thread, userToken, text } = form;
  const threadHint = 'Such as octo/hello#7, or cb/octo/hello#7 on another code host of this service.';
  const tokenHint =
    'Of your comments there. It shows that the pseudonym is yours; the operator does not get it.';
  const textHint = `At most ${maxLength} characters. Do not write anything that identifies you.`;
  return page(
    'Appeal against reports',
    html`If reports have silenced your pseudonym and were wrong, tell the operator of this service why: once a
    day at most. They get the pseudonym and your words, and nothing else.`,
    html`${problemNotice(problem)}
      <form method="post" action="${APPEAL_PATH}" class="card">
        ${hidden({ token })}
        ${textField({ name: 'thread', label: 'Issue or pull request', value: thread, hint: threadHint, maxLength: 300 })}
        ${secretField(
          { name: 'user_token', label: 'Your token', value: userToken, hint: tokenHint },
          null,
          'current-password',
        )}
        ${textArea({ name: 'text', label: 'Why the reports were wrong', value: text, hint: textHint }, 6)}
        ${stepButtons({ step: 'send', label: 'Send the appeal' })}
      </form>`,
  );
}

/** @param hash the pseudonym. */
export function appealedPage(hash: string, { reports, state }: Standing): Page {
  return page(
    'Your appeal is sent',
    html`The operator has your words about <span class="mono">anon-${hash}</span>.`,
    html`<p>
      It is ${state} now, with ${reports} ${reports === 1 ? 'report' : 'reports'}. The operator may pardon it,
      or not. <a href="${REPORT_PATH}?hash=${hash}">Its page</a> shows its state.
    </p>`,
  );
}

function page(title: string, lead: Html, content: Html): Page {
  return unlistedPage(
    title,
    'Appeal to the operator against reports.',
    html`<h1>${title}</h1>
      <p class="lead">${lead}</p>
      ${content}`,
  );
}
