/**
 * The newest open issues and pull requests of a repository, which are kept for minutes, because
 * each look at the host takes a call of the bot account's.
 * Proved by test/routes/pages/remote-page.test.ts and test/e2e/people/open-threads.test.ts.
 */
import type { Context } from 'hono';
import { recordName } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import type { ListedThread } from '../../host/code-host.ts';
import { openActivity } from '../../host/open.ts';
import { openHostAccess } from '../../host-access.ts';
import { openLastKnown } from '../../isolate/last-known.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { mayRead } from './reading.ts';
import { hostScopeOf } from './scope.ts';

const FRESH_MS = 2 * 60_000;
/** Short, because the rest of the page can be shown without the list. */
const AT_ONCE_MS = 2_000;

/**
 * Lists the threads, the newest first, or returns null if they cannot be listed now. Never rejects.
 */
export async function openThreadsOf(
  c: Context<AppEnv>,
  target: RepositoryName,
): Promise<readonly ListedThread[] | null> {
  const { config, host, logger } = c.var;
  if (host.token === null) return null;
  const name = `open-threads/${recordName(host, target).toLowerCase()}`;
  const lastKnown = openLastKnown(c.env, config, (error) =>
    logger.warn('the open threads of a repository cannot be listed', { error }),
  );
  let isClientsLimit = false;
  const known = await lastKnown.read<readonly ListedThread[]>({
    name,
    freshMs: FRESH_MS,
    nothing: [],
    atOnceMs: AT_ONCE_MS,
    async ask() {
      isClientsLimit = !(await mayRead(c));
      if (isClientsLimit) throw new Error('the client has asked too often');
      const activity = openActivity(openHostAccess(hostScopeOf(c)), () => {});
      return (await activity.newestThreads(target)) ?? [];
    },
  });
  // Others must not be refused for it.
  if (known === undefined && isClientsLimit) await lastKnown.forget(name);
  return known ?? null;
}
