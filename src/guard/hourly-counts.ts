/**
 * How much each client has done in the last hour, to ten minutes, in memory only.
 *
 * Pure. Cost: constant time for each act, and memory for the clients of the last hour, up to a limit.
 */
const SLOT_MS = 10 * 60_000;
/** An hour, and the slot that has just begun. */
const SLOTS = 7;
/** Of a slot. Whoever comes after them counts as new, so a crowd can only make the counts milder. */
const MOST_CLIENTS = 20_000;

export class HourlyCounts {
  /** By the number of the slot since 1970. */
  readonly #slots = new Map<number, Map<string, number>>();

  /** @param client as a keyed hash. @param at milliseconds since 1970. */
  add(client: string, at: number): void {
    const slot = this.#slotAt(at);
    const known = slot.get(client);
    if (known !== undefined || slot.size < MOST_CLIENTS) slot.set(client, (known ?? 0) + 1);
  }

  /** How much the client has done in the hour before `now`. */
  of(client: string, now: number): number {
    this.#forget(now);
    let sum = 0;
    for (const slot of this.#slots.values()) sum += slot.get(client) ?? 0;
    return sum;
  }

  #slotAt(at: number): Map<string, number> {
    const index = Math.floor(at / SLOT_MS);
    const slot = this.#slots.get(index) ?? new Map<string, number>();
    this.#slots.set(index, slot);
    return slot;
  }

  /** Slots of the future, too, after a clock was set back. */
  #forget(now: number): void {
    const current = Math.floor(now / SLOT_MS);
    for (const index of this.#slots.keys()) {
      if (index > current || index <= current - SLOTS) this.#slots.delete(index);
    }
  }
}
