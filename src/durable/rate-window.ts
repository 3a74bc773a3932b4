/**
 * Counts what one client does against its limits (contract, section 8). One object for each client network, named by
 * its keyed hash; it never gets the address itself.
 *
 * Cost: each call reads one row and writes one, and while there are calls, an alarm runs every hour. It deletes what no
 * longer counts within another hour.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';
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
  type SlidingWindow,
} from '../guard/sliding-window.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Failed attempts count, too. `report`: over all pseudonyms. `badge`: look-ups at the host by all clients together. */
const LIMITS = {
  admin: { most: 10, withinMs: MINUTE_MS },
  rollback: { most: 5, withinMs: MINUTE_MS },
  report: { most: 10, withinMs: HOUR_MS },
  badge: { most: 20, withinMs: MINUTE_MS },
} as const satisfies Record<string, Limit>;
export type LimitedAction = keyof typeof LIMITS;
const ACTIONS = Object.keys(LIMITS) as LimitedAction[];

export class RateWindow extends DurableObject<Env> {
  /** Counts one attempt. Answers whether it is within the limit. */
  async hit(action: LimitedAction): Promise<Hit> {
    const after = hit(this.#window(action), LIMITS[action], Date.now());
    this.ctx.storage.kv.put(action, after.window);
    await this.#forgetLater();
    return after.hit;
  }

  /**
   * Takes a place for a push that wants to open a pull request, if one is left. @param key a keyed hash of that pull
   * request.
   */
  async reservePlace(key: string): Promise<Reservation> {
    const { places, reservation } = reserve(this.#places(), key, Date.now());
    await this.#keepPlaces(places);
    return reservation;
  }

  /** The pull request is open. */
  async confirmPlace(key: string): Promise<void> {
    await this.#keepPlaces(confirm(this.#places(), key, Date.now()));
  }

  /** The push has failed. */
  async releasePlace(key: string): Promise<void> {
    await this.#keepPlaces(release(this.#places(), key, Date.now()));
  }

  /** Forgets what does not count any more. */
  override async alarm(): Promise<void> {
    const { kv } = this.ctx.storage;
    const now = Date.now();
    const quiet = ACTIONS.filter((action) => isQuiet(this.#window(action), LIMITS[action], now));
    for (const action of quiet) kv.delete(action);
    const hasPlaces = !hasForgotten(this.#places(), now);
    if (!hasPlaces) kv.delete('places');
    if (hasPlaces || quiet.length < ACTIONS.length) await this.ctx.storage.setAlarm(now + HOUR_MS);
    else await this.ctx.storage.deleteAll();
  }

  #window(action: LimitedAction): SlidingWindow {
    return this.ctx.storage.kv.get<SlidingWindow>(action) ?? EMPTY_WINDOW;
  }

  #places(): Places {
    return this.ctx.storage.kv.get<Places>('places') ?? NO_PLACES;
  }

  async #keepPlaces(places: Places): Promise<void> {
    this.ctx.storage.kv.put('places', places);
    await this.#forgetLater();
  }

  async #forgetLater(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
  }
}
