/**
 * Counts what one client does against its limits (src/guard/limits.ts). One object for each client network, and for
 * each IPv6 /48, named by its keyed hash; it never gets the address itself.
 *
 * Cost: an attempt is counted in memory. Of a large limit, only every so many accepted attempts are written down, so
 * that a busy client does not cost a row for each request; an object that restarts forgets less than a tenth of the
 * limit. Refused attempts are never written. While something is written down, an alarm runs every hour. It deletes what
 * no longer counts within another hour.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import type { CONTRACT_LIMITS, OpenLimitName } from '../guard/limits.ts';
import {
  confirm,
  hasForgotten,
  NO_PLACES,
  type Places,
  release,
  type Reservation,
  reserve,
} from '../guard/places.ts';
import {
  EMPTY_WINDOW,
  type Hit,
  hit,
  isQuiet,
  type Limit,
  longestOf,
  type SlidingWindow,
} from '../guard/sliding-window.ts';

const HOUR_MS = 60 * 60 * 1000;
/** How much of a limit may be lost in a restart. */
const UNWRITTEN_PART = 0.1;
const PLACES_KEY = 'places';

export type LimitedAction = OpenLimitName | Exclude<keyof typeof CONTRACT_LIMITS, 'pullRequests'>;

interface StoredWindow extends SlidingWindow {
  /** How long its hits count. */
  readonly withinMs: number;
}

export class RateWindow extends DurableObject<Env> {
  readonly #windows = new Map<LimitedAction, { window: SlidingWindow; unwritten: number }>();
  /** Null until it has been read. */
  #places: Places | null = null;

  /** Counts one attempt. Answers whether it is within the limits. */
  async hit(action: LimitedAction, limits: readonly Limit[]): Promise<Hit> {
    const kept = this.#kept(action);
    const after = hit(kept.window, limits, Date.now());
    kept.window = after.window;
    if (after.hit.allowed) kept.unwritten += 1;
    if (kept.unwritten >= mostUnwritten(limits)) {
      const stored: StoredWindow = { ...kept.window, withinMs: longestOf(limits) };
      this.ctx.storage.kv.put(action, stored);
      kept.unwritten = 0;
      await this.#forgetLater();
    }
    return after.hit;
  }

  /**
   * Takes a place for a push that wants to open a pull request, if one is left.
   * @param key a keyed hash of that pull request. @param most how many places there are.
   */
  async reservePlace(key: string, most: number): Promise<Reservation> {
    const { places, reservation } = reserve(this.#knownPlaces(), key, most, Date.now());
    if (reservation.isReserved || reservation.isAlertDue) await this.#keepPlaces(places);
    else this.#places = places;
    return reservation;
  }

  /** The pull request is open. */
  async confirmPlace(key: string): Promise<void> {
    await this.#keepPlaces(confirm(this.#knownPlaces(), key, Date.now()));
  }

  /** The push has failed. */
  async releasePlace(key: string): Promise<void> {
    await this.#keepPlaces(release(this.#knownPlaces(), key, Date.now()));
  }

  /** Forgets what does not count any more. */
  override async alarm(): Promise<void> {
    const { kv } = this.ctx.storage;
    const now = Date.now();
    const windows = [...kv.list<StoredWindow>()].filter(([key]) => key !== PLACES_KEY);
    const quiet = windows.filter(([, window]) => isQuiet(window, window.withinMs, now));
    for (const [key] of quiet) kv.delete(key);
    const hasPlaces = !hasForgotten(this.#knownPlaces(), now);
    if (!hasPlaces) {
      this.#places = null;
      kv.delete(PLACES_KEY);
    }
    if (hasPlaces || quiet.length < windows.length) await this.ctx.storage.setAlarm(now + HOUR_MS);
    else await this.ctx.storage.deleteAll();
  }

  #kept(action: LimitedAction): { window: SlidingWindow; unwritten: number } {
    const known = this.#windows.get(action);
    if (known !== undefined) return known;
    const kept = { window: this.ctx.storage.kv.get<StoredWindow>(action) ?? EMPTY_WINDOW, unwritten: 0 };
    this.#windows.set(action, kept);
    return kept;
  }

  #knownPlaces(): Places {
    return (this.#places ??= this.ctx.storage.kv.get<Places>(PLACES_KEY) ?? NO_PLACES);
  }

  async #keepPlaces(places: Places): Promise<void> {
    this.#places = places;
    this.ctx.storage.kv.put(PLACES_KEY, places);
    await this.#forgetLater();
  }

  async #forgetLater(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
  }
}

function mostUnwritten(limits: readonly Limit[]): number {
  return Math.max(1, Math.floor(UNWRITTEN_PART * Math.min(...limits.map(({ most }) => most))));
}
