/**
 * Logs that the notification service does not let this service publish: a mistake that only the operator can correct.
 */
import type { Config } from '../config.ts';
import { createLogger } from '../log.ts';
import { NotificationError } from './ntfy.ts';

/** Servers and statuses that this isolate has logged. */
const logged = new Set<string>();

/** Once for each server and status. Other errors are not logged, because they pass. @param server its address. */
export function logRefusal(server: string, { logFormat }: Pick<Config, 'logFormat'>, error: unknown): void {
  if (!(error instanceof NotificationError) || (error.status !== 401 && error.status !== 403)) return;
  const { status } = error;
  const key = `${server} ${status}`;
  if (logged.has(key)) return;
  logged.add(key);
  const logger = createLogger(logFormat, (line) => console.log(line));
  logger.error('the notification service refuses messages; check NOTIFY_TOKEN', { status });
}
