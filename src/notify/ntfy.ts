/**
 * Publishing to the notification service, as ntfy documents it ("Publish as JSON": a POST to the server's root).
 *
 * Whoever knows a topic's name can read it, so a message holds only what the host shows publicly anyway.
 */
import { countedFetch } from '../metrics/counted-fetch.ts';

const TIMEOUT_MS = 10_000;
const publishFetch = countedFetch('notifications');

export interface Notification {
  readonly topic: string;
  readonly title: string;
  readonly message: string;
  /** Opened when the notification is tapped. */
  readonly click: string;
}

/** The topic on which a pull request's events appear (contract, section 6). */
export function pullRequestTopic(prHash: string): string {
  return `anon-pr-${prHash}`;
}

/** Rejects unless the service has taken the message; it is then to be published again. */
export async function publish(notifyBaseUrl: string, notification: Notification): Promise<void> {
  const response = await publishFetch(`${notifyBaseUrl}/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'gitveil' },
    body: JSON.stringify(notification),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the notification service answered ${response.status}`);
}
