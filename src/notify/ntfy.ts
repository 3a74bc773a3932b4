/**
 * Publishing to the notification service, as ntfy documents it ("Publish as JSON": a POST to the server's root).
 *
 * Anyone who knows a topic's name can read it. A pull request's topic contains only what the host shows publicly
 * anyway. Where the server does not forbid it, they can also write to it; an access token lets an operator's server
 * tell the service from everyone else (ntfy, "Access tokens").
 */
import type { Config } from '../config.ts';
import { countedFetch } from '../metrics/counted-fetch.ts';
import type { Http } from '../outgoing/http-client.ts';

const TIMEOUT_MS = 10_000;

export interface Notification {
  readonly topic: string;
  readonly title: string;
  readonly message: string;
  /** Opened when the notification is tapped. */
  readonly click?: string;
  /** 1 to 5; default 3. From 4 on a telephone makes itself heard for longer. */
  readonly priority?: number;
  /** A tag with the name of an emoji shows it. */
  readonly tags?: readonly string[];
  /** At most three buttons. */
  readonly actions?: readonly NotificationAction[];
}

/** A button that sends an HTTP request. */
export interface NotificationAction {
  readonly action: 'http';
  readonly label: string;
  readonly url: string;
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The topic on which a pull request's events appear (contract, section 6). */
export function pullRequestTopic(prHash: string): string {
  return `anon-pr-${prHash}`;
}

/** Where to publish, and as whom. */
export type NotificationService = Pick<Config, 'notifyBaseUrl' | 'notifyToken'>;

/** Rejects if the service did not accept the message. Publish it again then. */
export async function publish(
  http: Http,
  { notifyBaseUrl, notifyToken }: NotificationService,
  notification: Notification,
): Promise<void> {
  const publishFetch = countedFetch('notifications', http);
  const response = await publishFetch(`${notifyBaseUrl}/`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'gitveil',
      ...(notifyToken !== null && { Authorization: `Bearer ${notifyToken}` }),
    },
    body: JSON.stringify(notification),
    // Following a redirect would turn the request into a GET of a page, and its success would look like the success of
    // publishing. It could also lead to another server, which must not get the token.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the notification service answered ${response.status}`);
}
