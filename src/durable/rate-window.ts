/**
 * How often one client has done what is limited (contract, section 8). One object for each client network, named by its
 * keyed hash; the address itself never gets here.
 *
 * Cost: one row is read and one written for each call. When the last window has passed, the object forgets everything.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import { EMPTY_WINDOW, type Hit, hit, type Limit, type SlidingWindow } from '../guard/sliding-window.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Failed attempts count. `report`: over all pseudonyms. */
const LIMITS = {
  admin: { most: 10, withinMs: MINUTE_MS },
  rollback: { most: 5, withinMs: MINUTE_MS },
  report: { most: 10, withinMs: HOUR_MS },
} as const satisfies Record<string, Limit>;
export type LimitedAction = keyof typeof LIMITS;

export class RateWindow extends DurableObject<Env> {
  /** Counts one attempt, and says whether it is within the limit. */
  async hit(action: LimitedAction): Promise<Hit> {
    const { kv } = this.ctx.storage;
    const after = hit(kv.get<SlidingWindow>(action) ?? EMPTY_WINDOW, LIMITS[action], Date.now());
    kv.put(action, after.window);
    await this.#forgetLater();
    return after.hit;
  }

  /** No window is longer than an hour: when nothing has come for that long, there is nothing left to know. */
  override async alarm(): Promise<void> {
    await this.ctx.storage.deleteAll();
  }

  async #forgetLater(): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + HOUR_MS);
  }
}
