/**
 * Remembers what the operator was told last, as long as that counts, so that nothing is told too
 * often; and the reports about the bot's accounts.
 * Proved by test/durable/guard/guard.test.ts.
 */
import type { TokenProblem } from '../../host/account/token-problems.ts';
import { isAhead, isWithin } from '../../isolate/clock.ts';
import { earliest } from '../due-rows.ts';

const HOUR_MS = 60 * 60 * 1000;
const TOLD_PREFIX = 'told ';
const TOKEN_PREFIX = 'told token ';
/** How long a problem of an account that is over and comes back is not told again. */
const TOKEN_PAUSE_MS = 24 * HOUR_MS;
/** How long a report counts: longer than the pause between reports, so that none lapses between. */
const TOKEN_LIFE_MS = 25 * HOUR_MS;

interface Remembered {
  readonly value: unknown;
  readonly until: number;
  readonly lifeMs: number;
}

export type AccountProblems = Readonly<Record<string, readonly TokenProblem[]>>;

interface TokenReport {
  /** Empty when the problems are over. */
  readonly problems: readonly TokenProblem[];
  /** The problems that the operator was told; at `toldAt`, from which this counts for a day. */
  readonly told: string;
  readonly toldAt: number;
}

export class ToldMemory {
  readonly #kv: SyncKvStorage;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** Lists the current problems of each account. */
  accountProblems(now: number): AccountProblems {
    const all: Record<string, readonly TokenProblem[]> = {};
    for (const [key, told] of this.#kv.list<Remembered>({ prefix: TOKEN_PREFIX })) {
      const [account = ''] = key.slice(TOKEN_PREFIX.length).split(':', 1);
      const { problems } = told.value as TokenReport;
      if (problems.length > 0 && isCurrent(told, now)) all[account] = [...(all[account] ?? []), ...problems];
    }
    return all;
  }

  /**
   * Stores a report, and answers whether the operator must be told: once, until the problem is
   * over.
   * @param account the name that `accountOf` gives; `name:part` for a part with reports of its own.
   */
  takeReport(account: string, problems: readonly TokenProblem[], now: number): boolean {
    const nothing: TokenReport = { problems: [], told: '', toldAt: 0 };
    const before = (this.last(TOKEN_PREFIX + account, now) ?? nothing) as TokenReport;
    const text = problems.join(' ');
    if (text === '' && before.problems.length === 0) return false;
    const isBack = before.problems.length === 0 && !isWithin(before.toldAt, TOKEN_PAUSE_MS, now);
    const isNews = text !== '' && (before.told !== text || isBack);
    const report = { ...before, problems, ...(isNews && { told: text, toldAt: now }) };
    this.remember(TOKEN_PREFIX + account, report, now, TOKEN_LIFE_MS);
    return isNews;
  }

  /**
   * Gives what `remember` has stored, as long as that counts; else null.
   * @param key begins with `told`.
   */
  last(key: string, now: number): unknown {
    const told = this.#kv.get<Remembered>(key);
    return told !== undefined && isCurrent(told, now) ? told.value : null;
  }

  remember(key: string, value: unknown, now: number, lifeMs: number): void {
    this.#kv.put(key, { value, until: now + lifeMs, lifeMs });
  }

  /** Deletes what counts no more. Answers when the next deletion is due; null: never. */
  forgetOld(now: number): number | null {
    const all = [...this.#kv.list<Remembered>({ prefix: TOLD_PREFIX })];
    for (const [key, told] of all) if (!isCurrent(told, now)) this.#kv.delete(key);
    return earliest(...all.map(([, told]) => (isCurrent(told, now) ? told.until : null)));
  }
}

/**
 * Answers whether it still counts. What would count for longer than its life, because a clock was
 * set back, does not.
 */
function isCurrent({ until, lifeMs }: Remembered, now: number): boolean {
  return isAhead(until, lifeMs, now);
}
