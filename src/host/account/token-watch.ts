/**
 * What is wrong with the bot's token, read from answers that are made anyway: GitHub names a classic token's scopes in
 * `X-OAuth-Scopes`, and its end in `GitHub-Authentication-Token-Expiration`. Other hosts name neither, and nothing is said.
 */
import type { Clock } from '../../clock.ts';
import { count } from '../../metrics/tally.ts';
import type { HostAnswer } from './rate-limit.ts';

export type TokenProblem =
  /** The host does not know it: expired, revoked, or never right. */
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

type Answered = Pick<HostAnswer, 'status' | 'header'>;

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
  { status, header }: Answered,
  now: number,
): readonly TokenProblem[] | null {
  // A service without a token has been told so already.
  if (token === '') return null;
  if (status === 401) return ['rejected'];
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
  /** Tells the operator. Must not throw. */
  readonly tell: (problems: readonly TokenProblem[]) => void;
}

/** What this isolate has told last, by account. */
const told = new Map<string, { readonly text: string; readonly at: number }>();
const MAX_ACCOUNTS = 100;

/** Tells what is wrong, once a day and whenever it is something else. */
export class TokenWatch {
  readonly #settings: TokenWatchSettings;

  constructor(settings: TokenWatchSettings) {
    this.#settings = settings;
  }

  /** To be shown each answer to a call with the token. */
  observe(answer: Answered): void {
    const { account, token, clock, tell } = this.#settings;
    const now = clock.now();
    const problems = tokenProblems(token, answer, now);
    if (problems === null) return;
    const text = problems.join(' ');
    const last = told.get(account) ?? { text: '', at: Number.NEGATIVE_INFINITY };
    if (text === last.text && (text === '' || now - last.at < DAY_MS)) return;
    if (told.size >= MAX_ACCOUNTS) told.clear();
    told.set(account, { text, at: now });
    if (problems.length === 0) return;
    for (const problem of problems) count('gitveil_token_problems_total', { problem });
    tell(problems);
  }
}
