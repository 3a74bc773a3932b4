/**
 * Everything that was created lately in the account's name, or is about to be: one row for each. A row names the windows
 * that it counts in, and a window is the rows that name it. So something counts in all of its windows or in none, and is
 * released in all of them by forgetting one row.
 *
 * Pure. A row counts until the longest of its windows is over, whether or not whoever has reserved it is still alive.
 */
import { isWithin } from '../isolate/clock.ts';
import { type Asker, fairWait, type Use } from './fairness.ts';
import { type Limit, longestOf, type Wait, waitOf, longestWait } from './sliding-window.ts';

/** With more of them, the oldest is forgotten: a crowd can only make a limit milder. */
const MOST_ROWS = 20_000;
/** One alert for a network within this time. */
const ALERT_PAUSE_MS = 60 * 60_000;

/** `address` and `prefix`: pull requests of one network; `prefix` is an IPv6 /48. `forks`: of one network, too. */
export type WindowKind = 'address' | 'prefix' | 'forks' | 'repository' | 'thread' | 'account';

export interface WantedWindow {
  readonly kind: WindowKind;
  /** A keyed hash; empty for the account. */
  readonly key: string;
  readonly limits: readonly Limit[];
}

/** What something that is to be created counts in. */
export interface Wants extends Asker {
  /** The first that has no room refuses. Empty: nothing is created. */
  readonly windows: readonly WantedWindow[];
  /** Of a pull request: the same push again counts only where it does not count yet. */
  readonly push: {
    /** A keyed hash. */
    readonly key: string;
    /** It was answered before and opens another pull request: it counts once more. */
    readonly isAnother: boolean;
  } | null;
}

export interface Creation extends Use {
  /** How long it counts. */
  readonly forMs: number;
  /** Names. */
  readonly windows: readonly string[];
  /** The key of the push. */
  readonly push: string | null;
}

/** Why nothing was reserved. */
export interface CreationWait extends Wait {
  readonly kind: WindowKind;
  /** Of the window that has no room. */
  readonly key: string;
  /** The pushes that count there. */
  readonly holders: readonly string[];
}

/** A window of one network that has no room left now. */
export interface FullWindow extends Wait {
  readonly name: string;
  readonly holders: readonly string[];
}

export interface Reserved {
  /** Null: an earlier attempt at the same push counts in all windows. */
  readonly id: string | null;
  /** The names of those that it counts in by itself. */
  readonly windows: readonly string[];
  readonly full: readonly FullWindow[];
}

/** Why a write has to wait. `calls`: the host allows few requests more. */
export interface AccountWait extends Wait {
  readonly for: WindowKind | 'calls';
  /** Where one network has no room for another pull request. */
  readonly full: FullNetwork | null;
}

export interface FullNetwork {
  /** The name of its window. */
  readonly name: string;
  /** The keys of the pushes that count there. */
  readonly holders: readonly string[];
  /** Those, and the pushes that were refused since; 0: this one was not counted. */
  readonly attempts: number;
  /** True: alert the operator now, and not again for an hour. */
  readonly isAlertDue: boolean;
}

/** `pauseMs`: how long the host is to be left alone; 0: it is not. */
export type ReserveAnswer =
  | ({ readonly kind: 'granted'; readonly pauseMs: number } & Reserved)
  | ({ readonly kind: 'wait'; readonly pauseMs: number } & AccountWait);

export class Creations {
  /** By id, oldest first. */
  readonly #rows: Map<string, Creation>;
  readonly #byWindow = new Map<string, Set<Creation>>();
  /** How many pull requests of a network were refused since it last opened one. */
  readonly #refused = new Map<string, number>();

  constructor(rows: Iterable<readonly [string, Creation]> = []) {
    this.#rows = new Map([...rows].toSorted(([, a], [, b]) => a.at - b.at));
    for (const row of this.#rows.values()) this.#index(row);
  }

  get size(): number {
    return this.#rows.size;
  }

  [Symbol.iterator](): Iterator<readonly [string, Creation]> {
    return this.#rows.entries();
  }

  /** Null: `reserve` has room. Counts nothing. */
  refusal(wants: Wants, now: number): CreationWait | null {
    for (const window of this.#needed(wants, now)) {
      const wait = this.#wait(window, wants, now);
      const { kind, key } = window;
      if (wait.waitMs > 0) return { kind, key, holders: this.#holders(windowName(window), now), ...wait };
    }
    return null;
  }

  /** After `refusal` has found room. */
  reserve(id: string, wants: Wants, now: number): Reserved {
    const needed = this.#needed(wants, now);
    if (needed.length === 0) return { id: null, windows: [], full: [] };
    const windows = needed.map(windowName);
    const forMs = Math.max(...needed.map(({ limits }) => longestOf(limits)));
    const { by, repository, push } = wants;
    const row = { at: now, by, repository, forMs, windows, push: push?.key ?? null };
    this.#rows.set(id, row);
    this.#index(row);
    for (const name of windows) this.#refused.delete(name);
    const full = needed.filter(isOfOneNetwork).flatMap((window) => {
      const wait = this.#wait(window, wants, now);
      const name = windowName(window);
      return wait.waitMs === 0 ? [] : [{ name, holders: this.#holders(name, now), ...wait }];
    });
    return { id, windows, full };
  }

  get(id: string): Creation | undefined {
    return this.#rows.get(id);
  }

  /** Nothing was created. The second time, nothing happens. */
  release(id: string): boolean {
    const row = this.#rows.get(id);
    for (const name of row?.windows ?? []) {
      this.#byWindow.get(name)?.delete(row as Creation);
      if (this.#byWindow.get(name)?.size === 0) this.#byWindow.delete(name);
    }
    return this.#rows.delete(id);
  }

  /** Counts a pull request that its network's window refuses. Answers how many there were with it, for an alert. */
  countRefused(name: string, now: number): number {
    const refused = 1 + (this.#refused.get(name) ?? 0);
    this.#refused.set(name, refused);
    return this.uses(name, now).length + refused;
  }

  /** Whether the operator is to hear of a network now; then `wants` counts that. */
  static alert(window: Pick<WantedWindow, 'kind' | 'key'>): Wants {
    const limits = [{ most: 1, withinMs: ALERT_PAUSE_MS }];
    const alert = { kind: window.kind, key: `${window.key} alert`, limits };
    return { by: '', repository: null, takesPart: false, windows: [alert], push: null };
  }

  /** What counts in a window, oldest first. */
  uses(name: string, now: number): readonly Creation[] {
    return [...(this.#byWindow.get(name) ?? [])].filter(({ at, forMs }) => isWithin(at, forMs, now));
  }

  /** Answers the ids of what does not count any more, or is too much. */
  forgetOld(now: number): readonly string[] {
    for (const name of this.#refused.keys())
      if (this.uses(name, now).length === 0) this.#refused.delete(name);
    const tooMany = this.#rows.size - MOST_ROWS;
    const old = [...this.#rows].filter(
      ([, { at, forMs }], index) => index < tooMany || !isWithin(at, forMs, now),
    );
    for (const [id] of old) this.release(id);
    return old.map(([id]) => id);
  }

  /** The windows in which an earlier attempt at the same push does not count. */
  #needed({ windows, push }: Wants, now: number): readonly WantedWindow[] {
    if (push === null || push.isAnother) return windows;
    return windows.filter((window) => !this.#holders(windowName(window), now).includes(push.key));
  }

  #holders(name: string, now: number): readonly string[] {
    return this.uses(name, now).flatMap(({ push }) => push ?? []);
  }

  #wait(window: WantedWindow, asker: Asker, now: number): Wait {
    const uses = this.uses(windowName(window), now);
    const { kind, limits } = window;
    if (kind === 'account' || kind === 'repository' || kind === 'thread')
      return fairWait(kind, uses, limits, asker, now);
    const hits = uses.map(({ at }) => at);
    return longestWait(limits.map((limit) => waitOf(hits, limit, now)));
  }

  #index(row: Creation): void {
    for (const name of row.windows) {
      const rows = this.#byWindow.get(name) ?? new Set();
      this.#byWindow.set(name, rows.add(row));
    }
  }
}

export function windowName({ kind, key }: Pick<WantedWindow, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}

/** It counts the pull requests of one network; what is refused there may be an attack. */
export function isOfOneNetwork({ kind }: Pick<WantedWindow, 'kind'>): boolean {
  return kind === 'address' || kind === 'prefix';
}
