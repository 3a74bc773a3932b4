/**
 * Estimates how many calls of the REST interface a host still allows the account, and how long
 * reads must wait. For writes, `durable/host-account` decides.
 */
import { type Clock, isAhead, isWithin } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { type HostAnswer, hostTime, type Operation } from '../failure.ts';

/** Share of the calls that is left to writes, when reads stop. */
const WRITERS_PART = 1 / 3;
/** Number of calls that a push needs. A comment needs fewer. */
export const CALLS_PER_WRITE = 10;
/** Maximum period over which a host counts calls. */
export const LONGEST_RESET_MS = 60 * 60_000;
/**
 * Tolerance for the end of a period. Hosts give it in whole seconds, and answers take their time.
 */
const SAME_PERIOD_MS = 60_000;

/** The state of the account's calls, as the host has said. */
export interface CallsLeft {
  readonly limit: number;
  readonly left: number;
  /** The time until the host starts counting again, in milliseconds. */
  readonly resetsInMs: number;
}

export interface KnownCalls extends CallsLeft {
  /** The time of the answer, in milliseconds since 1970. */
  readonly at: number;
}

/** Returns how long reads have to wait. 0 means not at all. */
export function readsWaitMs(calls: KnownCalls | null, now: number): number {
  const left = callsLeft(calls, 0, now);
  if (calls === null || left === null || left >= calls.limit * WRITERS_PART) return 0;
  return resetMs(calls, now) ?? 0;
}

/**
 * Estimates how many calls are left: what the host has said, without the calls of writes that have
 * begun since.
 * @returns null if that is not known.
 */
export function callsLeft(calls: KnownCalls | null, begun: number, now: number): number | null {
  if (calls === null || resetMs(calls, now) === null) return null;
  return Math.max(0, calls.left - begun * CALLS_PER_WRITE);
}

/**
 * Chooses the later of two answers. Within one period, calls only become fewer, so one that says
 * otherwise has come late.
 */
export function latestCalls(known: KnownCalls | null, said: KnownCalls): KnownCalls {
  if (known === null || resetMs(known, said.at) === null) return said;
  const isSamePeriod = Math.abs(known.at + known.resetsInMs - said.at - said.resetsInMs) < SAME_PERIOD_MS;
  return isSamePeriod && said.left > known.left ? known : said;
}

/**
 * Returns the time until the host starts counting again, or null if it did, or a clock has jumped.
 */
export function resetMs({ at, resetsInMs }: KnownCalls, now: number): number | null {
  const resetsAt = at + resetsInMs;
  return isAhead(resetsAt, LONGEST_RESET_MS, now) ? resetsAt - now : null;
}

const MINUTE_MS = 60_000;
/**
 * GitHub's points a minute, which count besides the calls:
 * docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api, "About secondary rate
 * limits" (900 a minute) and "Calculating points" (a read costs one, any other call five).
 */
const POINTS_A_MINUTE = 900;
/**
 * Shares of the points that reads, and calls that create something, may use. The rest is for what
 * never waits, such as a rollback.
 */
const READERS_PART = 2 / 3;
const CREATORS_PART = 8 / 9;

/** The points of recent calls, with at most one entry a second. */
export type Points = readonly { readonly at: number; readonly points: number }[];

function pointsOf(operation: Operation): number {
  return operation === 'read' ? 1 : 5;
}

/**
 * Adds points to those of the last minute.
 * @param now is in milliseconds since 1970.
 */
export function spend(spent: Points, points: number, now: number): Points {
  const recent = spent.filter(({ at }) => isWithin(at, MINUTE_MS, now));
  const last = recent.at(-1);
  if (last === undefined || Math.abs(now - last.at) >= 1_000) return [...recent, { at: now, points }];
  return [...recent.slice(0, -1), { at: last.at, points: last.points + points }];
}

/** Returns how long the account must wait for points, to create something or only to read. */
export function pointsWaitMs(spent: Points, onlyReads: boolean, now: number): number {
  const recent = spent.filter(({ at }) => isWithin(at, MINUTE_MS, now));
  let left = POINTS_A_MINUTE * (onlyReads ? READERS_PART : CREATORS_PART);
  const full = recent.findLast(({ points }) => (left -= points) <= 0);
  return full === undefined ? 0 : Math.min(MINUTE_MS, full.at + MINUTE_MS - now);
}

const TELLING_PAUSE_MS = 10_000;
/** Share of the calls below which reports come more often. */
const SCARCE_PART = 0.3;
const SCARCE_PAUSE_MS = 1_000;

/**
 * The last answer that this isolate has seen, and the time of its last report in milliseconds since
 * 1970, by account.
 */
const heard = new Recent<KnownCalls>({ most: 100 });
const toldAt = new Recent<number>({ most: 100 });
/** The points of this isolate's calls, and those of them that were not reported yet, by account. */
const spentBy = new Recent<Points>({ most: 100 });
const untold = new Recent<Points>({ most: 100 });

export interface CallMeter {
  /** Counts a call. Call it with each answer to a call that used the token. */
  observe(answer: Pick<HostAnswer, 'header'>, operation: Operation): void;
}

/**
 * Reports now and then what answers say, and the points since the last report.
 * @param account is its name, which is no secret.
 * @param hasPoints says if the host counts points.
 * @param tell must not throw.
 */
export function callMeter(
  account: string,
  clock: Clock,
  hasPoints: boolean,
  tell: (calls: CallsLeft, points: number) => void,
): CallMeter {
  return {
    observe(answer, operation) {
      const now = clock.now();
      const points = hasPoints ? pointsOf(operation) : 0;
      for (const all of hasPoints ? [spentBy, untold] : [])
        all.set(account, spend(all.get(account) ?? [], points, now));
      const calls = callsLeftSaidBy(answer, now);
      if (calls === null) return;
      heard.set(account, latestCalls(heard.get(account), { ...calls, at: now }));
      const pauseMs = calls.left < calls.limit * SCARCE_PART ? SCARCE_PAUSE_MS : TELLING_PAUSE_MS;
      if (isWithin(toldAt.get(account) ?? -Infinity, pauseMs, now)) return;
      toldAt.set(account, now);
      tell(
        calls,
        (untold.get(account) ?? []).reduce((sum, one) => sum + one.points, 0),
      );
      untold.delete(account);
    },
  };
}

/**
 * Returns how long pages and badges must not ask the host, as far as this isolate knows. 0 means
 * that they may.
 */
export function readsPauseMs(account: string, now: number): number {
  const waitMs = pointsWaitMs(spentBy.get(account) ?? [], true, now);
  return Math.max(waitMs, readsWaitMs(heard.get(account), now));
}

/**
 * Reads the state of the account's usual budget from an answer. Searches have a budget of their
 * own.
 * @returns null if it says nothing.
 */
export function callsLeftSaidBy({ header }: Pick<HostAnswer, 'header'>, now: number): CallsLeft | null {
  const said = ['limit', 'remaining', 'reset'].map((name) => header(`x-ratelimit-${name}`) ?? '');
  const isUsual = (header('x-ratelimit-resource') ?? 'core') === 'core';
  if (!isUsual || !said.every((text) => /^\d{1,12}$/.test(text))) return null;
  const [limit, left, resetsAt] = said.map(Number) as [number, number, number];
  return { limit, left, resetsInMs: resetsAt * 1_000 - hostTime(header, now) };
}
