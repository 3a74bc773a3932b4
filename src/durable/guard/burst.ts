/**
 * Detects unusually many pushes, comments and issues, or private reports, or unusually many
 * addresses behind them (contract, sections 6 and 8), and decides when to tell the operator: when a
 * burst begins, when its figures have doubled, and every ten minutes while it lasts, so that a
 * trickle cannot hide a flood. A burst that comes from one client alone (an IPv6 /48, too, as a
 * free tunnel gives one) is told at most once in ten minutes. Pure. Cost: memory for the events of
 * one minute.
 */
import { isWithin } from '../../isolate/clock.ts';
import type { BurstFigures } from '../../notify/alert.ts';

export const BURST_WINDOW_MS = 60_000;
export const BURST_PUSHES = 20;
export const BURST_PAUSE_MS = 10 * 60 * 1000;

/** This many pushes within the window, or pushes from this many addresses, are a burst. */
export const PUSH_BURST: BurstFigures = { events: BURST_PUSHES, addresses: 10 };

/**
 * The same for comments and issues together: twice as many, because they are shorter, and a thread
 * that many people read is no attack.
 */
export const POST_BURST: BurstFigures = { events: 40, addresses: 20 };

/** The same for private reports: few, because no repository has so many vulnerabilities at once. */
export const REPORT_BURST: BurstFigures = { events: 5, addresses: 5 };

/** Keyed hashes of the client that caused an event. */
interface EventSource {
  readonly address: string;
  /** The hash of everything that one subscriber may hold: the address, or its IPv6 /48. */
  readonly prefix: string;
}

/** The last alert about a burst. */
export interface ToldBurst extends BurstFigures {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** How many events came from the most active client. */
  readonly most: number;
  /** That client; null if there would have been a burst without it, too. */
  readonly alone: string | null;
}

export class BurstDetector {
  readonly #threshold: BurstFigures;
  /** Events, oldest first. Those before `#first` have left the window. */
  #events: ({ readonly at: number } & EventSource)[] = [];
  #first = 0;
  readonly #perAddress = new Map<string, number>();
  readonly #perPrefix = new Map<string, number>();
  #isOn = false;

  constructor(threshold: BurstFigures) {
    this.#threshold = threshold;
  }

  /**
   * Answers whether a burst begins with this event. The next burst can begin only after both
   * figures have fallen to half of the threshold.
   */
  record({ address, prefix }: EventSource, now: number): boolean {
    this.#forget(now);
    const { events, addresses } = this.#threshold;
    const before = this.figures;
    if (before.events <= events / 2 && before.addresses <= addresses / 2) this.#isOn = false;
    this.#events.push({ at: now, address, prefix });
    add(this.#perAddress, address, 1);
    add(this.#perPrefix, prefix, 1);
    const { figures } = this;
    const hasBegun = !this.#isOn && (figures.events >= events || figures.addresses >= addresses);
    this.#isOn ||= hasBegun;
    return hasBegun;
  }

  /** True from the event that begins a burst until the first event after its end. */
  get isOn(): boolean {
    return this.#isOn;
  }

  get figures(): BurstFigures {
    return { events: this.#events.length - this.#first, addresses: this.#perAddress.size };
  }

  /**
   * Gives what to tell the operator during a burst; null: nothing now.
   * @param told what this gave the last time.
   * @param hasBegun whether the burst begins with this event.
   */
  toTell(told: ToldBurst | null, hasBegun: boolean, now: number): ToldBurst | null {
    const { events, addresses } = this.figures;
    const last = told !== null && isWithin(told.at, BURST_PAUSE_MS, now) ? told : null;
    const hasDoubled = last === null || events >= 2 * last.events || addresses >= 2 * last.addresses;
    if (!hasBegun && !hasDoubled) return null;
    const { most, alone } = this.#busiest();
    const isSameClient = last !== null && alone !== null && alone === last.alone;
    const isDue = hasDoubled || alone === null;
    return isDue && !isSameClient ? { at: now, events, addresses, most, alone } : null;
  }

  /** Finds the most active client. Cost: linear in the prefixes. */
  #busiest(): Pick<ToldBurst, 'most' | 'alone'> {
    let [busiest, most] = ['', 0];
    for (const [prefix, count] of this.#perPrefix) if (count > most) [busiest, most] = [prefix, count];
    const { events, addresses } = this.#threshold;
    const isBurstWithout = this.figures.events - most >= events || this.#perPrefix.size >= addresses;
    return { most, alone: isBurstWithout ? null : busiest };
  }

  #forget(now: number): void {
    for (;;) {
      const oldest = this.#events[this.#first];
      if (oldest === undefined || isWithin(oldest.at, BURST_WINDOW_MS, now)) break;
      add(this.#perAddress, oldest.address, -1);
      add(this.#perPrefix, oldest.prefix, -1);
      this.#first += 1;
    }
    // Copies the array only when half of it has left the window.
    if (this.#first * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#first);
    this.#first = 0;
  }
}

/** Adds to a count, and deletes it when it reaches zero. */
function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
