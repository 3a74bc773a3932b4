/**
 * Who may still write, while a code host limits the bot account: the less is left, the sooner those who have written
 * most are refused.
 *
 * The rule is that of dynamic thresholds in shared buffers (Choudhury and Hahne, 1998): a client may write as long as
 * more is left than it has had itself. It needs no list of the greediest. A client that has written more is refused
 * earlier, and one that has written nothing is served to the end. The rule applies to the last fifth only: before that,
 * nobody is refused.
 *
 * Pure. A write is a push, a comment or an issue.
 */
import { hit, isWithin, type Limit } from '../../limits/sliding-window.ts';

/** What is left when the rule begins to apply. */
const SHARED_PART = 0.2;
/** Calls of the host's REST interface that a push needs; a comment needs fewer. */
export const CALLS_PER_WRITE = 10;
/** No host counts calls over a longer time. */
const LONGEST_RESET_MS = 60 * 60_000;
/** Hosts say the end of a period in whole seconds, and answers take their time. */
const SAME_PERIOD_MS = 60_000;

/** What the host has said of the account's calls. */
export interface CallsLeft {
  readonly limit: number;
  readonly left: number;
  /** Until the host starts counting again, in milliseconds. */
  readonly resetsInMs: number;
}

export interface KnownCalls extends CallsLeft {
  /** When it was said; milliseconds since 1970. */
  readonly at: number;
}

export interface AccountUse {
  /** When something was created, or is about to be; oldest first, milliseconds since 1970. */
  readonly createdAt: readonly number[];
  /** What may be created. */
  readonly limits: readonly Limit[];
  /** Null: the host has said nothing. */
  readonly calls: KnownCalls | null;
  /** How many writes have begun since then. */
  readonly begun: number;
}

/** How long a client must wait to create something that has written `had` times in the last hour; 0: not at all. */
export function creationWaitMs({ createdAt, limits }: AccountUse, had: number, now: number): number {
  const itsLimits = limits.map(({ most, withinMs }) => ({ most: most - kept(most, had), withinMs }));
  return hit({ hits: createdAt, refused: 0 }, itsLimits, now).hit.waitMs;
}

/** The same, as far as it depends on the host's calls. Whoever writes needs some. */
export function callsWaitMs(use: AccountUse, had: number, now: number): number {
  const left = callsLeft(use, now);
  if (use.calls === null || left === null) return 0;
  const isEnough = left >= CALLS_PER_WRITE + kept(use.calls.limit, had * CALLS_PER_WRITE);
  return isEnough ? 0 : (resetMs(use.calls, now) ?? 0);
}

/** How much may still be created, by limit. */
export function creationsLeft({ createdAt, limits }: AccountUse, now: number): readonly number[] {
  return limits.map(({ most, withinMs }) =>
    Math.max(0, most - createdAt.filter((at) => isWithin(at, withinMs, now)).length),
  );
}

/** How many calls are left, as the host said and without what has begun since; null if it is not known. */
export function callsLeft({ calls, begun }: AccountUse, now: number): number | null {
  if (calls === null || resetMs(calls, now) === null) return null;
  return Math.max(0, calls.left - begun * CALLS_PER_WRITE);
}

/** Within one period the calls only become fewer. An answer that says otherwise has come late. */
export function latestCalls(known: KnownCalls | null, said: KnownCalls): KnownCalls {
  if (known === null || resetMs(known, said.at) === null) return said;
  const isSamePeriod = Math.abs(known.at + known.resetsInMs - said.at - said.resetsInMs) < SAME_PERIOD_MS;
  return isSamePeriod && said.left > known.left ? known : said;
}

/** What is kept for others. Something is always left for whoever has had nothing. */
function kept(most: number, had: number): number {
  return Math.min(had, Math.floor(most * SHARED_PART));
}

/** Until the host starts counting again; null: it does already, or a clock has jumped. */
function resetMs({ at, resetsInMs }: KnownCalls, now: number): number | null {
  const leftMs = at + resetsInMs - now;
  return leftMs > 0 && leftMs <= LONGEST_RESET_MS ? leftMs : null;
}
