/** Notices problems of the bot's account or token in answers to calls that are made anyway. */
import { type Clock, isWithin } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { count } from '../../metrics/tally.ts';
import { type HostAnswer, SUSPENDED_TEXT } from '../failure.ts';
import type { HostKind } from '../kinds.ts';

/** Of the account itself, whatever its token is: `suspended` and `hidden`, the worst. `no-…`: that scope is missing. */
export type TokenProblem =
  | 'suspended'
  | 'hidden'
  | 'rejected'
  | 'expires-soon'
  | 'fine-grained'
  | `no-${'public_repo' | 'workflow' | 'notifications'}`
  | `no-${'write:repository' | 'write:issue' | 'read:user' | 'read:notification'}`
  | 'public-only';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface TokenWatchSettings {
  /** Names the account; no secret. */
  readonly account: string;
  readonly token: string;
  readonly clock: Clock;
  readonly kind: HostKind;
  /** Tells the operator; none: nothing is wrong any more. Must not throw. */
  readonly tell: (problems: readonly TokenProblem[]) => void;
}

interface Told {
  readonly problems: readonly TokenProblem[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What this isolate has told last, by account. */
const told = new Recent<Told>({ most: 100 });

/** 401s that no second one has confirmed: one among good ones is the host's fault (renovatebot/renovate#17822). */
const doubts = new Recent<true>({ lifeMs: 60 * 60 * 1000, most: 200 });

/** Tells what is wrong, or that nothing is, once a day and whenever it changes. */
export class TokenWatch {
  readonly #settings: TokenWatchSettings;

  constructor(settings: TokenWatchSettings) {
    this.#settings = settings;
  }

  /** Call it with each answer to a call that used the token. */
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
    for (const problem of problems) count('gitveil_token_problems_total', { problem });
    tell(problems);
  }
}

/** With those that another answer has shown within a day. */
function merged(last: Told | null, shown: readonly TokenProblem[], now: number): readonly TokenProblem[] {
  const recent = last !== null && isWithin(last.at, DAY_MS, now) ? last.problems : [];
  return [...new Set([...recent, ...shown])];
}

/** What is still wrong after an answer that says nothing of the token; null: that is not known. */
function rest(last: Told | null, { status }: HostAnswer): readonly TokenProblem[] | null {
  if (last === null || status >= 400) return null;
  // They are over with the first call that succeeds.
  const left = last.problems.filter((problem) => problem !== 'suspended' && problem !== 'rejected');
  return left.length < last.problems.length ? left : null;
}

/** What an answer tells about the token that went with the request; null: nothing. GitHub's shows all problems at once. */
export function tokenProblems(
  kind: HostKind,
  token: string,
  answer: HostAnswer,
  now: number,
): readonly TokenProblem[] | null {
  // A service without a token has been told so already.
  if (token === '') return null;
  const { status, text } = answer;
  if (status === 401) return ['rejected'];
  if (status === 403 && SUSPENDED_TEXT.test(text)) return ['suspended'];
  return kind === 'github' ? classicProblems(token, answer, now) : missingScope(answer);
}

/** `repo` includes what public repositories need, and the notifications. */
const GITHUB_SCOPES = [
  ['no-public_repo', 'public_repo', 'repo'],
  ['no-workflow', 'workflow'],
  ['no-notifications', 'notifications', 'repo'],
] as const;

/** GitHub's answers name a classic token's scopes, and its end. */
function classicProblems(token: string, { header }: HostAnswer, now: number): readonly TokenProblem[] | null {
  const scopes = header('x-oauth-scopes');
  const endsAt = expiryOf(header('github-authentication-token-expiration'));
  const isFineGrained = token.startsWith('github_pat_');
  if (scopes === null && endsAt === null && !isFineGrained) return null;
  const granted = new Set(scopes?.split(',').map((scope) => scope.trim()));
  const problems: TokenProblem[] = [];
  if (isFineGrained) problems.push('fine-grained');
  if (endsAt !== null && endsAt - now < 7 * DAY_MS) problems.push('expires-soon');
  for (const [problem, ...enough] of scopes === null ? [] : GITHUB_SCOPES)
    if (!enough.some((scope) => granted.has(scope))) problems.push(problem);
  return problems;
}

/** `2026-11-29 12:00:00 UTC`, or with an offset such as `-0500`; milliseconds since 1970. */
function expiryOf(text: string | null): number | null {
  const [, date, time, zone] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (UTC|[+-]\d{4})$/.exec(text ?? '') ?? [];
  const at = Date.parse(`${date}T${time}${zone === 'UTC' ? 'Z' : zone}`);
  return Number.isNaN(at) ? null : at;
}

/** The scope that is missing, by its category. A call may ask for less than the service needs in all. */
const GITEA_SCOPES: Readonly<Record<string, TokenProblem>> = {
  repository: 'no-write:repository',
  issue: 'no-write:issue',
  user: 'no-read:user',
  notification: 'no-read:notification',
};
/** Gitea: `required=[write:issue], token scope=…`. Forgejo: `: [write:issue]`. The first scope is the required one. */
const MISSING_SCOPE = /^[^a-z]{0,20}(?:required=[^a-z]{0,20})?(?:read|write):(\w+)/;

/**
 * Forgejo and Gitea say nothing of a token's scopes until one is missing: then a call is refused with 403 and a text
 * that names it (routers/api/v1/api.go: tokenRequiresScopes, and rejectPublicOnly of Gitea 1.27.3).
 */
function missingScope({ status, text }: HostAnswer): readonly TokenProblem[] | null {
  if (status !== 403) return null;
  if (/not available for public-only tokens/.test(text)) return ['public-only'];
  const [, scopes = ''] = text.split('required scope(s)');
  const problem = GITEA_SCOPES[MISSING_SCOPE.exec(scopes)?.[1] ?? ''];
  return problem === undefined ? null : [problem];
}
