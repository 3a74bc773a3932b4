/**
 * Closes what the service has opened in a repository, because its maintainers say so.
 */
import type { Env } from '../../env.ts';
import { CallsUsedUp } from '../../events/follow.ts';
import { ownPrHash } from '../../events/host-event.ts';
import type { Account, OpenThread, Repository } from '../../host/code-host.ts';
import type { ActivityHost, MaintainerHost } from '../../host/open.ts';
import type { Reached } from '../../host-access.ts';
import { systemClock } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { prHashWithId } from '../../stats/recorded-hashes.ts';
import { type Tracked, undoAll, undoAtHost } from '../guard/rollback.ts';

/** The failures after which the rest is left to the next run. */
const MOST_FAILURES = 4;

/** When closing something failed last, by its address; milliseconds since 1970. */
const failedAt = new Recent<number>({ most: 1_000 });

interface Opened {
  readonly env: Env;
  readonly reached: Reached;
  readonly host: Pick<ActivityHost, 'pullRequest'> & Pick<MaintainerHost, 'openedBy'>;
  /** The accounts in whose names the service writes. */
  readonly own: readonly Account[];
  /** Has a pull request examined whose subscribers could not be told: the host tells nobody. */
  readonly lookLater: (repository: Repository, number: number) => void;
}

/**
 * Closes the open issues and pull requests of the service. Pull requests that no push has recorded
 * are left alone. Costs two calls for each, besides the lists.
 * @throws CallsUsedUp or Error if some are still open
 */
export async function closeOpened(
  { env, reached, host, own, lookLater }: Opened,
  repository: Repository,
): Promise<void> {
  const {
    host: { key },
    http,
  } = reached;
  const ids = new Set(own.map(({ id }) => id));
  const { owner, name: repo } = repository;
  const at = { host: key, owner, repo };
  const all = [];
  for (const account of own)
    for (const thread of await host.openedBy(repository, account)) all.push({ ...at, ...thread });
  // What has failed comes last, or else the same failures would keep the rest waiting for ever.
  const inTurn = all.toSorted((a, b) => (failedAt.get(a.url) ?? 0) - (failedAt.get(b.url) ?? 0));
  const undo = undoAtHost(env, { http }, () => {});
  const failures: unknown[] = [];
  const left = await undoAll(inTurn, async (one) => {
    // Each failure may take long, and the bot's other pull requests wait meanwhile.
    if (failures.length >= MOST_FAILURES) throw new Error('too many failures');
    try {
      // Each is read only now: if the hour's calls are used up, the next one goes on here.
      const found = await tracked(one);
      if (found !== null && !(await undo(found))) lookLater(repository, one.number);
    } catch (error) {
      if (!(error instanceof CallsUsedUp)) failedAt.set(one.url, systemClock.now());
      failures.push(error);
      throw error;
    }
  });
  const usedUp = failures.find((error) => error instanceof CallsUsedUp);
  if (usedUp !== undefined) throw usedUp;
  if (left.length > 0) throw new Error(`${left.length} of ${all.length} could not be closed`);

  async function tracked({ isPullRequest, ...one }: typeof at & OpenThread): Promise<Tracked | null> {
    if (!isPullRequest) return { ...one, kind: 'issue' };
    const pull = await host.pullRequest(repository, one.number);
    // It may be hidden for a while. One that is gone is not listed the next time.
    if (pull === null) throw new Error('the host lists it, and does not show it');
    const prHash = pull.id === undefined ? ownPrHash(pull, ids) : await prHashWithId(env.DB, key, pull.id);
    return prHash === null ? null : { ...one, kind: 'pull-request', prHash };
  }
}
