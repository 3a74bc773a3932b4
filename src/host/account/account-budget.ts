/**
 * What a code host still lets the bot account ask of its REST interface, and when pages wait, which come last. Who of those
 * that write waits: durable/host-account/host-account.ts. Pure. A write is a push, a comment or an issue.
 */
/** Reads stop when so much is left, so that whoever writes can go on. */
const WRITERS_PART = 1 / 3;
/** Calls of the host's REST interface that a push needs; a comment needs fewer. */
export const CALLS_PER_WRITE = 10;
/** No host counts calls over a longer time. */
export const LONGEST_RESET_MS = 60 * 60_000;
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

/** How long what only reads has to wait, in milliseconds; 0: not at all. */
export function readsWaitMs(calls: KnownCalls | null, now: number): number {
  const left = callsLeft(calls, 0, now);
  if (calls === null || left === null || left >= calls.limit * WRITERS_PART) return 0;
  return resetMs(calls, now) ?? 0;
}

/** How many calls are left, as the host said and without what has begun since; null if it is not known. */
export function callsLeft(calls: KnownCalls | null, begun: number, now: number): number | null {
  if (calls === null || resetMs(calls, now) === null) return null;
  return Math.max(0, calls.left - begun * CALLS_PER_WRITE);
}

/** Within one period the calls only become fewer. An answer that says otherwise has come late. */
export function latestCalls(known: KnownCalls | null, said: KnownCalls): KnownCalls {
  if (known === null || resetMs(known, said.at) === null) return said;
  const isSamePeriod = Math.abs(known.at + known.resetsInMs - said.at - said.resetsInMs) < SAME_PERIOD_MS;
  return isSamePeriod && said.left > known.left ? known : said;
}

/** Until the host starts counting again; null: it does already, or a clock has jumped. */
export function resetMs({ at, resetsInMs }: KnownCalls, now: number): number | null {
  const leftMs = at + resetsInMs - now;
  return leftMs > 0 && leftMs <= LONGEST_RESET_MS ? leftMs : null;
}
