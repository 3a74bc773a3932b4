/**
 * Counts the bodies of requests that still arrive, by client. Each holds a connection and its
 * buffers, and costs its sender nothing. The request of a client that is gone may end without
 * notice, so a body of which nothing was read for a while no longer counts.
 */
import { onForget } from '../isolate/recent.ts';

/**
 * Time without a read after which a body no longer counts: longer than one may pause by default.
 */
const LIFE_MS = 60_000;

/** The maximum number of bodies that a client, or all networks around it, may send at once. */
interface Allowance {
  readonly key: string;
  readonly most: number;
}

export class OpenBodies {
  /** The time at which each was read last, in milliseconds since 1970. */
  readonly #open = new Map<string, Map<Request, number>>();
  readonly #keys = new WeakMap<Request, readonly string[]>();

  constructor() {
    onForget(() => this.#open.clear());
  }

  /**
   * Counts a body.
   * @returns false if too many are open.
   */
  begin(request: Request, allowances: readonly Allowance[], now: number): boolean {
    if (allowances.some(({ key, most }) => this.#countOf(key, now) >= most)) return false;
    const keys = allowances.map(({ key }) => key);
    this.#keys.set(request, keys);
    for (const key of keys) this.#open.set(key, (this.#open.get(key) ?? new Map()).set(request, now));
    return true;
  }

  /** Notes that a part of the body has arrived. */
  read(request: Request, now: number): void {
    for (const key of this.#keys.get(request) ?? []) {
      const open = this.#open.get(key);
      if (open?.has(request)) open.set(request, now);
    }
  }

  /**
   * Ends counting, when the body has arrived or is no longer read. It may be called more than once.
   */
  end(request: Request): void {
    for (const key of this.#keys.get(request) ?? []) {
      const open = this.#open.get(key);
      open?.delete(request);
      if (open?.size === 0) this.#open.delete(key);
    }
  }

  /** Counts the open bodies of one client, in time linear in their number. */
  #countOf(key: string, now: number): number {
    const open = this.#open.get(key) ?? new Map<Request, number>();
    for (const [request, at] of open) if (Math.abs(now - at) >= LIFE_MS) this.end(request);
    return open.size;
  }
}

export const openBodies = new OpenBodies();
