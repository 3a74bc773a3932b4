/**
 * A pseudonym: everything that is kept of it, and the effects of reports, of the operator and of
 * time.
 * Proved by test/durable/identity/identity.property.test.ts and
 * test/durable/identity/moderation.test.ts.
 */
import { MAIN_HOST } from '../../config/hosts.ts';
import type { ModerationNews } from '../../notify/alert.ts';
import type { Ledger } from '../../stats/ledger.ts';
import { isWithin } from '../../isolate/clock.ts';
import { DueRows, earliest } from '../due-rows.ts';
import type { Guard } from '../guard/guard.ts';
import { Comments } from './comments.ts';
import { Karma } from './karma.ts';
import { NO_FACTS, pardoned, pruned, REPORT_LIFE_MS, reported, standingOf } from './moderation.ts';
import type { ModerationFacts, Reporter, Standing } from './moderation.ts';

export interface Pardon {
  readonly standing: Standing;
  /** How many of the comments that are still there get back the karma that they showed. */
  readonly restoring: number;
  /** The pseudonym's log, oldest first. */
  readonly log: readonly HistoryEntry[];
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

const DAY_MS = 24 * 60 * 60 * 1000;
const ENTRY_LIFE_MS = 90 * DAY_MS;
/** The pause between two appeals of one author. */
const APPEAL_PAUSE_MS = DAY_MS;
/** How long to try to tell the operator. */
const NEWS_LIFE_MS = 7 * DAY_MS;

type HistoryEvent = 'flagged' | 'blocked' | 'pardoned' | 'appealed';

interface HistoryEntry {
  readonly event: HistoryEvent;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The facts of an entry that the operator is told. */
type NewsDetails = Omit<ModerationNews, 'hash'>;

type EntryRow = { event: HistoryEvent; at: number; karma: number; dueAt: number | null };
/** An entry that is to be told. `details` is JSON; `failures` counts the failed attempts. */
type NewsRow = { id: number; at: number; details: string; failures: number };

/**
 * The log of when it was flagged, blocked and pardoned, and when its author appealed: for alerts,
 * and for a pardon's karma.
 */
export class ModerationLog {
  readonly #sql: SqlStorage;
  readonly #untold: DueRows<NewsRow>;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#untold = new DueRows(sql, { table: 'history', columns: 'id, at, details, failures' });
    sql.exec(`CREATE TABLE IF NOT EXISTS history (
      id INTEGER PRIMARY KEY, event TEXT NOT NULL, at INTEGER NOT NULL, karma INTEGER NOT NULL,
      details TEXT, due_at INTEGER, failures INTEGER NOT NULL DEFAULT 0
    )`);
  }

  /**
   * Adds an entry.
   * @param karma before the event
   * @param news of which the operator is told
   */
  add(event: HistoryEvent, at: number, karma = 0, news: NewsDetails | null = null): void {
    const [details, dueAt] = news === null ? [null, null] : [JSON.stringify(news), at];
    const insert = 'INSERT INTO history (event, at, karma, details, due_at) VALUES (?, ?, ?, ?, ?)';
    this.#sql.exec(insert, event, at, karma, details, dueAt);
  }

  /** Lists the entries, oldest first. */
  entries(): HistoryEntry[] {
    return this.#rows().map(({ event, at }) => ({ event, at }));
  }

  /**
   * Finds the karma that the last verdict took away. A block follows a flag, so it finds none left
   * to take.
   */
  lostKarma(): number {
    const rows = this.#rows();
    const last = rows.findLastIndex(({ event }) => event === 'flagged');
    return Math.max(0, ...rows.slice(Math.max(0, last)).map(({ karma }) => karma));
  }

  /** Finds the moment when the author may appeal again; 0: now. */
  appealAllowedAt(now: number): number {
    const last = this.#rows().findLast(({ event }) => event === 'appealed');
    // A clock that was set back must not silence anyone for longer.
    return last !== undefined && isWithin(last.at, APPEAL_PAUSE_MS, now) ? last.at + APPEAL_PAUSE_MS : 0;
  }

  /** Deletes the last appeal, which did not arrive. */
  takeBackAppeal(): void {
    this.#sql.exec("DELETE FROM history WHERE id = (SELECT max(id) FROM history WHERE event = 'appealed')");
  }

  dueNews(now: number): NewsRow[] {
    return this.#untold.due(now);
  }

  /**
   * Notes whether an entry was told.
   * @param isTold false: it is to be told later, unless it is old by now
   */
  told({ id, at, failures }: NewsRow, isTold: boolean, now: number): void {
    if (isTold || now - at > NEWS_LIFE_MS)
      this.#sql.exec('UPDATE history SET due_at = NULL WHERE id = ?', id);
    else this.#untold.later(id, failures, now);
  }

  prune(now: number): void {
    this.#sql.exec('DELETE FROM history WHERE at < ? AND due_at IS NULL', now - ENTRY_LIFE_MS);
  }

  isEmpty(): boolean {
    return this.#rows().length === 0;
  }

  nextDueAt(): number | null {
    return earliest(...this.#rows().map(({ at, dueAt }) => dueAt ?? at + ENTRY_LIFE_MS + 1));
  }

  #rows(): EntryRow[] {
    const query = 'SELECT event, at, karma, due_at AS dueAt FROM history ORDER BY id';
    return this.#sql.exec<EntryRow>(query).toArray();
  }
}
