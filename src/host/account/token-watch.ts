/** Tells the operator what is wrong with the bot's token, as read from answers that are made anyway. */
import type { Clock } from '../../clock.ts';
import { count } from '../../metrics/tally.ts';
import type { AccountRules, TokenProblem } from './account-rules.ts';
import type { HostAnswer } from './rate-limit.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_ACCOUNTS = 100;

export interface TokenWatchSettings {
  /** Names the account; no secret. */
  readonly account: string;
  readonly token: string;
  readonly clock: Clock;
  readonly rules: AccountRules;
  /** Tells the operator. Must not throw. */
  readonly tell: (problems: readonly TokenProblem[]) => void;
}

/** What was told of a token, and when. */
export interface ToldProblems {
  readonly problems: readonly TokenProblem[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * What is remembered once these problems are told; null if all of them were told within a day. An answer may show only
 * some of a token's problems, so those that another one has shown stay.
 */
export function toldNow(
  last: ToldProblems | undefined,
  problems: readonly TokenProblem[],
  now: number,
): ToldProblems | null {
  const recent = last !== undefined && now - last.at < DAY_MS ? last.problems : [];
  if (problems.every((problem) => recent.includes(problem))) return null;
  return { problems: [...new Set([...recent, ...problems])], at: now };
}

/** By account; what this isolate has told last. */
const told = new Map<string, ToldProblems>();

/** Tells what is wrong, once a day and whenever it is something else. */
export class TokenWatch {
  readonly #settings: TokenWatchSettings;

  constructor(settings: TokenWatchSettings) {
    this.#settings = settings;
  }

  /** To be shown each answer to a call with the token. */
  observe(answer: HostAnswer): void {
    const { account, token, clock, rules, tell } = this.#settings;
    const now = clock.now();
    const problems = rules.tokenProblems(token, answer, now);
    if (problems === null) return;
    // The host says that all is well.
    if (problems.length === 0) told.delete(account);
    const toldProblems = toldNow(told.get(account), problems, now);
    if (toldProblems === null) return;
    if (told.size >= MAX_ACCOUNTS) told.clear();
    told.set(account, toldProblems);
    for (const problem of problems) count('gitveil_token_problems_total', { problem });
    tell(problems);
  }
}
