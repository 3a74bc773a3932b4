/**
 * Opens the ledger, records what a push has opened, and gives the public numbers. Numbers must
 * include every pull request whose push has ended (contract, 4.6), so they are read anew each time.
 * Only the count of one repository is cached (4.15), and a push makes its isolate forget it. While
 * the ledger does not answer, the last known numbers are given.
 * Proved by test/routes/service/stats.test.ts and test/routes/service/badges.test.ts.
 */
import { recordName } from '../config/hosts.ts';
import type { Config } from '../config/config.ts';
import type { Env } from '../env.ts';
import { type LastKnown, openLastKnown } from '../isolate/last-known.ts';
import type { Logger } from '../log.ts';
import type { Http } from '../outgoing/http-client.ts';
import { hostedLedger } from './hosted-ledger.ts';
import {
  countedOwner,
  d1Ledger,
  type Ledger,
  type LedgerRepository,
  pullRequestStatement,
  type LedgerEntry,
  type Totals,
} from './ledger.ts';
import { hashStatements, idStatement } from './recorded-hashes.ts';

/** Contract, section 8. */
const RECENT_PULL_REQUESTS = 10;
/** Contract, 4.15. */
const COUNT_FRESH_MS = 5 * 60_000;

/** Opens the hosted database if there is one, and D1 otherwise. */
export function openLedger(
  env: Pick<Env, 'DB'>,
  { hostedDatabase }: Pick<Config, 'hostedDatabase'>,
  http: Http,
): Ledger {
  return hostedDatabase === null ? d1Ledger(env.DB) : hostedLedger(hostedDatabase, http);
}

export interface OpenedPullRequest extends LedgerRepository {
  readonly prHash: string;
  readonly url: string;
  /** The host's own number for it, if the branch does not name it. */
  readonly id?: number;
  /** Milliseconds since 1970. */
  readonly openedAt: number;
  /** Keyed hashes of its commits (recorded-hashes.ts); absent if they are not known any more. */
  readonly works?: readonly string[];
}

/**
 * Adds it to the ledger and to the recorded hashes, in one call if both are in D1. It may be
 * repeated. Rejects with the database's error.
 */
export async function recordOpened(
  env: Pick<Env, 'DB'>,
  config: Pick<Config, 'hostedDatabase'>,
  http: Http,
  { prHash, host, owner, repo, url, id, openedAt, works }: OpenedPullRequest,
): Promise<void> {
  const repository = recordName({ key: host }, { owner, name: repo });
  const entry = { host, owner, repo, prUrl: url, createdAt: new Date(openedAt).toISOString() };
  const page = hashStatements(env.DB, prHash, repository, openedAt, works);
  if (id !== undefined) page.push(idStatement(env.DB, prHash, host, id));
  if (config.hostedDatabase === null) {
    await env.DB.batch([...page, pullRequestStatement(env.DB, entry)]);
  } else {
    await Promise.all([env.DB.batch(page), openLedger(env, config, http).recordPullRequest(entry)]);
  }
}

const countName = (repository: LedgerRepository): string =>
  `count/${countedOwner(repository)}/${repository.repo}`.toLowerCase();

/**
 * Caches by configuration, of which an isolate has one: opening costs more than a cached answer.
 */
const opened = new WeakMap<Config, LastKnown>();

/**
 * Opens the public numbers. Each is undefined if the ledger does not answer, and no last known
 * value is left.
 */
export function openStatistics(env: Env, config: Config, logger: Logger, http: Http) {
  const onFailure = (error: unknown) => {
    logger.warn('the ledger does not answer', { error });
    // `wrangler dev` begins so.
    if (String(error).includes('no such table'))
      logger.warn('the database is empty: run npx wrangler d1 migrations apply DB --local');
  };
  const lastKnown = opened.get(config) ?? openLastKnown(env, config, onFailure);
  opened.set(config, lastKnown);
  const read = <T>(name: string, freshMs: number, nothing: T, ask: (ledger: Ledger) => Promise<T>) =>
    lastKnown.read({ name, freshMs, nothing, ask: () => ask(openLedger(env, config, http)) });
  return {
    totals: () =>
      read<Totals>('totals', 0, { pullRequests: 0, lastCreatedAt: null }, (ledger) => ledger.totals()),
    /** Newest first. */
    recentPullRequests: () =>
      read<readonly LedgerEntry[]>('recent', 0, [], (ledger) =>
        ledger.recentPullRequests(RECENT_PULL_REQUESTS),
      ),
    pullRequestCount: (of: LedgerRepository) =>
      read(countName(of), COUNT_FRESH_MS, 0, (ledger) => ledger.pullRequestCount(of)),
    /** Forgets the count after a pull request was opened. Never rejects. */
    forgetCount: (of: LedgerRepository) => lastKnown.forget(countName(of)),
  };
}
