/**
 * What a host still lets the account ask by REST, and when pages wait. Writers wait in
 * durable/host-account.
 */
import { type Clock, isAhead, isWithin } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { type HostAnswer, hostTime, type Operation } from '../failure.ts';

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

/** How long what only reads has to wait; 0: not at all. */
export function readsWaitMs(calls: KnownCalls | null, now: number): number {
  const left = callsLeft(calls, 0, now);
  if (calls === null || left === null || left >= calls.limit * WRITERS_PART) return 0;
  return resetMs(calls, now) ?? 0;
}

/**
 * How many calls are left, as the host said and without what has begun since; null if it is not
 * known.
 */
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
  const resetsAt = at + resetsInMs;
  return isAhead(resetsAt, LONGEST_RESET_MS, now) ? resetsAt - now : null;
}

const MINUTE_MS = 60_000;
/**
 * GitHub's points, whatever the calls ask for:
 * docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api, "About secondary rate
 * limits" (900 a minute) and "Calculating points" (a read costs one, any other call five).
 */
const POINTS_A_MINUTE = 900;
/**
 * What only reads waits earlier, and the last of them are for what never waits, such as a rollback.
 */
const READERS_PART = 2 / 3;
const CREATORS_PART = 8 / 9;

/** What calls have cost lately: in each second, at most one entry. */
export type Points = readonly { readonly at: number; readonly points: number }[];

export function pointsOf(operation: Operation): number {
  return operation === 'read' ? 1 : 5;
}

/** @param now milliseconds since 1970. */
export function spend(spent: Points, points: number, now: number): Points {
  const recent = spent.filter(({ at }) => isWithin(at, MINUTE_MS, now));
  const last = recent.at(-1);
  if (last === undefined || Math.abs(now - last.at) >= 1_000) return [...recent, { at: now, points }];
  return [...recent.slice(0, -1), { at: last.at, points: last.points + points }];
}

/** How long until the account has points again for what creates something, or only reads. */
export function pointsWaitMs(spent: Points, onlyReads: boolean, now: number): number {
  const recent = spent.filter(({ at }) => isWithin(at, MINUTE_MS, now));
  let left = POINTS_A_MINUTE * (onlyReads ? READERS_PART : CREATORS_PART);
  const full = recent.findLast(({ points }) => (left -= points) <= 0);
  return full === undefined ? 0 : Math.min(MINUTE_MS, full.at + MINUTE_MS - now);
}

const TELLING_PAUSE_MS = 10_000;
/** When little is left, it matters more. */
const SCARCE_PART = 0.3;
const SCARCE_PAUSE_MS = 1_000;

/**
 * What this isolate has heard last, and when it has told last (milliseconds since 1970), by
 * account.
 */
const heard = new Recent<KnownCalls>({ most: 100 });
const toldAt = new Recent<number>({ most: 100 });
/** By account: what the calls of this isolate have cost, and what of it was not told yet. */
const spentBy = new Recent<Points>({ most: 100 });
const untold = new Recent<Points>({ most: 100 });

export interface CallMeter {
  /** Call it with each answer to a call that used the token. */
  observe(answer: Pick<HostAnswer, 'header'>, operation: Operation): void;
}

/**
 * Reports now and then what answers say, and the points since then.
 * @param account its name; no secret.
 * @param hasPoints the host counts them.
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
 * How long pages and badges must not ask the host, as far as this isolate has heard; 0: they may.
 */
export function readsPauseMs(account: string, now: number): number {
  const waitMs = pointsWaitMs(spentBy.get(account) ?? [], true, now);
  return Math.max(waitMs, readsWaitMs(heard.get(account), now));
}

/** What an answer tells of the account's usual budget (searches have their own); null: nothing. */
export function callsLeftSaidBy({ header }: Pick<HostAnswer, 'header'>, now: number): CallsLeft | null {
  const said = ['limit', 'remaining', 'reset'].map((name) => header(`x-ratelimit-${name}`) ?? '');
  const isUsual = (header('x-ratelimit-resource') ?? 'core') === 'core';
  if (!isUsual || !said.every((text) => /^\d{1,12}$/.test(text))) return null;
  const [limit, left, resetsAt] = said.map(Number) as [number, number, number];
  return { limit, left, resetsInMs: resetsAt * 1_000 - hostTime(header, now) };
}
