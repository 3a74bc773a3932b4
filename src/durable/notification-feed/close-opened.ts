/**
 * Closes what the service has opened in a repository, because its maintainers say so.
 * Proved by test/e2e/host/maintainer-words.test.ts.
 */
import type { Env } from '../../env.ts';
import { ownPrHash } from '../../events/host-event.ts';
import type { Account, OpenThread, Repository } from '../../host/code-host.ts';
import type { ActivityHost, MaintainerHost } from '../../host/open.ts';
import type { Reached } from '../../host-access.ts';
import { prHashWithId } from '../../stats/recorded-hashes.ts';
import { type Tracked, undoAll, undoAtHost } from '../guard/rollback.ts';

/** The failures after which the rest is left to the next run. */
const MOST_FAILURES = 4;

interface Opened {
  readonly env: Env;
  readonly reached: Reached;
  readonly host: Pick<ActivityHost, 'pullRequest'> & Pick<MaintainerHost, 'openedBy'>;
  /** The accounts in whose names the service writes. */
  readonly own: readonly Account[];
}

/**
 * Closes the open issues and pull requests of the service. Pull requests that no push has recorded
 * are left alone. Costs two calls for each, besides the lists.
 * @throws Error if some are still open
 */
export async function closeOpened(
  { env, reached, host, own }: Opened,
  repository: Repository,
): Promise<void> {
  const {
    host: { key },
    http,
  } = reached;
  const ids = new Set(own.map(({ id }) => id));
  const all: Tracked[] = [];
  for (const account of own)
    for (const thread of await host.openedBy(repository, account)) all.push(...(await tracked(thread)));
  const undo = undoAtHost(env, { http }, () => {});
  let failures = 0;
  const left = await undoAll(all, async (one) => {
    // Each failure may take long, and the bot's other pull requests wait meanwhile.
    if (failures >= MOST_FAILURES) throw new Error('too many failures');
    await undo(one).catch((error: unknown) => {
      failures += 1;
      throw error;
    });
  });
  if (left.length > 0) throw new Error(`${left.length} of ${all.length} could not be closed`);

  async function tracked({ number, url, isPullRequest, app }: OpenThread): Promise<Tracked[]> {
    const { owner, name: repo } = repository;
    const at = { host: key, owner, repo, number, url, app };
    if (!isPullRequest) return [{ ...at, kind: 'issue' }];
    const pull = await host.pullRequest(repository, number);
    if (pull === null) return [];
    const prHash = pull.id === undefined ? ownPrHash(pull, ids) : await prHashWithId(env.DB, key, pull.id);
    return prHash === null ? [] : [{ ...at, kind: 'pull-request', prHash }];
  }
}
