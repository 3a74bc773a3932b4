/**
 * What counts against limits, as rows of an object: windows, and places for pull requests. Each row is known by a keyed
 * hash.
 *
 * Cost: an attempt is counted in memory. Of a large limit, only every so many accepted attempts are written down, so
 * that a busy client does not cost a row for each request; an object that restarts forgets less than a tenth of the
 * limit. Refused attempts are never written. The object's alarm calls `forgetOld` and writes again what that returns,
 * so that the rest leaves no trace.
 */
import { hasForgotten, NO_PLACES, type Places } from '../limits/places.ts';
import {
  EMPTY_WINDOW,
  type Hit,
  hit,
  isQuiet,
  type Limit,
  longestOf,
  type SlidingWindow,
} from '../limits/sliding-window.ts';

/** How much of a limit may be lost in a restart. */
const UNWRITTEN_PART = 0.1;
/** Some 10 MB. Of more rows, those that came first are written down. */
const MOST_IN_MEMORY = 20_000;

interface StoredWindow extends SlidingWindow {
  /** How long its hits count. */
  readonly withinMs: number;
}

/** A client's name for as long as it has one. */
interface Tag {
  /** Random: it leads to nobody once this row is gone. */
  readonly tag: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

type Row = StoredWindow | Places | Tag;

interface Known<R extends Row = Row> {
  readonly row: R;
  /** How much of it is only here. */
  readonly unwritten: number;
}

export class LimitRows {
  readonly #kv: SyncKvStorage;
  readonly #prefix: string;
  /** What came last is the last one. */
  readonly #known = new Map<string, Known>();

  /** @param prefix of the keys, in an object that stores other things, too. */
  constructor(kv: SyncKvStorage, prefix = '') {
    this.#kv = kv;
    this.#prefix = prefix;
  }

  /** How many rows are in memory. */
  get size(): number {
    return this.#known.size;
  }

  /** Counts one attempt. Answers whether it is within the limits. @param now milliseconds since 1970, as everywhere. */
  hit(key: string, limits: readonly Limit[], now: number): Hit {
    const { row, unwritten } = this.#window(key);
    const after = hit(row, limits, now);
    const more = unwritten + (after.hit.allowed ? 1 : 0);
    const withinMs = longestOf(limits);
    this.#remember(key, { ...after.window, withinMs }, more, more >= mostUnwritten(limits));
    return after.hit;
  }

  /** How long the next attempt would have to wait, in milliseconds; 0: not at all. Counts nothing. */
  waitMs(key: string, limits: readonly Limit[], now: number): number {
    return hit(this.#window(key).row, limits, now).hit.waitMs;
  }

  /** Whether something counts that has happened lately. */
  hasHits(key: string, now: number): boolean {
    const { row } = this.#window(key);
    return !isQuiet(row, row.withinMs, now);
  }

  /** What was counted last has not happened. */
  takeBack(key: string): void {
    const { row, unwritten } = this.#window(key);
    if (row.hits.length === 0) return;
    const isWritten = unwritten === 0;
    this.#remember(key, { ...row, hits: row.hits.slice(0, -1) }, Math.max(0, unwritten - 1), isWritten);
  }

  places(key: string): Places {
    return this.#read<Places>(key, NO_PLACES).row;
  }

  /** @param isNews false: what has changed may be lost in a restart. */
  keepPlaces(key: string, places: Places, isNews: boolean): void {
    this.#remember(key, places, 0, isNews);
  }

  /** The random name that `key` has for `lifeMs`. */
  tag(key: string, lifeMs: number, now: number): string {
    const { row } = this.#read<Tag>(key, { tag: '', until: 0 });
    if (row.until > now && row.until <= now + lifeMs) return row.tag;
    const tag = crypto.randomUUID();
    this.#remember(key, { tag, until: now + lifeMs }, 0, true);
    return tag;
  }

  /** Forgets what does not count any more. Answers what is stored and still counts, to be stored again. */
  forgetOld(now: number): readonly (readonly [string, unknown])[] {
    for (const [key, { row }] of this.#known) if (isOver(row, now)) this.#known.delete(key);
    return [...this.#kv.list<Row>({ prefix: this.#prefix })].filter(([, row]) => !isOver(row, now));
  }

  #window(key: string): Known<StoredWindow> {
    return this.#read<StoredWindow>(key, { ...EMPTY_WINDOW, withinMs: 0 });
  }

  #read<R extends Row>(key: string, empty: R): Known<R> {
    const known = this.#known.get(key) as Known<R> | undefined;
    return known ?? { row: this.#kv.get<R>(this.#prefix + key) ?? empty, unwritten: 0 };
  }

  #remember(key: string, row: Row, unwritten: number, isDue: boolean): void {
    if (isDue) this.#kv.put(this.#prefix + key, row);
    this.#known.delete(key);
    this.#known.set(key, { row, unwritten: isDue ? 0 : unwritten });
    for (const [oldest, known] of this.#known) {
      if (this.#known.size <= MOST_IN_MEMORY) break;
      if (known.unwritten > 0) this.#kv.put(this.#prefix + oldest, known.row);
      this.#known.delete(oldest);
    }
  }
}

function isOver(row: Row, now: number): boolean {
  if ('tag' in row) return row.until <= now;
  return 'held' in row ? hasForgotten(row, now) : isQuiet(row, row.withinMs, now);
}

function mostUnwritten(limits: readonly Limit[]): number {
  return Math.max(1, Math.floor(UNWRITTEN_PART * Math.min(...limits.map(({ most }) => most))));
}
