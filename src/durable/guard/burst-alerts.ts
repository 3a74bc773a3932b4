/**
 * When to tell the operator about a burst.
 *
 * The operator is told when it begins, again when its figures have doubled, and every ten minutes as long as it lasts,
 * so that a trickle cannot hide a flood. One client alone, which can make a burst for the price of twenty tiny
 * requests, is told once in ten minutes; the networks of an IPv6 /48 are one client here, because a free tunnel gives
 * anybody all of them.
 */
import { BURST_ADDRESSES, BURST_PUSHES, type BurstFigures, type BusiestSite } from './burst-detector.ts';
import { isWithin } from '../../isolate/clock.ts';

const KEY = 'told-burst';
export const BURST_PAUSE_MS = 10 * 60 * 1000;

/** What the operator was told last. */
export interface ToldBurst {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly pushes: number;
  readonly addresses: number;
  /**
   * Keyed hash of the client without whose pushes there would have been no burst; null: there would have been one
   * anyway.
   */
  readonly client: string | null;
}

/**
 * What to tell the operator now, and to pass in with the next call; null: nothing.
 * @param hasBegun whether the burst begins with this push. @param busiest costs time, so it is asked for only if
 * needed.
 */
export function burstToTell(
  told: ToldBurst | null,
  { pushes, addresses }: Pick<BurstFigures, 'pushes' | 'addresses'>,
  hasBegun: boolean,
  busiest: () => BusiestSite,
  now: number,
): ToldBurst | null {
  const last = told !== null && isWithin(told.at, BURST_PAUSE_MS, now) ? told : null;
  const hasDoubled = last === null || pushes >= 2 * last.pushes || addresses >= 2 * last.addresses;
  if (!hasBegun && !hasDoubled) return null;
  const client = clientAlone(pushes, busiest());
  const isSameClient = last !== null && client !== null && client === last.client;
  const isDue = hasDoubled || client === null;
  return isDue && !isSameClient ? { at: now, pushes, addresses, client } : null;
}

/** Null if it would be a burst without its most active client, too. */
function clientAlone(pushes: number, busiest: BusiestSite): string | null {
  const isBurstWithout = pushes - busiest.pushes >= BURST_PUSHES || busiest.others + 1 >= BURST_ADDRESSES;
  return isBurstWithout ? null : busiest.site;
}

/** Kept, so that a restart of the guard does not begin anew. */
export class ToldBurstRecord {
  readonly #kv: SyncKvStorage;
  #told: ToldBurst | null;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    this.#told = kv.get<ToldBurst>(KEY) ?? null;
  }

  get last(): ToldBurst | null {
    return this.#told;
  }

  /** Cost: one write. */
  set(told: ToldBurst): void {
    this.#told = told;
    this.#kv.put(KEY, told);
  }

  /** Forgets a burst that was told too long ago. Answers when the present one will be; null if there is none. */
  forgetOld(now: number): number | null {
    if (this.#told === null) return null;
    const endsAt = this.#told.at + BURST_PAUSE_MS;
    if (now < endsAt) return endsAt;
    this.#told = null;
    this.#kv.delete(KEY);
    return null;
  }
}
