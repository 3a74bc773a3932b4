/**
 * Notices when unusually many pushes arrive, or pushes from unusually many addresses (contract, sections 6 and 8).
 *
 * Pure. It fires once, and can fire again after both figures have fallen to half of its thresholds. Cost: memory for
 * the pushes of one minute, and constant time for each.
 */
import { isWithin } from '../../isolate/clock.ts';

export const BURST_WINDOW_MS = 60_000;
export const BURST_PUSHES = 20;
export const BURST_ADDRESSES = 10;

export interface BurstFigures {
  /** Within the last minute. */
  readonly pushes: number;
  /** Distinct ones among those pushes. */
  readonly addresses: number;
}

/** Who pushes, as keyed hashes. */
export interface Pusher {
  readonly address: string;
  /** Of all addresses that one subscriber may hold: the address itself, or those of an IPv6 /48. */
  readonly site: string;
}

/** The site with most pushes in the last minute. */
export interface BusiestSite {
  readonly site: string;
  readonly pushes: number;
  /** How many other sites have pushed. */
  readonly others: number;
}

export class BurstDetector {
  /** Those before `#first` have left the window. */
  #pushes: ({ readonly at: number } & Pusher)[] = [];
  #first = 0;
  readonly #perAddress = new Map<string, number>();
  readonly #perSite = new Map<string, number>();
  #isOn = false;

  /** A push attempt. Answers the figures if the detector fires because of it. */
  record({ address, site }: Pusher, now: number): BurstFigures | null {
    this.#rearm(now);
    this.#pushes.push({ at: now, address, site });
    add(this.#perAddress, address, 1);
    add(this.#perSite, site, 1);
    const { figures } = this;
    const isBurst = figures.pushes >= BURST_PUSHES || figures.addresses >= BURST_ADDRESSES;
    if (this.#isOn || !isBurst) return null;
    this.#isOn = true;
    return figures;
  }

  /** Cost: linear in the sites. */
  busiest(): BusiestSite {
    let [site, pushes] = ['', 0];
    for (const [other, itsPushes] of this.#perSite) {
      if (itsPushes > pushes) [site, pushes] = [other, itsPushes];
    }
    return { site, pushes, others: Math.max(0, this.#perSite.size - 1) };
  }

  /** True from when it fires until a push finds that it may fire again. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Lets it fire again if it has become quiet enough. */
  #rearm(now: number): void {
    this.#forget(now);
    const { pushes, addresses } = this.figures;
    if (pushes <= BURST_PUSHES / 2 && addresses <= BURST_ADDRESSES / 2) this.#isOn = false;
  }

  get figures(): BurstFigures {
    return { pushes: this.#pushes.length - this.#first, addresses: this.#perAddress.size };
  }

  #forget(now: number): void {
    for (;;) {
      const oldest = this.#pushes[this.#first];
      if (oldest === undefined || isWithin(oldest.at, BURST_WINDOW_MS, now)) break;
      add(this.#perAddress, oldest.address, -1);
      add(this.#perSite, oldest.site, -1);
      this.#first += 1;
    }
    // Not at every push, because that would copy the array each time.
    if (this.#first * 2 < this.#pushes.length) return;
    this.#pushes = this.#pushes.slice(this.#first);
    this.#first = 0;
  }
}

/** Keeps no zeros. */
function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
