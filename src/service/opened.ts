/**
 * Tells the guard and the statistics of a pull request that is open, before the push is answered.
 * Proved by test/e2e/push/own-record.test.ts.
 */
import type { Told } from '../durable/pull-request/pull-request.ts';
import { within } from '../isolate/within.ts';
import { guardOf } from '../objects.ts';
import { type OpenedPullRequest, openStatistics, recordOpened } from '../stats/statistics.ts';
import type { HostScope } from './scope.ts';

/** How long an answer waits for the guard and the statistics. */
const PATIENCE_MS = 3_000;

export type OpenedNow = OpenedPullRequest & { readonly number: number };

/**
 * Never rejects.
 * @param burst by which the guard counts the client.
 * @returns who could not be told, and will be told later.
 */
export async function tellOpened(
  { env, config, http, logger }: HostScope,
  { number, ...opened }: OpenedNow,
  burst: string,
): Promise<readonly Told[]> {
  const { prHash, host, owner, repo, url, openedAt } = opened;
  const tell = (whom: Told, telling: Promise<void>): Promise<readonly Told[]> =>
    within(PATIENCE_MS, telling).then(
      () => [],
      (error: unknown) => {
        logger.warn('an open pull request will be told of later', { error });
        return [whom];
      },
    );
  const tracked = { kind: 'pull-request', prHash, host, owner, repo, number, url } as const;
  const left = await Promise.all([
    tell('tracking', guardOf(env).track(tracked, burst, openedAt)),
    tell('statistics', recordOpened(env, config, http, opened)),
  ]);
  await openStatistics(env, config, logger, http).forgetCount(opened);
  return left.flat();
}
