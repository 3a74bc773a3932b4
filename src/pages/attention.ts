/**
 * Lists what an operator has to look at first, the most urgent thing on top, each with what to do.
 * Proved by test/routes/moderation/operator-page.test.ts.
 */
import { html } from 'hono/html';
import { type HostConfig, hostNameOf } from '../config/hosts.ts';
import type { DelayedCounts } from '../durable/delayed-pushes/views.ts';
import type { GuardStatus } from '../durable/guard/guard.ts';
import type { AlertState } from '../durable/guard/operator.ts';
import { isOfApp } from '../host/account/token-problems.ts';
import { accountOf } from '../host-access.ts';
import { accountWords, appWords } from '../notify/account-words.ts';
import { REVIEW_PATH } from '../notify/alert.ts';
import { troubleWords } from '../notify/trouble.ts';
import { card, countOf, type Html, statusLine } from './layout.ts';

export interface Attention {
  readonly hosts: readonly HostConfig[];
  /** Is null, like `delayed`, if it is not known now. */
  readonly guard: GuardStatus | null;
  readonly delayed: DelayedCounts | null;
  readonly alerts: AlertState;
  /** Address of the notification service; null without a topic. */
  readonly server: string | null;
}

export function attentionCard(attention: Attention): Html {
  const lines = [
    ...accountLines(attention),
    ...switchLines(attention.guard),
    ...alertLines(attention),
    ...waitingLines(attention.delayed),
  ];
  const nothing = statusLine('good', 'Nothing needs your attention');
  return card('attention', 'Now', lines.length === 0 ? nothing : lines);
}

function accountLines({ guard, hosts }: Attention): Html[] {
  if (guard === null) return [statusLine('warn', 'The switches cannot be read now. Open the page again.')];
  return hosts.flatMap((host) => {
    const all = guard.accountProblems[accountOf(host)] ?? [];
    const problems = all.filter((problem) => !isOfApp(problem));
    const name = hostNameOf(host);
    const { sentence } = accountWords(name, `of the bot account at ${name}`, problems);
    return [
      ...(problems.length > 0 ? [statusLine('bad', `${sentence}.`)] : []),
      ...appWords(name, all).map((words) => statusLine('warn', words)),
    ];
  });
}

/** Tells what the operator has switched off, and with what it comes back. */
function switchLines(guard: GuardStatus | null): Html[] {
  const off = [
    guard?.panicMode && html`Pushes are rejected. ${endsWith('pushes')}`,
    guard?.writesSuspended && html`Comments and issues are refused. ${endsWith('writes')}`,
  ];
  return off.flatMap((words) => (words ? [statusLine('bad', words)] : []));
}

function endsWith(scope: 'pushes' | 'writes'): Html {
  return html`To end that, post <code>{"password": "…", "active": false, "scope": "${scope}"}</code> to
    <code>/admin/panic</code>.`;
}

function alertLines({ server, alerts }: Attention): Html[] {
  if (server === null)
    return [statusLine('warn', 'Nobody is told of a flood: NOTIFY_ADMIN_TOPIC is not set.')];
  const { trouble } = alerts;
  return trouble === null
    ? []
    : [statusLine('bad', `Alerts do not arrive. ${troubleWords(server, trouble)}`)];
}

function waitingLines(delayed: DelayedCounts | null): Html[] {
  if (delayed === null) return [statusLine('warn', 'What waits cannot be read now. Open the page again.')];
  const { review } = delayed.waiting;
  if (review === 0) return [];
  const words = html`<a href="${REVIEW_PATH}">${countOf(review, 'push')}</a> wait${review === 1 ? 's' : ''}
    for your review.`;
  return [statusLine('warn', words)];
}
