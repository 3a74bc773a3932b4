/**
 * Reports to the account's object how many calls the host still allows. Every answer says so, but the object needs it
 * only now and then.
 */
import { type CallsLeft, type KnownCalls, latestCalls, readsWaitMs } from './account-budget.ts';
import type { Clock } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { type HostAnswer, hostTime } from '../failure.ts';

const SECOND_MS = 1_000;
const TELLING_PAUSE_MS = 10_000;
/** When little is left, it matters more. */
const SCARCE_PART = 0.3;
const SCARCE_PAUSE_MS = 1_000;

export interface CallMeterSettings {
  /** Names the account; no secret. */
  readonly account: string;
  readonly clock: Clock;
  /** Nobody waits for it. Must not throw. */
  readonly tell: (calls: CallsLeft) => void;
}

/** What this isolate has heard last, by account. */
const heard = new Recent<KnownCalls>({ most: 100 });
/** When this isolate has told last, by account; milliseconds since 1970. */
const toldAt = new Recent<number>({ most: 100 });

export class CallMeter {
  readonly #settings: CallMeterSettings;

  constructor(settings: CallMeterSettings) {
    this.#settings = settings;
  }

  /** Call it with each answer to a call that used the token. */
  observe(answer: Pick<HostAnswer, 'header'>): void {
    const { account, clock, tell } = this.#settings;
    const now = clock.now();
    const calls = callsLeftSaidBy(answer, now);
    if (calls === null) return;
    heard.set(account, latestCalls(heard.get(account), { ...calls, at: now }));
    const pauseMs = calls.left < calls.limit * SCARCE_PART ? SCARCE_PAUSE_MS : TELLING_PAUSE_MS;
    if (Math.abs(now - (toldAt.get(account) ?? Number.NEGATIVE_INFINITY)) < pauseMs) return;
    toldAt.set(account, now);
    tell(calls);
  }
}

/**
 * How long pages and badges must not ask the host, in milliseconds; 0: they may. As far as this isolate has heard; each
 * answer to one of them says how many calls are left.
 */
export function readsPauseMs(account: string, now: number): number {
  return readsWaitMs(heard.get(account), now);
}

/**
 * What an answer tells of the calls that are left to the account; null: nothing. Of several budgets it is the usual
 * one: searches, for instance, have their own. @param now milliseconds since 1970.
 */
export function callsLeftSaidBy({ header }: Pick<HostAnswer, 'header'>, now: number): CallsLeft | null {
  const limit = wholeNumber(header('x-ratelimit-limit'));
  const left = wholeNumber(header('x-ratelimit-remaining'));
  const resetsAt = wholeNumber(header('x-ratelimit-reset'));
  const isUsual = (header('x-ratelimit-resource') ?? 'core') === 'core';
  if (limit === null || left === null || resetsAt === null || !isUsual) return null;
  return { limit, left, resetsInMs: resetsAt * SECOND_MS - hostTime(header, now) };
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : null;
}
