/**
 * Everything that was created lately in the account's name, or is about to be. Each grant is one
 * row, which names the windows that it counts in, so it counts in all of them or in none, and is
 * released by forgetting one row. A row counts until the longest of its windows is over, whether or
 * not whoever has reserved it is still alive. Pure.
 */
import { isWithin } from '../isolate/clock.ts';
import { type Claimant, fairWait, isShared, type Use, waitsFrom } from './fairness.ts';
import { lifeOf, NO_WAIT, type Wait, waitOf } from './sliding-window.ts';
import type { AccountDenied, Reserved, ClaimedWindow, Claim } from './claim.ts';
import { isOfOneNetwork, windowName, windowNames, writeClaim } from './claim.ts';

/** Beyond this number the oldest is forgotten, so a crowd can only make a limit milder. */
const MOST_ROWS = 20_000;
const ALERT_PAUSE_MS = 60 * 60_000;

export interface Creation extends Use {
  /** The time in milliseconds for which it counts in each window, by the window's name. */
  readonly windows: Readonly<Record<string, number>>;
  /** The key of the push. */
  readonly push: string | null;
}

export class Creations {
  /** By id, oldest first. */
  readonly rows: Map<string, Creation>;
  /** The rows of each window, and of each push, oldest first. */
  readonly #named = new Map<string, Creation[]>();
  /** Counts the pull requests that a network's window has denied since it last opened one. */
  readonly #refused = new Map<string, number>();

  constructor(rows: Iterable<readonly [string, Creation]> = []) {
    this.rows = new Map([...rows].toSorted(([, a], [, b]) => a.at - b.at));
    for (const row of this.rows.values()) this.#index(row);
  }

  /** Tells why `reserve` must not be called; null: it may. Counts nothing. */
  denial(claim: Claim, now: number): AccountDenied | null {
    for (const window of this.#needed(claim, now)) {
      const wait = this.#wait(window, claim, now);
      if (wait.waitMs === 0) continue;
      const uses = this.uses(windowNames(window), now);
      const full = { ...holdersOf(window, uses), attempts: uses.length, isAlertDue: false };
      return { kind: 'denied', window: window.kind, full: isOfOneNetwork(window) ? full : null, ...wait };
    }
    return null;
  }

  /** Reserves the windows in which `denial` has found room. */
  reserve(id: string, claim: Claim, now: number): Reserved {
    const needed = this.#needed(claim, now);
    if (needed.length === 0) return { id: null, windows: [], full: [] };
    const lives = needed.map((window) => {
      const life = Math.max(...window.limits.map((limit) => lifeOf(limit, now)));
      return [windowName(window), life] as const;
    });
    const { by, repository, push } = claim;
    const row = { at: now, by, repository, windows: Object.fromEntries(lives), push: push?.key ?? null };
    this.rows.set(id, row);
    this.#index(row);
    for (const [name] of lives) this.#refused.delete(name);
    const full = needed.filter(isOfOneNetwork).flatMap((window) => {
      const wait = this.#wait(window, claim, now);
      return wait.waitMs === 0
        ? []
        : [{ ...holdersOf(window, this.uses(windowNames(window), now)), ...wait }];
    });
    return { id, windows: lives.map(([name]) => name), full };
  }

  /** Forgets a row, because nothing was created. @returns false if there is none. */
  release(id: string): boolean {
    const row = this.rows.get(id);
    if (row === undefined) return false;
    for (const name of namesOf(row)) {
      const rows = this.#under(name);
      rows.splice(rows.lastIndexOf(row), 1);
      if (rows.length === 0) this.#named.delete(name);
    }
    return this.rows.delete(id);
  }

  /** Counts a pull request that the window of its network has denied. @returns their number. */
  countRefused(name: string): number {
    const refused = 1 + (this.#refused.get(name) ?? 0);
    this.#refused.set(name, refused);
    return refused;
  }

  /**
   * The rows that count in a window, oldest first.
   * @param names newest first.
   */
  uses(names: readonly string[], now: number): readonly Creation[] {
    return names.toReversed().flatMap((name) => this.#usesUnder(name, now));
  }

  #usesUnder(name: string, now: number): readonly Creation[] {
    return this.#under(name).filter(({ at, windows }) => isWithin(at, windows[name] ?? 0, now));
  }

  #under(name: string): Creation[] {
    return this.#named.get(name) ?? [];
  }

  /**
   * Forgets the rows that do not count any more. It looks at all rows, so the object does it once
   * an hour.
   */
  forgetOld(now: number): void {
    for (const [id, { at, windows }] of this.rows)
      if (!isWithin(at, Math.max(...Object.values(windows)), now)) this.release(id);
    for (const name of this.#refused.keys()) if (!this.#named.has(name)) this.#refused.delete(name);
  }

  /** Forgets the oldest row if there are too many. @returns its id; null: there are not. */
  forgetSurplus(): string | null {
    const [oldest = null] = this.rows.size > MOST_ROWS ? this.rows.keys() : [];
    if (oldest !== null) this.release(oldest);
    return oldest;
  }

  /** The windows in which no earlier attempt at the same push counts. */
  #needed({ windows, push }: Claim, now: number): readonly ClaimedWindow[] {
    if (push === null || push.isAnother) return windows;
    const keys = [push.key, ...(push.earlier ?? [])];
    const earlier = keys.flatMap((key) => this.#under(pushName(key)));
    const counts = (name: string): boolean =>
      earlier.some((row) => isWithin(row.at, row.windows[name] ?? 0, now));
    return windows.filter((window) => !windowNames(window).some(counts));
  }

  #wait(window: ClaimedWindow, claimant: Claimant, now: number): Wait {
    const { kind, limits } = window;
    if (isShared(kind) && this.#isPlentyLeft(window, now)) return NO_WAIT;
    const uses = this.uses(windowNames(window), now);
    if (isShared(kind)) return fairWait(kind, uses, limits, claimant, now);
    const hits = uses.map(({ at }) => at);
    return waitOf(hits, limits, now);
  }

  /**
   * Tells that nobody waits for what all share, by one row of each limit: there may be thousands.
   * What all share never had another name.
   */
  #isPlentyLeft(window: ClaimedWindow, now: number): boolean {
    const rows = this.#under(windowName(window));
    return window.limits.every(({ most, withinMs }) => {
      const last = rows.at(-waitsFrom(most));
      return last === undefined || last.at <= now - withinMs;
    });
  }

  #index(row: Creation): void {
    for (const name of namesOf(row)) {
      const rows = this.#under(name);
      let place = rows.length;
      // Only after a clock was set back are there later ones.
      while (place > 0 && rows[place - 1]!.at > row.at) place--;
      rows.splice(place, 0, row);
      this.#named.set(name, rows);
    }
  }
}

function holdersOf(window: ClaimedWindow, uses: readonly Creation[]) {
  return { name: windowName(window), holders: uses.flatMap(({ push }) => push ?? []) };
}

function namesOf({ windows, push }: Creation): readonly string[] {
  return [...Object.keys(windows), ...(push === null ? [] : [pushName(push)])];
}

/** Names a push among the windows, none of which begins like this. */
const pushName = (key: string): string => `push ${key}`;

/**
 * The claim by which the operator hears once an hour of a network that has no room.
 * @param name of its window.
 */
export function alertClaim(name: string): Claim {
  return writeClaim('', [{ kind: 'alert', key: name, limits: [{ most: 1, withinMs: ALERT_PAUSE_MS }] }]);
}
