/** What each client has tried lately against one kind of limit, in memory only. */
import { Recent } from '../isolate/recent.ts';
import { EMPTY_WINDOW, type Hit, hit, type Limit, type SlidingWindow } from './sliding-window.ts';

/** With more of them, the one that tried longest ago counts as new, so a crowd can only make a limit milder. */
const MOST_CLIENTS = 100_000;
/** No limit counts longer. */
const DAY_MS = 24 * 60 * 60_000;

export class ClientAttempts extends Recent<SlidingWindow> {
  constructor() {
    super({ most: MOST_CLIENTS, lifeMs: DAY_MS });
  }

  /** @param client as a keyed hash. @param now milliseconds since 1970. */
  hit(client: string, limits: readonly Limit[], now: number): Hit {
    const after = hit(this.get(client, now) ?? EMPTY_WINDOW, limits, now);
    this.set(client, after.window, now);
    return after.hit;
  }
}
