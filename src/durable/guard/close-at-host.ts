/** How a rollback closes a pull request at the host, and tells its subscriber. */
import { systemClock } from '../../isolate/clock.ts';
import { hostWithKey } from '../../config/hosts.ts';
import { configOf, openHttp } from '../../configured.ts';
import type { Env } from '../../env.ts';
import { closedEvent } from '../../events/host-event.ts';
import type { RollbackWorld } from './rollback.ts';
import { openRepositories } from '../../host/open.ts';
import { openHostAccess } from '../host-access.ts';
import { pullRequestOf } from '../../objects.ts';

const fail = (): Promise<never> => Promise.reject(new Error('the configuration does not name this host'));

/** With an invalid configuration nothing can be closed: every attempt fails. */
export function closingWorld(env: Env): RollbackWorld {
  const result = configOf(env);
  if (result.kind === 'invalid') return { close: fail, tell: fail };
  const { config } = result;
  const http = openHttp(config);
  return {
    async close({ host: key, owner, repo, number }) {
      const host = hostWithKey(config, key);
      if (host === undefined) return fail();
      const repositories = openRepositories(openHostAccess(env, config, host, http));
      return repositories.closePullRequest({ owner, name: repo }, number);
    },
    async tell({ prHash, host, number, url }, closed) {
      // The notifications feed reports merges, but never what the bot itself closes.
      if (closed.kind === 'merged' || closed.at === null) return;
      const object = pullRequestOf(env, prHash);
      await object.tell(host, [closedEvent(number, closed.at, url)], systemClock.now());
    },
  };
}
