/**
 * Logs that the notification service does not let this service publish: a mistake that only the operator can correct.
 */
import type { Config } from '../config.ts';
import { Recent } from '../isolate/recent.ts';
import { loggerOf } from '../log.ts';
import { NotificationError } from './ntfy.ts';

/** Servers and statuses that this isolate has logged. */
const logged = new Recent<true>({ most: 100 });

/** Once for each server and status. Other errors are not logged, because they pass. @param server its address. */
export function logRefusal(server: string, config: Pick<Config, 'logFormat'>, error: unknown): void {
  if (!(error instanceof NotificationError) || (error.status !== 401 && error.status !== 403)) return;
  const { status } = error;
  const key = `${server} ${status}`;
  if (logged.get(key) !== null) return;
  logged.set(key, true);
  const logger = loggerOf(config);
  logger.error('the notification service refuses messages; check NOTIFY_TOKEN', { status });
}
