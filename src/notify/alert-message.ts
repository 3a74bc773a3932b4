/**
 * Messages of the operator's alerts: their words and buttons. A button holds a token, never the
 * password.
 * Proved by test/notify/alert.test.ts.
 */
import { PULL_REQUESTS } from '../limits/limits.ts';
import { accountWords, appWords } from './account-words.ts';
import {
  type Action,
  actionsOf,
  type Alert,
  CAPPED,
  OPERATOR_PATH,
  pardonOf,
  REVIEW_PATH,
  subjectOf,
} from './alert.ts';
import type { Notification, NotificationAction } from './ntfy.ts';

interface AlertFacts {
  readonly topic: string;
  readonly serviceUrl: string;
  /** When the alert was raised; milliseconds since 1970. */
  readonly at: number;
  /** The address of the rate-limited client, as long as it is known and may be shown. */
  readonly address: string | null;
  /** A token for each action of the alert. */
  readonly tokens: ReadonlyMap<Action, string>;
}

const UNDO_FLOOD = 'Remove comments, issues';

const URGENT = 5;
const HIGH = 4;
const USUAL = 3;

export function alertNotification(alert: Alert, facts: AlertFacts): Notification {
  const wordsOf = WORDS[alert.kind] as WordsOf<Alert['kind']>;
  const { title, text, priority } = wordsOf(alert, facts.address);
  const actions = actionsOf(alert);
  // A message may arrive, or be read, much later, so it has the time; but not one about review,
  // where that would tell when somebody has pushed.
  const at = alert.kind === 'review' ? '' : ` Noticed at ${new Date(facts.at).toISOString().slice(0, 19)}Z.`;
  return {
    topic: facts.topic,
    title,
    message: text + at,
    priority,
    tags: ['warning'],
    ...(actions.length > 0 && { actions: actions.map((action) => button(action, alert, facts)) }),
    ...('hash' in alert && { click: `${facts.serviceUrl}/v1/moderation/report?hash=${alert.hash}` }),
    ...(alert.kind === 'test' && { click: `${facts.serviceUrl}${OPERATOR_PATH}` }),
    ...(alert.kind === 'review' && { click: `${facts.serviceUrl}${REVIEW_PATH}` }),
  };
}

interface AlertWords {
  readonly title: string;
  readonly text: string;
  readonly priority: number;
}

type WordsOf<Kind> = (alert: Alert & { readonly kind: Kind }, address: string | null) => AlertWords;

/** The words of each kind of alert. */
const WORDS: { readonly [Kind in Alert['kind']]: WordsOf<Kind> } = {
  burst: ({ events, addresses, most }) => ({
    title: 'Suspicious burst of pushes',
    text: `Suspicious burst: ${events} pushes from ${addresses} distinct IPs in the last 60 s. The most active client sent ${most} of them.`,
    priority: URGENT,
  }),
  flood: ({ events, addresses, most }) => ({
    title: 'Flood of comments and issues',
    text:
      `${events} comments and issues were posted from ${addresses} distinct IPs in the last 60 s. ` +
      `The most active client posted ${most} of them. "${UNDO_FLOOD}" deletes all comments and closes all ` +
      'issues of the last two hours, and closes the pull requests of clients that opened more than one.',
    priority: URGENT,
  }),
  reports: ({ events, addresses, most }) => ({
    title: 'Burst of private reports',
    text:
      `${events} private reports of vulnerabilities were sent from ${addresses} distinct IPs in the last 60 s. ` +
      `The most active client sent ${most} of them. Nothing can take them back. ` +
      '"Suspend comments" also stops private reports.',
    priority: URGENT,
  }),
  'rate-limit': ({ client, attempts, most = PULL_REQUESTS.most }, address) => ({
    title: 'Rate limit exceeded',
    text: `Rate limit exceeded: IP ${address ?? client} is over the limit of ${most} PRs per hour (attempt ${attempts}).`,
    priority: HIGH,
  }),
  token({ account: { hostName, variable }, problems }) {
    const [ofApp] = appWords(hostName, problems);
    if (ofApp !== undefined)
      return { title: 'Something is wrong with the App', text: ofApp, priority: USUAL };
    const place = `of the bot account at ${hostName}`;
    const { ofAccount, sentence } = accountWords(hostName, place, problems);
    if (ofAccount !== null)
      return { title: `The bot account is ${ofAccount}`, text: `${sentence}.`, priority: URGENT };
    const text = `${sentence}. Set another ${variable}.`;
    return { title: 'Something is wrong with the token', text, priority: HIGH };
  },
  renamed: ({ hostName, login, before }) => ({
    title: 'The bot account has another name',
    text:
      `The bot account at ${hostName} is called ${login} now, and was ${before}. ` +
      'If you did not rename it, sign in to the host as the bot and see who else can. ' +
      'If you did, tell the maintainers who know the old name: anybody may take it.',
    priority: HIGH,
  }),
  more: ({ count, of }) => ({
    title: 'More alerts',
    text: `Within the last hour there were ${count} more alerts about ${CAPPED[of]}.`,
    priority: HIGH,
  }),
  moderation({ hash, state, reports, comments, repository, isLast = false }) {
    const what =
      state === 'flagged'
        ? 'its karma is 0, and it has to pause for 6 hours'
        : 'its comments are being deleted';
    const where =
      repository === null ? 'It has no comments.' : `Comments left: ${comments}, on ${repository}.`;
    const more = isLast ? ' More of these alerts wait until the hour is over; appeals do not.' : '';
    const title = `anon-${hash} is ${state}`;
    return { title, text: `${title} after ${reports} reports: ${what}. ${where}${more}`, priority: USUAL };
  },
  appeal: ({ hash, state, reports, text }) => ({
    title: `Appeal of anon-${hash}`,
    // One line, so that no part of it looks like a line of the service.
    text: `anon-${hash} (${state}, ${reports} reports) writes: “${text.replaceAll(/\s+/g, ' ')}”`,
    priority: USUAL,
  }),
  review({ waiting }) {
    const what =
      waiting === 1
        ? '1 push waits until you have seen it'
        : `${waiting} pushes wait until you have seen them`;
    const text = `${what}. After 14 days, a push is discarded.`;
    return { title: 'Pushes wait for you', text, priority: USUAL };
  },
  test: () => ({
    title: 'A test alert',
    text: 'Alerts of this service arrive here. Those of a flood have buttons that suspend pushes and close what was opened.',
    priority: USUAL,
  }),
  clock: ({ byMs }) => ({
    title: 'The clocks differ',
    text:
      (byMs === null
        ? 'The code host does not say what time it is. '
        : `The clock of this service is ${apart(byMs)} the code host's. Correct the one that is wrong. `) +
      'Until both agree, pushes cannot be delayed, and those that wait are published late, never early.',
    priority: HIGH,
  }),
};

/** Compares the service's clock with the host's: `20 hours ahead of`, `7 minutes behind`. */
function apart(hostAheadMs: number): string {
  const minutes = Math.round(Math.abs(hostAheadMs) / 60_000);
  const time = minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
  return hostAheadMs < 0 ? `${time} ahead of` : `${time} behind`;
}

function button(action: Action, alert: Alert, { serviceUrl, tokens }: AlertFacts): NotificationAction {
  const token = tokens.get(action);
  // Machines follow links, too, which must not use up the token: so the page has a button of its
  // own.
  if (action === 'review') {
    return { action: 'view', label: 'Review', url: `${serviceUrl}${REVIEW_PATH}?token=${token}` };
  }
  const subject = subjectOf(alert);
  const isFlood = subject === 'flood' || subject === 'reports';
  const { label, path, payload } = callOf(action, isFlood);
  return {
    action: 'http',
    label,
    url: `${serviceUrl}${path}`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, ...payload }),
  };
}

/** @param isFlood whether the actions concern comments and issues in place of pushes. */
function callOf(action: Exclude<Action, 'review'>, isFlood: boolean) {
  if (action === 'rollback') {
    const payload = isFlood ? { comments: true, issues: true, spare_single: true } : {};
    return { label: isFlood ? UNDO_FLOOD : 'Close burst PRs', path: '/admin/rollback', payload };
  }
  if (action === 'activate-panic' || action === 'deactivate-panic') {
    const active = action === 'activate-panic';
    const usual = active ? 'Activate panic' : 'Deactivate panic';
    const label = isFlood ? `${active ? 'Suspend' : 'Allow'} comments` : usual;
    return { label, path: '/admin/panic', payload: { active, ...(isFlood && { scope: 'writes' }) } };
  }
  const hash = action.slice(pardonOf('').length);
  return { label: `Pardon anon-${hash}`, path: '/admin/pardon', payload: { hash } };
}
