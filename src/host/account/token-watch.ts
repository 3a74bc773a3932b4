/**
 * What is wrong with the bot's account or token, read from answers that are made anyway: GitHub names a classic token's
 * scopes in `X-OAuth-Scopes`, and its end in `GitHub-Authentication-Token-Expiration`. Other hosts name neither, and
 * nothing is said. A host that refuses the account says so in words.
 */
import type { Clock } from '../../clock.ts';
import { count } from '../../metrics/tally.ts';
import type { HostAnswer } from './rate-limit.ts';

export type TokenProblem =
  /** The host has suspended the account. */
  | 'suspended'
  /** The host does not know the token: expired, revoked, or never right. */
  | 'rejected'
  /** Within a week. */
  | 'expires-soon'
  /** Such tokens cannot open pull requests in repositories of others. */
  | 'fine-grained'
  /** Without it nothing can be written. */
  | 'no-public_repo'
  /** Without it no fork follows an upstream whose workflows have changed (cli/cli#7574). */
  | 'no-workflow'
  /** Without it nobody hears what became of a pull request. */
  | 'no-notifications';

type Answered = Pick<HostAnswer, 'status' | 'header'> & Partial<Pick<HostAnswer, 'text'>>;

/** GitHub's words, by both interfaces; its sentence about the owner of a repository begins with "This". */
const SUSPENDED_TEXT = /\byour account (?:is|was|has been) suspended/i;
/** They are over with the first call that succeeds. */
const ENDS_WITH_SUCCESS: ReadonlySet<TokenProblem> = new Set(['suspended', 'rejected']);

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** `repo` includes what public repositories need, and the notifications. */
const SCOPES = {
  'no-public_repo': ['public_repo', 'repo'],
  'no-workflow': ['workflow'],
  'no-notifications': ['notifications', 'repo'],
} as const satisfies Partial<Record<TokenProblem, readonly string[]>>;

/** Null: the answer says nothing of the token. @param now milliseconds since 1970. */
export function tokenProblems(
  token: string,
  { status, header, text = '' }: Answered,
  now: number,
): readonly TokenProblem[] | null {
  // A service without a token has been told so already.
  if (token === '') return null;
  if (status === 401) return ['rejected'];
  if (status === 403 && SUSPENDED_TEXT.test(text)) return ['suspended'];
  const scopes = header('x-oauth-scopes');
  const endsAt = expiryOf(header('github-authentication-token-expiration'));
  const isFineGrained = token.startsWith('github_pat_');
  if (scopes === null && endsAt === null && !isFineGrained) return null;
  const granted = new Set(scopes?.split(',').map((scope) => scope.trim()));
  const missing = (Object.keys(SCOPES) as (keyof typeof SCOPES)[]).filter(
    (problem) => !SCOPES[problem].some((scope) => granted.has(scope)),
  );
  return [
    ...(isFineGrained ? (['fine-grained'] as const) : []),
    ...(endsAt !== null && endsAt - now < WEEK_MS ? (['expires-soon'] as const) : []),
    ...(scopes === null ? [] : missing),
  ];
}

/** `2026-11-29 12:00:00 UTC`, or with an offset such as `-0500`; milliseconds since 1970. */
function expiryOf(text: string | null): number | null {
  const [, date, time, zone] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (UTC|[+-]\d{4})$/.exec(text ?? '') ?? [];
  const at = Date.parse(`${date}T${time}${zone === 'UTC' ? 'Z' : zone}`);
  return Number.isNaN(at) ? null : at;
}

export interface TokenWatchSettings {
  /** Names the account; no secret. */
  readonly account: string;
  readonly token: string;
  readonly clock: Clock;
  /** Tells the operator; none: nothing is wrong any more. Must not throw. */
  readonly tell: (problems: readonly TokenProblem[]) => void;
}

interface Told {
  readonly problems: readonly TokenProblem[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What this isolate has told last, by account. */
const told = new Map<string, Told>();
const MAX_ACCOUNTS = 100;

/** Tells what is wrong, or that nothing is, once a day and whenever it changes. */
export class TokenWatch {
  readonly #settings: TokenWatchSettings;

  constructor(settings: TokenWatchSettings) {
    this.#settings = settings;
  }

  /** To be shown each answer to a call with the token. */
  observe(answer: Answered): void {
    const { account, token, clock, tell } = this.#settings;
    const now = clock.now();
    const last = told.get(account) ?? null;
    const problems = tokenProblems(token, answer, now) ?? rest(last, answer);
    if (problems === null) return;
    const isSame = last !== null && last.problems.join(' ') === problems.join(' ');
    if (isSame && Math.abs(now - last.at) < DAY_MS) return;
    if (told.size >= MAX_ACCOUNTS) told.clear();
    told.set(account, { problems, at: now });
    for (const problem of problems) count('gitveil_token_problems_total', { problem });
    tell(problems);
  }
}

/** What is still wrong after an answer that says nothing of the token; null: that is not known. */
function rest(last: Told | null, { status }: Answered): readonly TokenProblem[] | null {
  if (last === null || status >= 400) return null;
  const left = last.problems.filter((problem) => !ENDS_WITH_SUCCESS.has(problem));
  return left.length < last.problems.length ? left : null;
}
