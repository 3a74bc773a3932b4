/** A pseudonym: everything that is kept of it, and what reports, the operator and time do to it. */
import { MAIN_HOST } from '../../config/hosts.ts';
import type { Ledger } from '../../stats/ledger.ts';
import type { Guard } from '../guard/guard.ts';
import { earliest } from '../due-rows.ts';
import { Comments } from './comments.ts';
import { History, type HistoryEntry } from './history.ts';
import { Karma } from './karma.ts';
import {
  Moderation,
  pardoned,
  REPORT_LIFE_MS,
  type Reporter,
  reported,
  type Standing,
  standingOf,
} from './moderation.ts';

export interface Pardon {
  readonly standing: Standing;
  /** Of the comments that are still there, how many get back the karma that they showed. */
  readonly restoring: number;
  /** The pseudonym's log, oldest first. */
  readonly log: readonly HistoryEntry[];
}

/** Under which the hash is kept. Not every platform knows the object's name when an alarm goes off. */
const HASH_KEY = 'hash';

/** False until something has been written: a question about an unused hash must not leave a database behind. */
export function hasRecords(kv: SyncKvStorage): boolean {
  return kv.get(HASH_KEY) !== undefined;
}

export class Pseudonym {
  readonly hash: string;
  readonly moderation: Moderation;
  readonly comments: Comments;
  readonly karma: Karma;
  readonly history: History;

  /**
   * Makes the tables if there are none.
   * @param name the object's, if the platform knows it.
   */
  constructor({ sql, kv }: DurableObjectStorage, name: string | undefined, ledger: () => Ledger) {
    const hash = kv.get<string>(HASH_KEY) ?? name;
    if (hash === undefined) throw new Error('nobody knows the hash of this pseudonym');
    if (!hasRecords(kv)) kv.put(HASH_KEY, hash);
    this.hash = hash;
    this.moderation = new Moderation(kv);
    this.comments = new Comments(sql);
    this.karma = new Karma(kv, hash, ledger);
    this.history = new History(sql);
  }

  standing(now: number): Standing {
    return standingOf(this.moderation.facts, now);
  }

  report(reporter: Reporter, now: number): Standing {
    const { moderation, karma, comments, history } = this;
    const before = moderation.facts;
    const { facts, effect } = reported(before, reporter, now);
    if (facts !== before) moderation.write(facts);
    const standing = standingOf(facts, now);
    if (effect !== 'none') {
      const state = effect === 'flag' ? 'flagged' : 'blocked';
      // As it is now: what is told later may be gone by then.
      history.addNews({ state, reports: standing.reports, ...comments.extent() }, karma.known, now);
      karma.reset(now);
      comments.order(effect === 'flag' ? 'reset' : 'delete', now);
    }
    return standing;
  }

  /** Lifts what reports have led to. Comments that are deleted stay so: nobody has kept their texts. */
  pardon(now: number): Pardon {
    const { moderation, karma, comments, history } = this;
    moderation.write(pardoned(moderation.facts, now));
    karma.raise(history.lostKarma(), now);
    history.add('pardoned', now);
    const restoring = comments.restore(now);
    return { standing: this.standing(now), restoring, log: history.entries() };
  }

  /**
   * Tells the operator what has happened to it; what does not arrive is told later. Never rejects.
   * @param hostKey of the code host of its comments.
   */
  async tellNews(guard: Pick<DurableObjectStub<Guard>, 'tell'>, hostKey: string, now: number): Promise<void> {
    const { hash, history } = this;
    for (const news of history.dueNews(now)) {
      const { repository, ...details } = news.details;
      const place = repository === null || hostKey === MAIN_HOST ? repository : `${hostKey}/${repository}`;
      const isTold = await guard
        .tell({ kind: 'moderation', hash, ...details, repository: place }, news.at)
        .catch(() => false);
      if (isTold) history.told(news);
      else history.notTold(news, now);
    }
  }

  /** When something is due next; null if nothing is. */
  nextDueAt(): number | null {
    const { moderation, comments, karma, history } = this;
    const pruning = moderation.facts.reports.map(({ at }) => at + REPORT_LIFE_MS + 1);
    return earliest(comments.nextDueAt(), karma.nextDueAt(), history.nextDueAt(), ...pruning);
  }

  /**
   * Whether all this has no more effect than nothing at all. A comment that was refused must not leave a database
   * behind forever.
   */
  get isNobody(): boolean {
    const { moderation, comments, karma, history } = this;
    const { reports, isBlocked } = moderation.facts;
    return reports.length === 0 && !isBlocked && comments.isEmpty() && karma.isNothing() && history.isEmpty();
  }
}
