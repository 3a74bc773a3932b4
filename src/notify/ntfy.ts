/**
 * Publishes to the notification service, as ntfy documents it ("Publish as JSON": a POST to the
 * server's root). Anyone who knows a topic can read it, and can write to it unless the server
 * forbids that: with a token, an operator's server accepts only the service. A pull request's topic
 * tells only what the host shows anyway.
 */
import type { Config } from '../config/config.ts';
import { countedFetch } from '../metrics/tally.ts';
import { withDeadline } from '../isolate/within.ts';
import type { Http } from '../outgoing/http-client.ts';

const TIMEOUT_MS = 10_000;

export interface Notification {
  readonly topic: string;
  readonly title: string;
  readonly message: string;
  /** The address that opens when the notification is tapped. */
  readonly click?: string;
  /** From 1 to 5; default: 3. A telephone signals 4 and 5 for longer. */
  readonly priority?: number;
  /** Names of emojis. */
  readonly tags?: readonly string[];
  /** At most three buttons. */
  readonly actions?: readonly NotificationAction[];
}

/** A button. `http` sends a request, `view` opens a page. */
export type NotificationAction =
  | {
      readonly action: 'http';
      readonly label: string;
      readonly url: string;
      readonly method: 'POST';
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly action: 'view'; readonly label: string; readonly url: string };

/** The topic on which a pull request's events appear (contract, section 6). */
export function pullRequestTopic(prHash: string): string {
  return `anon-pr-${prHash}`;
}

type Servers = Pick<Config, 'notifyBaseUrl' | 'notifyAdminUrl' | 'notifyToken'>;
/** A server, and the token for it. */
type NotificationService = Pick<Config, 'notifyBaseUrl' | 'notifyToken'>;

/**
 * Selects the server for events of pull requests. It gets the token only if alerts go there, too.
 */
export function publicService({ notifyBaseUrl, notifyAdminUrl, notifyToken }: Servers): NotificationService {
  const isSameServer = new URL(notifyBaseUrl).origin === new URL(notifyAdminUrl).origin;
  return { notifyBaseUrl, notifyToken: isSameServer ? notifyToken : null };
}

export function operatorService(config: Omit<Servers, 'notifyBaseUrl'>): NotificationService {
  return { notifyBaseUrl: config.notifyAdminUrl, notifyToken: config.notifyToken };
}

export class NotificationError extends Error {
  override readonly name = 'NotificationError';
  readonly status: number;
  /** How long the server asks to wait; null if it does not say. */
  readonly retryAfterMs: number | null;

  constructor(status: number, retryAfterMs: number | null) {
    super(`the notification service answered ${status}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** True if the next message to the same topic would fail, too. */
  get concernsTopic(): boolean {
    return this.status === 429 || this.status === 401 || this.status === 403;
  }
}

/**
 * Rejects if the server did not accept the message, with NotificationError if it answered: publish
 * it again then.
 */
export async function publishNotification(
  http: Http,
  { notifyBaseUrl, notifyToken }: NotificationService,
  notification: Notification,
): Promise<void> {
  const publishFetch = countedFetch('notifications', http);
  const response = await withDeadline(TIMEOUT_MS, (signal) =>
    publishFetch(`${notifyBaseUrl}/`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'gitveil',
        ...(notifyToken !== null && { Authorization: `Bearer ${notifyToken}` }),
      },
      body: JSON.stringify(notification),
      // A redirect would end in a GET that looks like success, and show the token to another
      // server.
      redirect: 'manual',
      signal,
    }),
  );
  await response.body?.cancel();
  if (response.ok) return;
  // ntfy sends seconds. A date counts as nothing.
  const [seconds = null] = /^\d{1,6}$/.exec(response.headers.get('Retry-After') ?? '') ?? [];
  throw new NotificationError(response.status, seconds === null ? null : Number(seconds) * 1000);
}
