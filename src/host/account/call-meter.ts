/**
 * Passes on what the host says of the calls that are left to the account: each answer says it, and the account's object
 * needs it only now and then.
 */
import type { CallsLeft } from '../../guard/account-budget.ts';
import type { Clock } from '../../clock.ts';
import { callsLeftSaidBy, type HostAnswer } from './rate-limit.ts';

const TELLING_PAUSE_MS = 10_000;
/** When little is left, it matters more. */
const SCARCE_PART = 0.3;
const SCARCE_PAUSE_MS = 1_000;
const MAX_ACCOUNTS = 100;

export interface CallMeterSettings {
  /** Names the account; no secret. */
  readonly account: string;
  readonly clock: Clock;
  /** Nobody waits for it. Must not throw. */
  readonly tell: (calls: CallsLeft) => void;
}

/** When this isolate has told last, by account; milliseconds since 1970. */
const toldAt = new Map<string, number>();

export class CallMeter {
  readonly #settings: CallMeterSettings;

  constructor(settings: CallMeterSettings) {
    this.#settings = settings;
  }

  /** To be shown each answer to a call with the token. */
  observe(answer: Pick<HostAnswer, 'header'>): void {
    const { account, clock, tell } = this.#settings;
    const now = clock.now();
    const calls = callsLeftSaidBy(answer, now);
    if (calls === null) return;
    const pauseMs = calls.left < calls.limit * SCARCE_PART ? SCARCE_PAUSE_MS : TELLING_PAUSE_MS;
    if (Math.abs(now - (toldAt.get(account) ?? Number.NEGATIVE_INFINITY)) < pauseMs) return;
    if (toldAt.size >= MAX_ACCOUNTS) toldAt.clear();
    toldAt.set(account, now);
    tell(calls);
  }
}
