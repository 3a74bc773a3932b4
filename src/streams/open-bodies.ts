/**
 * The bodies of requests that still arrive, by client: each holds a connection and its buffers, and
 * costs its sender nothing. A request whose client is gone may end without a word, so one of which
 * nothing has been read for a while counts no more.
 */
import { onForget } from '../isolate/recent.ts';

/** Longer than a body may pause by default. */
const LIFE_MS = 60_000;

/** How many a client, or all networks around it, may send at once. */
interface Allowance {
  readonly key: string;
  readonly most: number;
}

export class OpenBodies {
  /** When something of each was read last, in milliseconds since 1970. */
  readonly #open = new Map<string, Map<Request, number>>();
  readonly #keys = new WeakMap<Request, readonly string[]>();

  constructor() {
    onForget(() => this.#open.clear());
  }

  /** False: too many are open. */
  begin(request: Request, allowances: readonly Allowance[], now: number): boolean {
    if (allowances.some(({ key, most }) => this.#countOf(key, now) >= most)) return false;
    const keys = allowances.map(({ key }) => key);
    this.#keys.set(request, keys);
    for (const key of keys) this.#open.set(key, (this.#open.get(key) ?? new Map()).set(request, now));
    return true;
  }

  /** Something of it has arrived. */
  read(request: Request, now: number): void {
    for (const key of this.#keys.get(request) ?? []) {
      const open = this.#open.get(key);
      if (open?.has(request)) open.set(request, now);
    }
  }

  /** It has arrived, or is not read any more. May be called more than once. */
  end(request: Request): void {
    for (const key of this.#keys.get(request) ?? []) {
      const open = this.#open.get(key);
      open?.delete(request);
      if (open?.size === 0) this.#open.delete(key);
    }
  }

  /** Cost: linear in those of one client. */
  #countOf(key: string, now: number): number {
    const open = this.#open.get(key) ?? new Map<Request, number>();
    for (const [request, at] of open) if (Math.abs(now - at) >= LIFE_MS) this.end(request);
    return open.size;
  }
}

export const openBodies = new OpenBodies();
