/** The ledger's numbers for the public: a few seconds old at most, or the last known ones. */
import type { Config } from '../config.ts';
import type { Env } from '../env.ts';
import { LastKnown } from '../isolate/last-known.ts';
import type { Logger } from '../log.ts';
import { lastKnownPlaces } from '../isolate/open-last-known.ts';
import type { Http } from '../outgoing/http-client.ts';
import {
  countedOwner,
  type Ledger,
  type LedgerRepository,
  type RecordedPullRequest,
  type Totals,
} from './ledger.ts';
import { openLedger } from './open-ledger.ts';

/** Contract, section 8. */
const RECENT_PULL_REQUESTS = 10;
export const STATISTICS_FRESH_MS = 5_000;
/** Contract, 4.15. */
export const COUNT_FRESH_MS = 5 * 60_000;

/** Every answer is undefined if the ledger does not answer and never has. */
export class Statistics {
  readonly #ledger: () => Ledger;
  readonly #lastKnown: LastKnown;

  /** @param ledger opens it. An answer from memory does not call this. */
  constructor(ledger: () => Ledger, lastKnown: LastKnown) {
    this.#ledger = ledger;
    this.#lastKnown = lastKnown;
  }

  totals(): Promise<Totals | undefined> {
    return this.#lastKnown.read({
      name: 'totals',
      freshMs: STATISTICS_FRESH_MS,
      nothing: { pullRequests: 0, lastCreatedAt: null },
      ask: () => this.#ledger().totals(),
    });
  }

  /** Newest first. */
  recentPullRequests(): Promise<readonly RecordedPullRequest[] | undefined> {
    return this.#lastKnown.read({
      name: 'recent',
      freshMs: STATISTICS_FRESH_MS,
      nothing: [],
      ask: () => this.#ledger().recentPullRequests(RECENT_PULL_REQUESTS),
    });
  }

  /** Of one repository. */
  pullRequestCount(repository: LedgerRepository): Promise<number | undefined> {
    return this.#lastKnown.read({
      name: `count/${countedOwner(repository)}/${repository.repo}`.toLowerCase(),
      freshMs: COUNT_FRESH_MS,
      nothing: 0,
      ask: () => this.#ledger().pullRequestCount(repository),
    });
  }
}

/** One for each configuration, of which an isolate has one: opening it costs more than an answer from memory. */
const opened = new WeakMap<Config, LastKnown>();

export function openStatistics(env: Env, config: Config, logger: Logger, http: Http): Statistics {
  const lastKnown = opened.get(config) ?? openLastKnown(env, config, logger);
  opened.set(config, lastKnown);
  return new Statistics(() => openLedger(env, config, http), lastKnown);
}

function openLastKnown(env: Env, config: Config, logger: Logger): LastKnown {
  const onFailure = (error: unknown) => logger.warn('the ledger does not answer', { error });
  return new LastKnown(lastKnownPlaces(env, config, onFailure));
}
