/**
 * A pseudonym: everything that is kept of it, and the effects of reports, of the operator and of
 * time.
 * Proved by test/durable/identity/identity.property.test.ts and
 * test/durable/identity/moderation.test.ts.
 */
import { MAIN_HOST } from '../../config/hosts.ts';
import type { Ledger } from '../../stats/ledger.ts';
import { earliest } from '../due-rows.ts';
import type { Guard } from '../guard/guard.ts';
import { Comments } from './comments.ts';
import { Karma } from './karma.ts';
import { NO_FACTS, pardoned, pruned, REPORT_LIFE_MS, reported, standingOf } from './moderation.ts';
import type { ModerationFacts, Reporter, Standing } from './moderation.ts';
import { type LogEntry, ModerationLog, type NewsDetails } from './moderation-log.ts';

export interface Pardon {
  readonly standing: Standing;
  /** How many of the comments that are still there get back the karma that they showed. */
  readonly restoring: number;
  /** The pseudonym's log, oldest first. */
  readonly log: readonly LogEntry[];
}

/**
 * The key of the hash. Not every platform knows the object's name when an alarm goes off.
 */
const HASH_KEY = 'hash';
const FACTS_KEY = 'moderation';

/**
 * Answers whether anything was ever written: a question about an unused hash must not leave a
 * database behind.
 */
export function hasRecords(kv: SyncKvStorage): boolean {
  return kv.get(HASH_KEY) !== undefined;
}

export class Pseudonym {
  readonly hash: string;
  readonly comments: Comments;
  readonly karma: Karma;
  readonly history: ModerationLog;
  readonly #kv: SyncKvStorage;

  /**
   * Makes the tables if there are none.
   * @param name of the object, if the platform knows it
   */
  constructor({ sql, kv }: DurableObjectStorage, name: string | undefined, ledger: () => Ledger) {
    const hash = kv.get<string>(HASH_KEY) ?? name;
    if (hash === undefined) throw new Error('nobody knows the hash of this pseudonym');
    if (!hasRecords(kv)) kv.put(HASH_KEY, hash);
    this.hash = hash;
    this.comments = new Comments(sql, hash);
    this.karma = new Karma(kv, hash, ledger);
    this.history = new ModerationLog(sql);
    this.#kv = kv;
  }

  /** The effects of reports and of the operator. */
  get facts(): ModerationFacts {
    return this.#kv.get<ModerationFacts>(FACTS_KEY) ?? NO_FACTS;
  }

  set facts(facts: ModerationFacts) {
    this.#kv.put(FACTS_KEY, facts);
  }

  standing(now: number): Standing {
    return standingOf(this.facts, now);
  }

  report(reporter: Reporter, now: number): Standing {
    const before = this.facts;
    const { facts, effect } = reported(before, reporter, now);
    if (facts !== before) this.facts = facts;
    const standing = standingOf(facts, now);
    if (effect !== 'none') {
      const state = effect === 'flag' ? 'flagged' : 'blocked';
      // The extent is that of now, because comments may be gone when it is told.
      const news = { state, reports: standing.reports, ...this.comments.extent() } as const;
      this.history.add(state, now, this.karma.known, news);
      this.karma.reset(now);
      this.comments.order(effect === 'flag' ? 'reset' : 'delete', now);
    }
    return standing;
  }

  /**
   * Lifts what reports have led to. Comments that are deleted stay so: nobody has kept their texts.
   */
  pardon(now: number): Pardon {
    this.facts = pardoned(this.facts, now);
    this.karma.raise(this.history.lostKarma(), now);
    this.history.add('pardoned', now);
    const restoring = this.comments.restore(now);
    return { standing: this.standing(now), restoring, log: this.history.entries() };
  }

  /**
   * Tells the operator what has happened; again later if that fails.
   * @param hostKey the code host where its comments are
   */
  async tellNews(guard: Pick<DurableObjectStub<Guard>, 'tell'>, hostKey: string, now: number): Promise<void> {
    for (const news of this.history.dueNews(now)) {
      const { repository, ...details } = JSON.parse(news.details) as NewsDetails;
      const place = repository === null || hostKey === MAIN_HOST ? repository : `${hostKey}/${repository}`;
      const isTold = await guard
        .tell({ kind: 'moderation', hash: this.hash, ...details, repository: place }, news.at)
        .catch(() => false);
      this.history.told(news, isTold, now);
    }
  }

  /** Forgets the reports and entries that count no more. */
  prune(now: number): void {
    const { facts } = this;
    const left = pruned(facts, now);
    if (left.reports.length < facts.reports.length) this.facts = left;
    this.history.prune(now);
  }

  /** Finds the moment when something is due next; null: nothing is. */
  nextDueAt(): number | null {
    const pruning = this.facts.reports.map(({ at }) => at + REPORT_LIFE_MS + 1);
    return earliest(...[this.comments, this.karma, this.history].map((part) => part.nextDueAt()), ...pruning);
  }

  /**
   * Whether nothing that is kept has an effect any more: a comment that was refused must leave no
   * database behind.
   */
  get isNobody(): boolean {
    const { reports, isBlocked } = this.facts;
    const isUnreported = reports.length === 0 && !isBlocked;
    return isUnreported && this.comments.isEmpty() && this.karma.isNothing() && this.history.isEmpty();
  }
}
