/**
 * The ledger's numbers for the public. Nobody who has seen the end of a push gets an older number than its pull request
 * (contract, 4.6), so only the count of a repository is kept for a while (4.15), and a push makes it be forgotten where it
 * runs. If the ledger does not answer, the last known numbers are given.
 */
import type { Config } from '../config.ts';
import type { Env } from '../env.ts';
import { type LastKnown, openLastKnown } from '../isolate/last-known.ts';
import type { Logger } from '../log.ts';
import type { Http } from '../outgoing/http-client.ts';
import {
  countedOwner,
  type Ledger,
  type LedgerRepository,
  type RecordedPullRequest,
  type Totals,
} from './ledger.ts';
import { openLedger } from './opened.ts';

/** Contract, section 8. */
const RECENT_PULL_REQUESTS = 10;
/** Contract, 4.15. */
const COUNT_FRESH_MS = 5 * 60_000;

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
      freshMs: 0,
      nothing: { pullRequests: 0, lastCreatedAt: null },
      ask: () => this.#ledger().totals(),
    });
  }

  /** Newest first. */
  recentPullRequests(): Promise<readonly RecordedPullRequest[] | undefined> {
    return this.#lastKnown.read({
      name: 'recent',
      freshMs: 0,
      nothing: [],
      ask: () => this.#ledger().recentPullRequests(RECENT_PULL_REQUESTS),
    });
  }

  /** Of one repository. */
  pullRequestCount(repository: LedgerRepository): Promise<number | undefined> {
    return this.#lastKnown.read({
      name: countName(repository),
      freshMs: COUNT_FRESH_MS,
      nothing: 0,
      ask: () => this.#ledger().pullRequestCount(repository),
    });
  }

  /** A pull request was opened there. Never rejects. */
  async forgetCount(repository: LedgerRepository): Promise<void> {
    await this.#lastKnown.forget(countName(repository));
  }
}

const countName = (repository: LedgerRepository): string =>
  `count/${countedOwner(repository)}/${repository.repo}`.toLowerCase();

/** One for each configuration, of which an isolate has one: opening it costs more than an answer from memory. */
const opened = new WeakMap<Config, LastKnown>();

export function openStatistics(env: Env, config: Config, logger: Logger, http: Http): Statistics {
  const onFailure = (error: unknown) => {
    logger.warn('the ledger does not answer', { error });
    // As `wrangler dev` begins.
    if (String(error).includes('no such table'))
      logger.warn('the database is empty: run npx wrangler d1 migrations apply DB --local');
  };
  const lastKnown = opened.get(config) ?? openLastKnown(env, config, onFailure);
  opened.set(config, lastKnown);
  return new Statistics(() => openLedger(env, config, http), lastKnown);
}
