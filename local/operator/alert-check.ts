/**
 * Says where alerts would go and what their panic button would do, and asks the service at
 * SERVICE_URL to send one.
 */
import type { Config } from '../../src/config/config.ts';
import type { Finding } from './finding.ts';

/**
 * Server that counts messages by address. A service on Cloudflare shares its addresses with
 * everybody there.
 */
const PUBLIC_SERVER = 'ntfy.sh';
/** Longer than the ten seconds that the service itself waits for the notification service. */
const TIMEOUT_MS = 20_000;

type Alerts = Pick<
  Config,
  'notifyAdminTopic' | 'notifyAdminUrl' | 'notifyToken' | 'serviceUrl' | 'panicPassword'
>;

export function alertFindings({
  notifyAdminTopic,
  notifyAdminUrl,
  notifyToken,
  serviceUrl,
}: Alerts): Finding[] {
  const subject = 'alerts';
  if (notifyAdminTopic === null) {
    const remedy =
      'Set NOTIFY_ADMIN_TOPIC to a topic that nobody can guess (`openssl rand -hex 16`), or nobody tells you of a flood.';
    return [{ subject, state: 'warning', says: 'none: NOTIFY_ADMIN_TOPIC is not set', remedy }];
  }
  const { host } = new URL(notifyAdminUrl);
  const button: Finding = {
    subject: 'panic button',
    state: 'ok',
    says: `would ask ${serviceUrl} to reject every push`,
  };
  if (host !== PUBLIC_SERVER || notifyToken !== null)
    return [{ subject, state: 'ok', says: `to ${host}` }, button];
  const remedy =
    `${host} counts messages by address, so a busy neighbour can use up yours, on Cloudflare above all. Set ` +
    'NOTIFY_ADMIN_URL to a server of yours, or NOTIFY_TOKEN to the token of an account there.';
  return [{ subject, state: 'warning', says: `to ${host}, without an account`, remedy }, button];
}

/** Asks the service to send a test alert. Never rejects. */
export async function testAlertFindings({ serviceUrl, panicPassword }: Alerts): Promise<Finding[]> {
  const subject = 'test alert';
  if (panicPassword === null) {
    const remedy = 'Set PANIC_PASSWORD and SERVICE_URL to those of the service, and run this again.';
    return [{ subject, state: 'problem', says: 'cannot be asked for without PANIC_PASSWORD', remedy }];
  }
  try {
    const answer = await ask(`${serviceUrl}/admin/test-alert`, { password: panicPassword });
    const { sent, problem, error } = answer as { sent?: boolean; problem?: string; error?: string };
    if (sent === true) {
      const { panic_mode: isPanic } = (await ask(`${serviceUrl}/api/status`)) as { panic_mode?: boolean };
      const now = isPanic === true ? 'rejected already' : 'accepted now';
      return [
        { subject, state: 'ok', says: 'was accepted: check whether it reached you' },
        { subject: 'pushes', state: 'ok', says: `are ${now}` },
      ];
    }
    const remedy = problem ?? `${serviceUrl} says: ${error ?? 'nothing that this program knows'}.`;
    return [{ subject, state: 'problem', says: 'was not sent', remedy }];
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    const remedy = `Nobody answers at ${serviceUrl} (${cause?.code ?? message}). Set SERVICE_URL to the address of the service.`;
    return [{ subject, state: 'problem', says: 'was not sent', remedy }];
  }
}

/**
 * Asks the service, and reads the JSON of its answer.
 * @param body the body of a POST. Without one, the request is a GET.
 */
async function ask(url: string, body?: object): Promise<unknown> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return response.json();
}
