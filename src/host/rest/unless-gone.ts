/** Reads of what the host may no longer show. */
import { HostError } from '../../host-error.ts';
import { failureStatus } from './request-failure.ts';

/** Null for what does not exist, no longer exists, or may not be shown. */
export async function unlessGone<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if ([404, 410, 451].includes(failureStatus(error) ?? 0)) return null;
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
