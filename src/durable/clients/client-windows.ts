/**
 * Counts what clients do against their limits (src/limits/limits.ts). A client is a network, or an IPv6 /48, by a keyed
 * hash that changes every day; its address never gets here. Clients are rows of a few objects, because the file of an
 * object of its own would tell by its name and its date who came when (src/objects.ts).
 *
 * Cost: an attempt is counted in memory. Of a large limit, only every so many accepted attempts are written down, so
 * that a busy client does not cost a row for each request; an object that restarts forgets less than a tenth of the
 * limit. Refused attempts are never written. Memory and disk are bounded: of very many clients, those that tried something
 * longest ago are forgotten, so a crowd can only make a limit milder.
 *
 * While there is anything to forget, an alarm runs every hour. It deletes what no longer counts, without a trace.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import { isWithin } from '../../isolate/clock.ts';
import type { TriedName } from '../../limits/limits.ts';
import { hit, type Limit, longestOf, type Wait } from '../../limits/sliding-window.ts';
import { keepOnly } from '../keep-only.ts';

const HOUR_MS = 60 * 60 * 1000;
/** How much of a limit may be lost in a restart. */
const UNWRITTEN_PART = 0.1;
/** Some 10 MB. Of more rows, those that came first are written down. */
const MOST_IN_MEMORY = 20_000;
/** With more of them on the disk, `isFull`; half of them stay. */
const MOST_STORED = 40_000;
const PAGE_ROWS = 1_000;
/** As long as a client has the same name: src/limits/client.ts. */
const TAG_LIFE_MS = 24 * HOUR_MS;

export class ClientWindows extends DurableObject<Env> {
  readonly #rows = new LimitRows(this.ctx.storage.kv);
  #hasAlarm = false;

  /**
   * Answers whether an attempt is within the limits. @param client by its hash, as in every call. @param isAttempt false:
   * it is not counted.
   */
  async hit(client: string, action: TriedName, limits: readonly Limit[], isAttempt = true): Promise<Wait> {
    const answer = this.#rows.hit(`${client} ${action}`, limits, Date.now(), isAttempt);
    await this.#forgetLater();
    return answer;
  }

  /** The client's random name, under which its delayed pushes are counted. After a day it has another one. */
  async tag(client: string): Promise<string> {
    const tag = this.#rows.tag(`${client} tag`, Date.now());
    await this.#forgetLater();
    return tag;
  }

  /** Forgets what does not count any more. */
  override alarm(): Promise<void> {
    return this.#forget();
  }

  async #forget(): Promise<void> {
    const now = Date.now();
    const kept = this.#rows.forgetOld(now);
    this.#hasAlarm = kept.length > 0 || this.#rows.size > 0;
    await keepOnly(this.ctx.storage, kept, this.#hasAlarm ? now + HOUR_MS : null);
  }

  async #forgetLater(): Promise<void> {
    if (this.#rows.isFull) await this.#forget();
    if (this.#hasAlarm) return;
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
    this.#hasAlarm = true;
  }
}

interface StoredWindow {
  /** When an attempt was accepted, oldest first; milliseconds since 1970. */
  readonly hits: readonly number[];
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

type Row = StoredWindow | Tag;

interface Known<R extends Row = Row> {
  readonly row: R;
  /** How much of it is only here. */
  readonly unwritten: number;
}

class LimitRows {
  readonly #kv: SyncKvStorage;
  /** What came last is the last one. */
  readonly #known = new Map<string, Known>();
  /** The keys of the rows that were written since the object has started. */
  #stored = new Set<string>();

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** How many rows are in memory. */
  get size(): number {
    return this.#known.size;
  }

  /** `forgetOld` is due, whenever the alarm would call it. */
  get isFull(): boolean {
    return this.#stored.size >= MOST_STORED;
  }

  /**
   * Answers whether an attempt is within the limits. @param now milliseconds since 1970, as everywhere. @param isAttempt
   * false: it is not counted.
   */
  hit(key: string, limits: readonly Limit[], now: number, isAttempt = true): Wait {
    const { row, unwritten } = this.#read<StoredWindow>(key, { hits: [], withinMs: 0 });
    const { hits, wait } = hit(row.hits, limits, now);
    if (!isAttempt) return wait;
    const more = unwritten + (wait.waitMs === 0 ? 1 : 0);
    this.#remember(key, { hits, withinMs: longestOf(limits) }, more, more >= mostUnwritten(limits));
    return wait;
  }

  /** The random name that `key` has for a day. */
  tag(key: string, now: number): string {
    const { row } = this.#read<Tag>(key, { tag: '', until: 0 });
    if (row.until > now && row.until <= now + TAG_LIFE_MS) return row.tag;
    const tag = crypto.randomUUID();
    this.#remember(key, { tag, until: now + TAG_LIFE_MS }, 0, true);
    return tag;
  }

  /** Forgets what does not count any more. Answers what is stored and still counts, to be stored again. */
  forgetOld(now: number): readonly (readonly [string, unknown])[] {
    for (const [key, { row }] of this.#known) if (isOver(row, now)) this.#known.delete(key);
    let kept: (readonly [string, Row])[] = [];
    for (let startAfter: string | undefined; ;) {
      const page = [
        ...this.#kv.list<Row>({ limit: PAGE_ROWS, ...(startAfter !== undefined && { startAfter }) }),
      ];
      kept.push(...page.filter(([, row]) => !isOver(row, now)));
      if (kept.length > MOST_STORED) kept = newest(kept, MOST_STORED / 2);
      startAfter = page.at(-1)?.[0];
      if (page.length < PAGE_ROWS) break;
    }
    if (this.isFull) kept = newest(kept, MOST_STORED / 2);
    this.#stored = new Set(kept.map(([key]) => key));
    return kept;
  }

  #read<R extends Row>(key: string, empty: R): Known<R> {
    const known = this.#known.get(key) as Known<R> | undefined;
    return known ?? { row: this.#kv.get<R>(key) ?? empty, unwritten: 0 };
  }

  #remember(key: string, row: Row, unwritten: number, isDue: boolean): void {
    if (isDue) this.#store(key, row);
    this.#known.delete(key);
    this.#known.set(key, { row, unwritten: isDue ? 0 : unwritten });
    for (const [oldest, known] of this.#known) {
      if (this.#known.size <= MOST_IN_MEMORY) break;
      if (known.unwritten > 0) this.#store(oldest, known.row);
      this.#known.delete(oldest);
    }
  }

  #store(key: string, row: Row): void {
    this.#kv.put(key, row);
    this.#stored.add(key);
  }
}

/** Those that were used last. */
function newest(rows: readonly (readonly [string, Row])[], most: number): (readonly [string, Row])[] {
  return rows.toSorted(([, a], [, b]) => lastUse(b) - lastUse(a)).slice(0, most);
}

function lastUse(row: Row): number {
  return 'tag' in row ? row.until - TAG_LIFE_MS : (row.hits.at(-1) ?? 0);
}

function isOver(row: Row, now: number): boolean {
  return 'tag' in row ? row.until <= now : !row.hits.some((at) => isWithin(at, row.withinMs, now));
}

function mostUnwritten(limits: readonly Limit[]): number {
  return Math.max(1, Math.floor(UNWRITTEN_PART * Math.min(...limits.map(({ most }) => most))));
}
