/** Writes whose repetition would be worse than an error. */
import { HostError } from '../host-error.ts';
import type { RestCalls } from './octokit.ts';
import { failureStatus } from './request-failure.ts';

/** Tried again only when the host said that it did nothing. @throws HostError */
export function onceUnlessRefused<T>({ retried }: RestCalls, create: () => Promise<T>): Promise<T> {
  return retried(async () => {
    try {
      return await create();
    } catch (error) {
      if (error instanceof HostError) throw error;
      const status = failureStatus(error);
      if (status !== undefined && status < 500) throw error;
      throw new HostError('unreachable', 'The code host did not answer as expected.', error);
    }
  });
}
