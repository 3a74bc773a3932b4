/** Reads of what the host may no longer show. */
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
