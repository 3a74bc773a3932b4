/**
 * Who waits first when little is left of what all share: the account, a repository, a thread, the
 * host's calls. One rule for each, in its last third: if several networks have used it, each waits
 * that has had its part, and one part more is there for whoever comes next. A network alone has no
 * part to keep to. In the account's window, a repository that has had a fifth waits, too, so that a
 * flood of one project leaves the rest to others. The last tenth is kept, also from a network that
 * is alone: in a repository, for networks that have opened nothing there; elsewhere a third of it
 * for networks that have had nothing, and all for people who took part in the thread before, until
 * they had as much. Pure. Nobody can tell a thousand networks of one person from a thousand people:
 * against them, only the limits themselves, the repository's fifth and the tenth hold
 * (docs/operations.md has figures).
 */
import { isWithin } from '../isolate/clock.ts';
import { type Limit, longestOf, longestWait, NO_WAIT, type Wait, waitOf } from './sliding-window.ts';

/** How much of a window is used when the rule begins to apply. */
const FREE_PART = 2 / 3;
const REPOSITORY_PART = 1 / 5;
const KEPT_PART = 1 / 10;

/** Something that was created, or is about to be. */
export interface Use {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** A keyed hash of the network: an IPv4 address, or all of an IPv6 /48. */
  readonly by: string;
  /** A keyed hash of the repository; null: for none. */
  readonly repository: string | null;
}

export interface Claimant extends Omit<Use, 'at'> {
  /** Under which names the network may have used it before. */
  readonly byEarlier?: readonly string[];
  /** They have commented on the thread before. */
  readonly takesPart: boolean;
}

/**
 * `openings`: those of the account, of which `LIMIT_TARGET` leaves others a part; `repository`:
 * what is opened there; `comments`: those on all its threads; `calls`: writes, by the host's calls.
 */
const SHARED = ['account', 'openings', 'repository', 'comments', 'thread', 'calls'] as const;
export type SharedWindow = (typeof SHARED)[number];

export function isShared(window: string): window is SharedWindow {
  return SHARED.some((kind) => kind === window);
}

/**
 * How long the claimant waits; `NO_WAIT`: not at all.
 * @param uses oldest first.
 * @param limits of the window; all hold.
 */
export function fairWait(
  window: SharedWindow,
  uses: readonly Use[],
  limits: readonly Limit[],
  claimant: Claimant,
  now: number,
): Wait {
  const { by, byEarlier = [], repository, takesPart } = claimant;
  const isOwn = (use: Use): boolean => use.by === by || byEarlier.includes(use.by);
  const waits = limits.map(({ most, withinMs }) => {
    const used = uses.filter(({ at }) => isWithin(at, withinMs, now));
    const own = used.filter(isOwn);
    const wait = (of: readonly Use[], part: number): Wait => {
      const hits = of.map(({ at }) => at);
      return waitOf(hits, [{ most: part, withinMs }], now);
    };
    const kept = Math.floor(most * KEPT_PART);
    const forNew = window === 'repository' ? kept : Math.floor(kept / 3);
    const open = most - kept + (takesPart && own.length < kept ? kept : own.length === 0 ? forNew : 0);
    const free = wait(used, Math.ceil(most * FREE_PART));
    /** Whoever has had more than a part waits until that is over, or the last third is. */
    const partly = (of: readonly Use[], part: number): Wait => {
      const its = wait(of, Math.max(1, Math.floor(part)));
      return its.waitMs < free.waitMs ? its : free;
    };
    const fifth = Math.max(1, Math.floor(most * REPOSITORY_PART));
    /** By repository, in the account's window. */
    const shares = Map.groupBy(window === 'account' ? used : [], (use) => use.repository);
    const hasFifth = (of: string | null): boolean => of !== null && (shares.get(of)?.length ?? 0) >= fifth;
    // Whoever floods a repository that waits does not make the part of the others smaller.
    const claims = used.filter((use) => isOwn(use) || !hasFifth(use.repository));
    const part = open / (new Set(claims.map((use) => (isOwn(use) ? by : use.by))).size + 1);
    return longestWait([
      wait(used, open),
      claims.length === own.length ? NO_WAIT : partly(own, part),
      takesPart || !hasFifth(repository) ? NO_WAIT : partly(shares.get(repository) ?? [], fifth),
    ]);
  });
  const { waitMs, withinMs } = longestWait(waits);
  if (waitMs === 0) return NO_WAIT;
  // By then, a repository may have lost its fifth: its networks count again, which makes the parts
  // smaller.
  const more = fairWait(window, uses, limits, claimant, now + waitMs);
  const both = Math.min(waitMs + more.waitMs, longestOf(limits));
  return { waitMs: both, withinMs: Math.max(withinMs, more.withinMs) };
}
