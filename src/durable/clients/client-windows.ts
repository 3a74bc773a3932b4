/**
 * Counts what clients do against their limits (src/limits/limits.ts). A client is a network, or an
 * IPv6 /48, under a keyed hash that changes every day; its address never gets here. Clients are
 * rows of a few objects: if each had an object, the name and date of its file would tell who came
 * when (src/objects.ts).
 *
 * Cost: attempts are counted in memory. Refused ones are never written, and accepted ones are
 * written in batches, so that a restart forgets less than a tenth of a limit. When there are very
 * many clients, those that came longest ago are forgotten: a crowd can only make limits milder.
 * After a failed write, each attempt is stored before it is let through, until a write succeeds. An
 * hourly alarm deletes old rows without a trace.
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
/** The part of a limit that a restart may forget. */
const UNWRITTEN_PART = 0.1;
/** Bounds the rows in memory to some 10 MB; the least recently used leave, and are stored. */
const MOST_IN_MEMORY = 20_000;
/** Bounds the rows on disk: beyond it, the older half is deleted without waiting for the alarm. */
const MOST_STORED = 40_000;
/**
 * Ids of the objects that have an unconfirmed write. A failed write resets its object, which then
 * finds its id here. It has forgotten what it let through since its last write, so it must not let
 * through as much again.
 */
const unconfirmed = new Set<string>();
onForget(() => unconfirmed.clear());

/** `hits`: when attempts were accepted, oldest first. `withinMs`: how long they count. */
type StoredWindow = { readonly hits: readonly number[]; readonly withinMs: number };

/** `unwritten`: how many of the row's hits are not on disk yet. */
type CachedRow = { readonly row: StoredWindow; readonly unwritten: number };

export class ClientWindows extends DurableObject<Env> {
  readonly #kv = this.ctx.storage.kv;
  /** Rows in memory, the most recently used last. */
  readonly #cached = new Map<string, CachedRow>();
  /** Keys of the rows on disk, as far as this object knows them. */
  #stored = new Set<string>();
  #hasAlarm = false;
  readonly #id = this.ctx.id.toString();
  /** True after a failed write, until one succeeds. */
  #storesFirst = unconfirmed.has(this.#id);
  #writes = 0;

  /**
   * Counts an attempt for the client and for the networks around it, or for neither.
   * @param client a keyed hash.
   * @param isAttempt false only asks how long the client would have to wait.
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

  /** Gives the wait for an attempt, and the function that counts the attempt. */
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

  override async alarm(): Promise<void> {
    const now = Date.now();
    for (const [key, { row }] of this.#cached) if (isOver(row, now)) this.#cached.delete(key);
    let kept: (readonly [string, StoredWindow])[] = [];
    for (const [key, row] of this.#kv.list<StoredWindow>()) {
      // Version 1.0.0 also kept rows for delayed pushes here, which nobody reads any more.
      if ('hits' in row && !isOver(row, now)) kept.push([key, row]);
      if (kept.length > MOST_STORED) kept = newest(kept, MOST_STORED / 2);
    }
    if (this.#stored.size >= MOST_STORED) kept = newest(kept, MOST_STORED / 2);
    this.#stored = new Set(kept.map(([key]) => key));
    this.#hasAlarm = kept.length > 0 || this.#cached.size > 0;
    await keepOnly(this.ctx.storage, kept, this.#hasAlarm ? now + HOUR_MS : null);
  }

  async #forgetLater(): Promise<void> {
    if (this.#stored.size >= MOST_STORED) await this.alarm();
    if (this.#hasAlarm) return;
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
    this.#hasAlarm = true;
  }

  #read(key: string): CachedRow {
    const stored = (): StoredWindow => this.#kv.get<StoredWindow>(key) ?? { hits: [], withinMs: 0 };
    return this.#cached.get(key) ?? { row: stored(), unwritten: 0 };
  }

  #remember(key: string, row: StoredWindow, unwritten: number, isDue: boolean): void {
    if (isDue) this.#store(key, row);
    this.#cached.delete(key);
    this.#cached.set(key, { row, unwritten: isDue ? 0 : unwritten });
    for (const [oldest, cached] of this.#cached) {
      if (this.#cached.size <= MOST_IN_MEMORY) break;
      if (cached.unwritten > 0) this.#store(oldest, cached.row);
      this.#cached.delete(oldest);
    }
  }

  #store(key: string, row: StoredWindow): void {
    this.#kv.put(key, row);
    this.#stored.add(key);
    void this.#confirm();
  }

  /** Waits for the write. If that fails, the runtime resets the object, so this never resolves. */
  async #confirm(): Promise<void> {
    unconfirmed.add(this.#id);
    this.#writes += 1;
    await this.ctx.storage.sync();
    this.#storesFirst = false;
    this.#writes -= 1;
    if (this.#writes === 0) unconfirmed.delete(this.#id);
  }
}

/** Selects the rows that were used last. */
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
