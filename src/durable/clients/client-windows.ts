/**
 * Counts what clients do against their limits (src/limits/limits.ts). A client is a network, or an
 * IPv6 /48, by a keyed hash that changes every day; its address never gets here. Clients are rows
 * of a few objects: the file of an object of its own would tell by its name and date who came when
 * (src/objects.ts). Cost: an attempt is counted in memory. Refused ones are never written down, and
 * of a large limit's only every so many: a restart forgets less than a tenth. Of very many clients,
 * those that came longest ago are forgotten: a crowd can only make a limit milder. After a failed
 * write, each attempt is stored before it is let through, until one was. An hourly alarm deletes
 * what is old without a trace.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import { isWithin } from '../../isolate/clock.ts';
import { onForget } from '../../isolate/recent.ts';
import type { TriedName } from '../../limits/limits.ts';
import { type Counter, hit, type Limit, longestOf, NO_WAIT } from '../../limits/sliding-window.ts';
import { triedWait, type TriedWait } from '../../limits/sliding-window.ts';
import { keepOnly } from '../keep-only.ts';

const HOUR_MS = 60 * 60 * 1000;
/** How much of a limit may be lost in a restart. */
const UNWRITTEN_PART = 0.1;
/** Some 10 MB. Of more rows, those that came first are written down. */
const MOST_IN_MEMORY = 20_000;
/** With more of them on the disk, the alarm need not be waited for; half of them stay. */
const MOST_STORED = 40_000;
/**
 * The objects with a write that is not confirmed, by id. A failed write resets its object, which
 * then finds itself here: what it let through since its last write is forgotten, so it must not let
 * through as much again.
 */
const unconfirmed = new Set<string>();
onForget(() => unconfirmed.clear());

/**
 * When attempts were accepted, oldest first, in milliseconds since 1970; and how long they count.
 */
type StoredWindow = { readonly hits: readonly number[]; readonly withinMs: number };

/** @property unwritten how much of the row is only here. */
type Known = { readonly row: StoredWindow; readonly unwritten: number };

export class ClientWindows extends DurableObject<Env> {
  readonly #kv = this.ctx.storage.kv;
  /** What came last is the last one. */
  readonly #known = new Map<string, Known>();
  /** The keys of the rows that were written since the object has started. */
  #stored = new Set<string>();
  #hasAlarm = false;
  readonly #id = this.ctx.id.toString();
  /** The last write has failed. */
  #storesFirst = unconfirmed.has(this.#id);
  #writes = 0;

  /**
   * Counts an attempt for the client and for the networks around it, or for neither.
   * @param client by its hash, as in every call.
   * @param isAttempt false: it is not counted.
   */
  async hit(
    client: string,
    action: TriedName,
    limits: readonly Limit[],
    isAttempt = true,
    wider: Counter | null = null,
  ): Promise<TriedWait> {
    const own = this.#attempt({ key: client, limits }, action);
    const around = wider && this.#attempt(wider, action);
    const wait = triedWait(own.wait, around?.wait ?? NO_WAIT, wider);
    if (isAttempt) for (const each of [own, around]) each?.count(wait.waitMs === 0);
    await this.#forgetLater();
    return wait;
  }

  /** How long it would wait, and how to count it. */
  #attempt({ key: client, limits }: Counter, action: TriedName) {
    const key = `${client} ${action}`;
    const { row, unwritten } = this.#read(key);
    const { hits, wait } = hit(row.hits, limits, Date.now());
    const count = (isTaken: boolean): void => {
      const more = unwritten + (isTaken ? 1 : 0);
      const isDue = more >= (this.#storesFirst ? 1 : mostUnwritten(limits));
      this.#remember(key, { hits: isTaken ? hits : row.hits, withinMs: longestOf(limits) }, more, isDue);
    };
    return { wait, count };
  }

  /** Forgets what does not count any more. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    for (const [key, { row }] of this.#known) if (isOver(row, now)) this.#known.delete(key);
    let kept: (readonly [string, StoredWindow])[] = [];
    for (const [key, row] of this.#kv.list<StoredWindow>()) {
      // Version 1.0.0 kept rows of another kind for delayed pushes, which nobody reads any more.
      if ('hits' in row && !isOver(row, now)) kept.push([key, row]);
      if (kept.length > MOST_STORED) kept = newest(kept, MOST_STORED / 2);
    }
    if (this.#stored.size >= MOST_STORED) kept = newest(kept, MOST_STORED / 2);
    this.#stored = new Set(kept.map(([key]) => key));
    this.#hasAlarm = kept.length > 0 || this.#known.size > 0;
    await keepOnly(this.ctx.storage, kept, this.#hasAlarm ? now + HOUR_MS : null);
  }

  async #forgetLater(): Promise<void> {
    if (this.#stored.size >= MOST_STORED) await this.alarm();
    if (this.#hasAlarm) return;
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
    this.#hasAlarm = true;
  }

  #read(key: string): Known {
    const known = this.#known.get(key);
    return known ?? { row: this.#kv.get<StoredWindow>(key) ?? { hits: [], withinMs: 0 }, unwritten: 0 };
  }

  #remember(key: string, row: StoredWindow, unwritten: number, isDue: boolean): void {
    if (isDue) this.#store(key, row);
    this.#known.delete(key);
    this.#known.set(key, { row, unwritten: isDue ? 0 : unwritten });
    for (const [oldest, known] of this.#known) {
      if (this.#known.size <= MOST_IN_MEMORY) break;
      if (known.unwritten > 0) this.#store(oldest, known.row);
      this.#known.delete(oldest);
    }
  }

  #store(key: string, row: StoredWindow): void {
    this.#kv.put(key, row);
    this.#stored.add(key);
    void this.#confirm();
  }

  /** If the write fails, nothing runs here any more. */
  async #confirm(): Promise<void> {
    unconfirmed.add(this.#id);
    this.#writes += 1;
    await this.ctx.storage.sync();
    this.#storesFirst = false;
    this.#writes -= 1;
    if (this.#writes === 0) unconfirmed.delete(this.#id);
  }
}

/** Those that were used last. */
function newest(
  rows: readonly (readonly [string, StoredWindow])[],
  most: number,
): (readonly [string, StoredWindow])[] {
  return rows.toSorted(([, a], [, b]) => lastUse(b) - lastUse(a)).slice(0, most);
}

function lastUse(row: StoredWindow): number {
  return row.hits.at(-1) ?? 0;
}

function isOver(row: StoredWindow, now: number): boolean {
  return !row.hits.some((at) => isWithin(at, row.withinMs, now));
}

function mostUnwritten(limits: readonly Limit[]): number {
  return Math.max(1, Math.floor(UNWRITTEN_PART * Math.min(...limits.map(({ most }) => most))));
}
