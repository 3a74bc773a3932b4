/** What a host still lets the account ask by REST, and when pages wait. Writers wait in durable/host-account. */
import { type Clock, isAhead, isWithin } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { type HostAnswer, hostTime } from '../failure.ts';

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
  const resetsAt = at + resetsInMs;
  return isAhead(resetsAt, LONGEST_RESET_MS, now) ? resetsAt - now : null;
}

const TELLING_PAUSE_MS = 10_000;
/** When little is left, it matters more. */
const SCARCE_PART = 0.3;
const SCARCE_PAUSE_MS = 1_000;

/** What this isolate has heard last, and when it has told last (milliseconds since 1970), by account. */
const heard = new Recent<KnownCalls>({ most: 100 });
const toldAt = new Recent<number>({ most: 100 });

export interface CallMeter {
  /** Call it with each answer to a call that used the token. */
  observe(answer: Pick<HostAnswer, 'header'>): void;
}

/** Reports now and then what answers say. @param account its name; no secret. @param tell must not throw. */
export function callMeter(account: string, clock: Clock, tell: (calls: CallsLeft) => void): CallMeter {
  return {
    observe(answer) {
      const now = clock.now();
      const calls = callsLeftSaidBy(answer, now);
      if (calls === null) return;
      heard.set(account, latestCalls(heard.get(account), { ...calls, at: now }));
      const pauseMs = calls.left < calls.limit * SCARCE_PART ? SCARCE_PAUSE_MS : TELLING_PAUSE_MS;
      if (isWithin(toldAt.get(account) ?? -Infinity, pauseMs, now)) return;
      toldAt.set(account, now);
      tell(calls);
    },
  };
}

/** How long pages and badges must not ask the host, as far as this isolate has heard; 0: they may. */
export function readsPauseMs(account: string, now: number): number {
  return readsWaitMs(heard.get(account), now);
}

/** What an answer tells of the account's usual budget (searches have their own); null: nothing. */
export function callsLeftSaidBy({ header }: Pick<HostAnswer, 'header'>, now: number): CallsLeft | null {
  const said = ['limit', 'remaining', 'reset'].map((name) => header(`x-ratelimit-${name}`) ?? '');
  const isUsual = (header('x-ratelimit-resource') ?? 'core') === 'core';
  if (!isUsual || !said.every((text) => /^\d{1,12}$/.test(text))) return null;
  const [limit, left, resetsAt] = said.map(Number) as [number, number, number];
  return { limit, left, resetsInMs: resetsAt * 1_000 - hostTime(header, now) };
}
