/**
 * Who waits first when little is left of what all share: the account, its openings, a repository,
 * its comments, a thread, the host's calls. Each row is a rule, with an example in a limit of 100:
 * `b/x 20` means that network b has had 20 in repository x. A new network has had nothing there; a
 * member is a pseudonym, not flagged, whose first comment on the thread is over an hour old; ten of
 * its comments an hour count as a member's. The same table stands in docs/operations.md.
 *
 * | Rule                                           | Used                  | Goes on    | Waits |
 * | ---------------------------------------------- | --------------------- | ---------- | ----- |
 * | Until two thirds are used, nobody waits.       | a 66                  | a          |       |
 * | Then a network waits that has had its part.    | a 41, b 29            | b          | a     |
 * | A network that is alone goes on.               | a 89                  | a          |       |
 * | The last tenth is kept.                        | a 90                  |            | a     |
 * | A repository's last tenth is for new networks. | repository: a 99      | b          | a     |
 * | Elsewhere, a third of the last tenth is.       | thread: a 92          | b          | a     |
 * | Members may use the whole tenth, a tenth each. | thread: a 99          | member b   | b     |
 * | The account: a repository waits after a fifth. | account: a 47, b/x 20 | c/y        | c/x   |
 * | Members go on there.                           | account: a 47, b/x 20 | member c/x | c/x   |
 *
 * In the last rows, b has used x's fifth, so c waits in x, too. A network's part is what the table
 * leaves open to it (here 90), divided by the networks that have used the limit and one more, for
 * whoever comes next. What was used in a repository that waits makes no other part smaller. Nobody
 * waits any longer once the last third is free again.
 *
 * Nobody can tell a thousand networks of one person from a thousand people: against them, only the
 * limits themselves, the repository's fifth and the tenth hold. Figures are in docs/operations.md.
 * Pure.
 * Proved by test/limits/fairness.test.ts and test/local/fairness-table.test.ts.
 */
import { isWithin } from '../isolate/clock.ts';
import { type Limit, longestOf, longestWait, NO_WAIT, type Wait, waitOf } from './sliding-window.ts';

/** The part of a limit that is used before anybody waits. */
const FREE_PART = 2 / 3;
const REPOSITORY_PART = 1 / 5;
const KEPT_PART = 1 / 10;

/** Something that was created, or is about to be. */
export interface Use {
  /** Milliseconds since 1970. */
  readonly at: number;
  /**
   * Names who creates it: the keyed hash of a network (an IPv4 address, or all of an IPv6 /48), or
   * a name that a delayed push has.
   */
  readonly by: string;
  /** A keyed hash of the repository; null: for none. */
  readonly repository: string | null;
}

export interface Claimant extends Omit<Use, 'at'> {
  /** Earlier names of the network, under which it may have used the limit. */
  readonly byEarlier?: readonly string[];
  /** True for a member, as the table of this file means it. */
  readonly takesPart: boolean;
}

/**
 * `openings`: those of the account, of which `LIMIT_TARGET` leaves others a part; `repository`:
 * what is opened there; `comments`: those on all its threads; `calls`: writes, by the host's calls.
 */
export const SHARED = ['account', 'openings', 'repository', 'comments', 'thread', 'calls'] as const;
export type SharedWindow = (typeof SHARED)[number];

export function isShared(window: string): window is SharedWindow {
  return SHARED.some((kind) => kind === window);
}

/** A limit of a window, as a claimant finds it. */
interface Shared {
  readonly window: SharedWindow;
  readonly claimant: Claimant;
  readonly most: number;
  /** The uses that count in it now, oldest first. */
  readonly used: readonly Use[];
  readonly isOwn: (use: Use) => boolean;
  /** The wait until fewer than `most` of these uses count. */
  readonly until: (uses: readonly Use[], most: number) => Wait;
}

const RULES: readonly ((shared: Shared) => Wait)[] = [keptTenth, networkPart, repositoryFifth];

/** Returns the number of uses from which somebody may wait. With fewer, the last third is free. */
export function waitsFrom(most: number): number {
  return Math.ceil(most * FREE_PART);
}

/**
 * Decides how long the claimant waits; `NO_WAIT`: not at all.
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
  const { by, byEarlier = [] } = claimant;
  const isOwn = (use: Use): boolean => use.by === by || byEarlier.includes(use.by);
  const waits = limits.flatMap(({ most, withinMs }) => {
    const used = uses.filter(({ at }) => isWithin(at, withinMs, now));
    if (used.length < waitsFrom(most)) return [];
    const until = (of: readonly Use[], fewer: number): Wait => {
      const hits = of.map(({ at }) => at);
      return waitOf(hits, [{ most: fewer, withinMs }], now);
    };
    return RULES.map((rule) => rule({ window, claimant, most, used, isOwn, until }));
  });
  const { waitMs, withinMs } = longestWait(waits);
  if (waitMs === 0) return NO_WAIT;
  // By then, a repository may have lost its fifth: its networks count again, which makes the parts
  // smaller.
  const more = fairWait(window, uses, limits, claimant, now + waitMs);
  const both = Math.min(waitMs + more.waitMs, longestOf(limits));
  return { waitMs: both, withinMs: Math.max(withinMs, more.withinMs) };
}

function keptTenth(shared: Shared): Wait {
  return shared.until(shared.used, openTo(shared));
}

/** The number of uses below which the claimant goes on. */
function openTo({ window, claimant, most, used, isOwn }: Shared): number {
  const kept = Math.floor(most * KEPT_PART);
  const had = used.filter(isOwn).length;
  if (claimant.takesPart && had < kept) return most;
  const forNew = window === 'repository' ? kept : Math.floor(kept / 3);
  return most - kept + (had === 0 ? forNew : 0);
}

function networkPart(shared: Shared): Wait {
  const { claimant, used, isOwn } = shared;
  const waiting = repositoriesWithFifth(shared);
  const counted = used.filter((use) => isOwn(use) || !waiting.has(use.repository));
  if (counted.every(isOwn)) return NO_WAIT;
  const networks = new Set(counted.map((use) => (isOwn(use) ? claimant.by : use.by)));
  return untilPart(shared, used.filter(isOwn), openTo(shared) / (networks.size + 1));
}

function repositoryFifth(shared: Shared): Wait {
  const { repository, takesPart } = shared.claimant;
  if (takesPart || !repositoriesWithFifth(shared).has(repository)) return NO_WAIT;
  const its = shared.used.filter((use) => use.repository === repository);
  return untilPart(shared, its, shared.most * REPOSITORY_PART);
}

/** The repositories that have had their fifth of the account. */
function repositoriesWithFifth({ window, most, used }: Shared): ReadonlySet<string | null> {
  const fifth = Math.max(1, Math.floor(most * REPOSITORY_PART));
  const inAccount = window === 'account' ? used.filter(({ repository }) => repository !== null) : [];
  const shares = Map.groupBy(inAccount, ({ repository }) => repository);
  return new Set([...shares].filter(([, uses]) => uses.length >= fifth).map(([repository]) => repository));
}

/** Lets whoever has had a part wait until less of it counts, or the last third is free. */
function untilPart({ used, most, until }: Shared, uses: readonly Use[], part: number): Wait {
  const free = until(used, waitsFrom(most));
  const over = until(uses, Math.max(1, Math.floor(part)));
  return over.waitMs < free.waitMs ? over : free;
}
