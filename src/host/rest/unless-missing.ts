import { HostError } from '../../host-error.ts';

/** Null for what does not exist, no longer exists, or may not be shown. @param read retries by itself. */
export async function unlessMissing<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HostError && error.code === 'missing') return null;
    throw error;
  }
}
