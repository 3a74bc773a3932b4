/**
 * The operator's alerts (contract, section 6): their words and buttons. A button holds a token,
 * never the password.
 */
import type { TokenProblem } from '../host/account/token-problems.ts';
import { accountWords, appWords } from './account-words.ts';
import type { Notification, NotificationAction } from './ntfy.ts';
import { PULL_REQUESTS } from '../limits/limits.ts';

export type Action = 'activate-panic' | 'rollback' | 'deactivate-panic' | 'review' | `pardon ${string}`;

/** Names the action that pardons one pseudonym, so that its token is valid for no other. */
export function pardonOf(hash: string): Action {
  return `pardon ${hash}`;
}

export type Alert =
  /**
   * A burst of pushes or of private reports, or a flood of comments and issues. `most`: those of
   * the busiest client.
   */
  | ({ readonly kind: 'burst' | 'flood' | 'reports'; readonly most: number } & BurstFigures)
  /** `client`: a pseudonym, as no address is stored. `most`: the limit; default: the contract's. */
  | {
      readonly kind: 'rate-limit';
      readonly client: string;
      readonly attempts: number;
      readonly most?: number;
    }
  | { readonly kind: 'token'; readonly account: AccountPlace; readonly problems: readonly TokenProblem[] }
  | { readonly kind: 'renamed'; readonly hostName: string; readonly before: string; readonly login: string }
  /** Reports about a pseudonym. `isLast`: further such alerts wait until the hour is over. */
  | ({ readonly kind: 'moderation'; readonly isLast?: boolean } & ModerationNews)
  /** An appeal. `text`: the words of the pseudonym's author. */
  | ({ readonly kind: 'appeal'; readonly text: string } & Pick<ModerationNews, 'hash' | 'state' | 'reports'>)
  /** Delayed pushes wait for the operator. `waiting`: how many. */
  | { readonly kind: 'review'; readonly waiting: number }
  /** A test of whether alerts arrive. It is sent at once, and never kept. */
  | { readonly kind: 'test' }
  /** `byMs`: how far the code host's clock is ahead; null if the host does not tell its time. */
  | { readonly kind: 'clock'; readonly byMs: number | null }
  /** A sum of those alerts of a kind that were too many to send one by one. */
  | { readonly kind: 'more'; readonly of: CappedKind; readonly count: number };

/**
 * Kinds of alerts that somebody outside can cause often. The words complete "Within the last hour
 * there were 57 more alerts about".
 */
export const CAPPED = {
  burst: 'bursts of pushes',
  flood: 'floods of comments and issues',
  reports: 'bursts of private reports',
  'rate-limit': 'clients over the limit of pull requests',
  token: 'the token of the bot account',
} as const;
export type CappedKind = keyof typeof CAPPED;

/** How many events there were within the last minute, and from how many distinct addresses. */
export type BurstFigures = { readonly events: number; readonly addresses: number };

/** The account that an alert is about: its code host, and the variable that holds its token. */
export type AccountPlace = { readonly hostName: string; readonly variable: string };

/** Consequences of reports for a pseudonym. `comments`: how many are not deleted yet. */
export interface ModerationNews {
  readonly hash: string;
  readonly state: 'flagged' | 'blocked';
  readonly reports: number;
  readonly comments: number;
  /**
   * The repository of its comments: `octo/hello`, or `cb/octo/hello` elsewhere; null: no comments.
   */
  readonly repository: string | null;
}

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

/** The page on which the operator sees whether alerts arrive. */
export const OPERATOR_PATH = '/admin';
/** The page on which the operator sees delayed pushes. */
export const REVIEW_PATH = '/admin/delayed';

const UNDO_FLOOD = 'Remove comments, issues';

const URGENT = 5;
const HIGH = 4;
const USUAL = 3;

/**
 * Makes the pseudonym that stands in place of an address.
 * @param hash the keyed hash of the address.
 */
export function pseudonymOf(hash: string): string {
  return `client-${hash.slice(0, 8)}`;
}

export function alertNotification(alert: Alert, facts: AlertFacts): Notification {
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

/** Names what an alert is about, also if it says that there are more of a kind. */
function subjectOf(alert: Alert): string {
  return alert.kind === 'more' ? alert.of : alert.kind;
}

export function actionsOf(alert: Alert): readonly Action[] {
  if (alert.kind === 'review') return ['review'];
  if ('hash' in alert) return [pardonOf(alert.hash)];
  // No button can replace a token or set a clock.
  const subject = subjectOf(alert);
  if (['token', 'clock', 'renamed', 'test'].includes(subject)) return [];
  // Nothing can take a private report back.
  if (subject === 'reports') return ['activate-panic', 'deactivate-panic'];
  return ['activate-panic', 'rollback', 'deactivate-panic'];
}

function wordsOf(alert: Alert, address: string | null): { title: string; text: string; priority: number } {
  switch (alert.kind) {
    case 'burst':
      return {
        title: 'Suspicious burst of pushes',
        text: `Suspicious burst: ${alert.events} pushes from ${alert.addresses} distinct IPs in the last 60 s. The most active client sent ${alert.most} of them.`,
        priority: URGENT,
      };
    case 'flood':
      return {
        title: 'Flood of comments and issues',
        text:
          `${alert.events} comments and issues were posted from ${alert.addresses} distinct IPs in the last 60 s. ` +
          `The most active client posted ${alert.most} of them. "${UNDO_FLOOD}" deletes all comments and closes all ` +
          'issues of the last two hours, and closes the pull requests of clients that opened more than one.',
        priority: URGENT,
      };
    case 'reports':
      return {
        title: 'Burst of private reports',
        text:
          `${alert.events} private reports of vulnerabilities were sent from ${alert.addresses} distinct IPs in the last 60 s. ` +
          `The most active client sent ${alert.most} of them. Nothing can take them back. ` +
          '"Suspend comments" also stops private reports.',
        priority: URGENT,
      };
    case 'rate-limit': {
      const { client, attempts, most = PULL_REQUESTS.most } = alert;
      const text = `Rate limit exceeded: IP ${address ?? client} is over the limit of ${most} PRs per hour (attempt ${attempts}).`;
      return { title: 'Rate limit exceeded', text, priority: HIGH };
    }
    case 'token': {
      const { hostName, variable } = alert.account;
      const [ofApp] = appWords(hostName, alert.problems);
      if (ofApp !== undefined)
        return { title: 'Something is wrong with the App', text: ofApp, priority: USUAL };
      const place = `of the bot account at ${hostName}`;
      const { ofAccount, sentence } = accountWords(hostName, place, alert.problems);
      if (ofAccount !== null)
        return { title: `The bot account is ${ofAccount}`, text: `${sentence}.`, priority: URGENT };
      const text = `${sentence}. Set another ${variable}.`;
      return { title: 'Something is wrong with the token', text, priority: HIGH };
    }
    case 'renamed':
      return {
        title: 'The bot account has another name',
        text:
          `The bot account at ${alert.hostName} is called ${alert.login} now, and was ${alert.before}. ` +
          'If you did not rename it, sign in to the host as the bot and see who else can. ' +
          'If you did, tell the maintainers who know the old name: anybody may take it.',
        priority: HIGH,
      };
    case 'more': {
      const text = `Within the last hour there were ${alert.count} more alerts about ${CAPPED[alert.of]}.`;
      return { title: 'More alerts', text, priority: HIGH };
    }
    case 'moderation': {
      const { hash, state, reports, comments, repository, isLast = false } = alert;
      const isFlagged = state === 'flagged';
      const what = isFlagged
        ? 'its karma is 0, and it has to pause for 6 hours'
        : 'its comments are being deleted';
      const where =
        repository === null ? 'It has no comments.' : `Comments left: ${comments}, on ${repository}.`;
      const more = isLast ? ' More of these alerts wait until the hour is over; appeals do not.' : '';
      const title = `anon-${hash} is ${state}`;
      return { title, text: `${title} after ${reports} reports: ${what}. ${where}${more}`, priority: USUAL };
    }
    case 'appeal': {
      const { hash, state, reports, text } = alert;
      // One line, so that no part of it looks like a line of the service.
      const said = `anon-${hash} (${state}, ${reports} reports) writes: “${text.replaceAll(/\s+/g, ' ')}”`;
      return { title: `Appeal of anon-${hash}`, text: said, priority: USUAL };
    }
    case 'review': {
      const isOne = alert.waiting === 1;
      const what = isOne
        ? '1 push waits until you have seen it'
        : `${alert.waiting} pushes wait until you have seen them`;
      return {
        title: 'Pushes wait for you',
        text: `${what}. After 14 days, a push is discarded.`,
        priority: USUAL,
      };
    }
    case 'test':
      return {
        title: 'A test alert',
        text: 'Alerts of this service arrive here. Those of a flood have buttons that suspend pushes and close what was opened.',
        priority: USUAL,
      };
    case 'clock':
      return {
        title: 'The clocks differ',
        text:
          (alert.byMs === null
            ? 'The code host does not say what time it is. '
            : `The clock of this service is ${apart(alert.byMs)} the code host's. Correct the one that is wrong. `) +
          'Until both agree, pushes cannot be delayed, and those that wait are published late, never early.',
        priority: HIGH,
      };
  }
}

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
