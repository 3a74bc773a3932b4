/**
 * Notices when unusually many pushes arrive, or pushes from unusually many addresses (contract, sections 6 and 8).
 *
 * Pure. It fires once, and can fire again after both figures have fallen to half of its thresholds. Cost: memory for
 * the pushes of one minute, and constant time for each.
 */
import { isWithin } from './sliding-window.ts';

export const BURST_WINDOW_MS = 60_000;
export const BURST_PUSHES = 20;
export const BURST_ADDRESSES = 10;

export interface BurstFigures {
  /** Within the last minute. */
  readonly pushes: number;
  /** Distinct ones among those pushes. */
  readonly addresses: number;
}

export class BurstDetector {
  /** Those before `#first` have left the window. */
  #pushes: { readonly at: number; readonly address: string }[] = [];
  #first = 0;
  readonly #perAddress = new Map<string, number>();
  #isOn = false;

  /** A push attempt. Answers the figures if the detector fires because of it. @param address as a hash. */
  record(address: string, now: number): BurstFigures | null {
    this.rearm(now);
    this.#pushes.push({ at: now, address });
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1);
    const { figures } = this;
    const isBurst = figures.pushes >= BURST_PUSHES || figures.addresses >= BURST_ADDRESSES;
    if (this.#isOn || !isBurst) return null;
    this.#isOn = true;
    return figures;
  }

  /** The address with most pushes in the last minute. Cost: linear in the addresses. */
  busiest(): { client: string; pushes: number } {
    let busiest = { client: '', pushes: 0 };
    for (const [client, pushes] of this.#perAddress) {
      if (pushes > busiest.pushes) busiest = { client, pushes };
    }
    return busiest;
  }

  /** True from when it fires until it may fire again. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Lets it fire again if it has become quiet enough. True if that ends a burst. */
  rearm(now: number): boolean {
    this.#forget(now);
    const { pushes, addresses } = this.figures;
    const isOver = this.#isOn && pushes <= BURST_PUSHES / 2 && addresses <= BURST_ADDRESSES / 2;
    if (isOver) this.#isOn = false;
    return isOver;
  }

  get figures(): BurstFigures {
    return { pushes: this.#pushes.length - this.#first, addresses: this.#perAddress.size };
  }

  #forget(now: number): void {
    for (;;) {
      const oldest = this.#pushes[this.#first];
      if (oldest === undefined || isWithin(oldest.at, BURST_WINDOW_MS, now)) break;
      const left = (this.#perAddress.get(oldest.address) ?? 0) - 1;
      if (left > 0) this.#perAddress.set(oldest.address, left);
      else this.#perAddress.delete(oldest.address);
      this.#first += 1;
    }
    // Not at every push, because that would copy the array each time.
    if (this.#first * 2 < this.#pushes.length) return;
    this.#pushes = this.#pushes.slice(this.#first);
    this.#first = 0;
  }
}
