/**
 * The operator's alerts in the form of the notification service (contract, section 6): what has happened, and three
 * buttons. They never contain the password; each button has its own token.
 */
import type { TokenProblem } from '../host/token-watch.ts';
import type { Notification, NotificationAction } from '../notify/ntfy.ts';
import type { Action } from './action-token.ts';
import type { BurstFigures } from './burst-detector.ts';
import { MOST_PULL_REQUESTS } from './places.ts';

export type Alert =
  | ({ readonly kind: 'burst' } & BurstFigures)
  /** `client` is a pseudonym: an address is not kept. */
  | { readonly kind: 'rate-limit'; readonly client: string; readonly attempts: number }
  | { readonly kind: 'token'; readonly problems: readonly TokenProblem[] };

export interface AlertFacts {
  readonly topic: string;
  readonly serviceUrl: string;
  /** When it was raised; milliseconds since 1970. */
  readonly at: number;
  /** The address of the rate-limited client, while it is known and may be shown. */
  readonly address: string | null;
  readonly tokens: Readonly<Record<Action, string>>;
}

const URGENT = 5;
const HIGH = 4;

/** Replaces an address that must not be shown. @param hash the keyed hash of the address. */
export function pseudonymOf(hash: string): string {
  return `client-${hash.slice(0, 8)}`;
}

export function alertNotification(alert: Alert, facts: AlertFacts): Notification {
  const { title, text, priority } = wordsOf(alert, facts.address);
  return {
    topic: facts.topic,
    title,
    // A message may be read, or even arrive, much later.
    message: `${text} Noticed at ${new Date(facts.at).toISOString().slice(0, 19)}Z.`,
    priority,
    tags: ['warning'],
    // A token is mended at the host, and by no button.
    ...(alert.kind !== 'token' && { actions: buttons(facts) }),
  };
}

/** Completes "The token of the bot account". */
const TOKEN_PROBLEMS: Readonly<Record<TokenProblem, string>> = {
  rejected: 'is refused by the code host: it has expired, was revoked, or is wrong',
  'expires-soon': 'expires within a week',
  'fine-grained': 'is a fine-grained one, which cannot open pull requests for others: use a classic one',
  'no-public_repo': 'lacks the scope public_repo, without which nothing can be posted',
  'no-workflow': 'lacks the scope workflow, without which forks cannot follow upstream',
  'no-notifications': 'lacks the scope notifications, without which nobody hears of comments and merges',
};

function wordsOf(alert: Alert, address: string | null): { title: string; text: string; priority: number } {
  if (alert.kind === 'burst') {
    const { pushes, addresses } = alert;
    return {
      title: 'Suspicious burst of pushes',
      text: `Suspicious burst: ${pushes} pushes from ${addresses} distinct IPs in the last 60 s.`,
      priority: URGENT,
    };
  }
  if (alert.kind === 'token') {
    const problems = alert.problems.map((problem) => TOKEN_PROBLEMS[problem]);
    const text = `The token of the bot account ${problems.join('; it ')}. Set another HOSTING_TOKEN.`;
    return { title: 'Something is wrong with the token', text, priority: HIGH };
  }
  return {
    title: 'Rate limit exceeded',
    text:
      `Rate limit exceeded: IP ${address ?? alert.client} is over the limit of ` +
      `${MOST_PULL_REQUESTS} PRs per hour (attempt ${alert.attempts}).`,
    priority: HIGH,
  };
}

function buttons({ serviceUrl, tokens }: AlertFacts): NotificationAction[] {
  const button = (label: string, path: string, payload: object): NotificationAction => ({
    action: 'http',
    label,
    url: `${serviceUrl}${path}`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(payload),
  });
  return [
    button('Activate panic', '/admin/panic', { token: tokens['activate-panic'], active: true }),
    button('Close burst PRs', '/admin/rollback', { token: tokens.rollback }),
    button('Deactivate panic', '/admin/panic', { token: tokens['deactivate-panic'], active: false }),
  ];
}
