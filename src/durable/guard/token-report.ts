/**
 * What is wrong with the bot's accounts, for the front page and the metrics, and what the operator was told of it last.
 * Several isolates may notice a problem at once, and one alert a day is enough.
 */
import { isWithin } from '../../isolate/clock.ts';
import type { TokenProblem } from '../../host/account/account-rules.ts';

export type AccountProblems = Readonly<Record<string, readonly TokenProblem[]>>;

interface Report {
  /** None: what was wrong is over. */
  readonly problems: readonly TokenProblem[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What the operator was told, and when. It still counts if the problem was over for a while in between. */
  readonly told: string;
  readonly toldAt: number;
}

const KEY = 'token-reports';
const DAY_MS = 24 * 60 * 60 * 1000;
/** Longer than the time after which a problem that is still there is reported again. */
const LIFE_MS = 25 * 60 * 60 * 1000;

export class TokenReport {
  readonly #kv: SyncKvStorage;
  #reports: Readonly<Record<string, Report>>;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    this.#reports = kv.get<Record<string, Report>>(KEY) ?? {};
  }

  /** By account, as far as it may still hold. */
  current(now: number): AccountProblems {
    const reports = Object.entries(this.#reports).filter(
      ([, { problems, at }]) => problems.length > 0 && Math.abs(now - at) < LIFE_MS,
    );
    return Object.fromEntries(reports.map(([account, { problems }]) => [account, problems]));
  }

  /**
   * Takes a report. Answers whether the operator is to hear of it now. Cost: one write, but none of an account that was and is well.
   * @param problems none: nothing is wrong any more.
   */
  take(account: string, problems: readonly TokenProblem[], now: number): boolean {
    const { [account]: last, ...others } = this.#reports;
    const before = last ?? { problems: [], at: now, told: '', toldAt: 0 };
    const text = problems.join(' ');
    const isNews = text !== '' && (before.told !== text || !isWithin(before.toldAt, DAY_MS, now));
    if (text === '' && before.problems.length === 0) return false;
    const kept = Object.entries(others).filter(([, { at }]) => now - at < LIFE_MS);
    const report = { ...before, problems, at: now, ...(isNews && { told: text, toldAt: now }) };
    this.#reports = { ...Object.fromEntries(kept), [account]: report };
    this.#kv.put(KEY, this.#reports);
    return isNews;
  }
}
