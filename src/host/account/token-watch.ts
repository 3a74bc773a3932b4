/** Notices problems of the bot's account or token in answers to calls that are made anyway. */
import { type Clock, isWithin } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import type { HostAnswer } from '../failure.ts';
import type { HostKind } from '../kinds.ts';
import { type TokenProblem, tokenProblems } from './token-problems.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

interface TokenWatchSettings {
  /** The name of the account, which is no secret. */
  readonly account: string;
  readonly token: string;
  readonly clock: Clock;
  readonly kind: HostKind;
  /** Tells the operator. An empty list means that nothing is wrong any more. It must not throw. */
  readonly tell: (problems: readonly TokenProblem[]) => void;
}

interface Told {
  readonly problems: readonly TokenProblem[];
  /** The time in milliseconds since 1970. */
  readonly at: number;
}

/** The last report of this isolate, by account. */
const told = new Recent<Told>({ most: 100 });

/**
 * Single 401s that no second one has confirmed. One among good answers is the host's fault
 * (renovatebot/renovate#17822).
 */
const doubts = new Recent<true>({ lifeMs: 60 * 60 * 1000, most: 200 });

/** Reports problems, or that there are none, once a day and whenever they change. */
export class TokenWatch {
  readonly #settings: TokenWatchSettings;

  constructor(settings: TokenWatchSettings) {
    this.#settings = settings;
  }

  /** Reads an answer. Call it with each answer to a call that used the token. */
  observe(answer: HostAnswer): void {
    const { account, token, clock, kind, tell } = this.#settings;
    const now = clock.now();
    const doubt = `${account} ${answer.service ?? ''}`;
    if (answer.status < 400) doubts.delete(doubt);
    if (answer.status === 401 && doubts.get(doubt, now) === null) return doubts.set(doubt, true, now);
    const last = told.get(account);
    const shown = tokenProblems(kind, token, answer, now);
    const isPart = shown !== null && kind !== 'github';
    const problems = isPart ? merged(last, shown, now) : (shown ?? rest(last, answer));
    if (problems === null) return;
    const isSame = last !== null && last.problems.join(' ') === problems.join(' ');
    if (isSame && isWithin(last.at, DAY_MS, now)) return;
    told.set(account, { problems, at: now });
    tell(problems);
  }
}

/** Adds the problems that another answer has shown within a day. */
function merged(last: Told | null, shown: readonly TokenProblem[], now: number): readonly TokenProblem[] {
  const recent = last !== null && isWithin(last.at, DAY_MS, now) ? last.problems : [];
  return [...new Set([...recent, ...shown])];
}

/**
 * Returns the problems that are left after an answer that says nothing of the token, or null if
 * that is not known.
 */
function rest(last: Told | null, { status }: HostAnswer): readonly TokenProblem[] | null {
  if (last === null || status >= 400) return null;
  // These are over with the first call that succeeds.
  const left = last.problems.filter((problem) => problem !== 'suspended' && problem !== 'rejected');
  return left.length < last.problems.length ? left : null;
}
