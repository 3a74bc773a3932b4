/** Reads of what the host may no longer show. */
import { HostError } from '../../host-error.ts';
import { failureStatus } from './request-failure.ts';

/** The statuses for something that does not exist, no longer exists, or may not be shown. */
const GONE: ReadonlySet<number | undefined> = new Set([404, 410, 451]);

/** Whether the host failed because the comment, the thread or the repository does not exist (any more). */
export function isGone(error: unknown): boolean {
  return GONE.has(failureStatus(error));
}

/** Null for what does not exist, no longer exists, or may not be shown. */
export async function unlessGone<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** Null if the host says that there is no such thing. @param read retries by itself. */
export async function unlessMissing<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HostError && error.code === 'missing') return null;
    throw error;
  }
}
