/**
 * Reasons why the notification service takes no message, and what the operator can do about them.
 * Proved by test/notify/ntfy.test.ts.
 */
import { NotificationError } from './ntfy.ts';

/**
 * Reasons that need different actions. `refused`: status 401 or 403. `too-many`: 429. `failing`:
 * any other status. `no-answer`: none within the timeout. `unreachable`: no connection, or it
 * broke.
 */
export type TroubleReason = 'refused' | 'too-many' | 'failing' | 'no-answer' | 'unreachable';

export interface Trouble {
  readonly reason: TroubleReason;
  /** The status of the answer; null if there was none. */
  readonly status: number | null;
}

export function troubleOf(error: unknown): Trouble {
  if (error instanceof NotificationError) return { reason: reasonOf(error.status), status: error.status };
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  return { reason: isLate ? 'no-answer' : 'unreachable', status: null };
}

function reasonOf(status: number): TroubleReason {
  if (status === 429) return 'too-many';
  return status === 401 || status === 403 ? 'refused' : 'failing';
}

/**
 * Tells the operator what is wrong and what to do, in sentences.
 * @param server address of the notification service.
 */
export function troubleWords(server: string, { reason, status }: Trouble): string {
  const { host } = new URL(server);
  switch (reason) {
    case 'refused':
      return (
        `${host} refuses the messages (status ${status}). ` +
        'Set NOTIFY_TOKEN to a token that may write to the topic.'
      );
    case 'too-many':
      return (
        `${host} takes no more messages for now (status 429). A public server counts everybody who sends from the ` +
        'same addresses together. Set NOTIFY_ADMIN_URL to a server of yours, or NOTIFY_TOKEN to the token of an ' +
        'account there.'
      );
    case 'failing':
      return `${host} answers with the status ${status}. Look at NOTIFY_ADMIN_URL, and at that server.`;
    case 'no-answer':
      return `${host} does not answer within ten seconds. Look at that server.`;
    case 'unreachable':
      return (
        `${host} cannot be reached. Look at NOTIFY_ADMIN_URL. On Cloudflare, a server that is behind Cloudflare ` +
        'itself must stand in OUTGOING_FETCH_HOSTS.'
      );
  }
}
