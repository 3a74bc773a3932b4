/**
 * What answers of a code host tell about the bot's account and its token. `npm run doctor` asks
 * them in Node.js.
 * Proved by test/host/account/token-watch.test.ts.
 */
import { type HostAnswer, SUSPENDED_TEXT } from '../failure.ts';
import type { HostKind } from '../kinds.ts';

/**
 * Of the account itself, whatever its token is: `suspended` and `hidden`, the worst. `no-…`: that
 * scope is missing.
 */
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

/**
 * What an answer tells about the token that went with the request; null: nothing. GitHub's shows
 * all at once.
 */
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

/**
 * The scope that is missing, by its category. A call may ask for less than the service needs in
 * all.
 */
const GITEA_SCOPES: Readonly<Record<string, TokenProblem>> = {
  repository: 'no-write:repository',
  issue: 'no-write:issue',
  user: 'no-read:user',
  notification: 'no-read:notification',
};
/**
 * Gitea: `required=[write:issue], token scope=…`. Forgejo: `: [write:issue]`. The first scope is
 * the required one.
 */
const MISSING_SCOPE = /^[^a-z]{0,20}(?:required=[^a-z]{0,20})?(?:read|write):(\w+)/;

/**
 * Forgejo and Gitea name a missing scope in a 403 (routers/api/v1/api.go: tokenRequiresScopes,
 * rejectPublicOnly).
 */
function missingScope({ status, text }: HostAnswer): readonly TokenProblem[] | null {
  if (status !== 403) return null;
  if (/not available for public-only tokens/.test(text)) return ['public-only'];
  const [, scopes = ''] = text.split('required scope(s)');
  const problem = GITEA_SCOPES[MISSING_SCOPE.exec(scopes)?.[1] ?? ''];
  return problem === undefined ? null : [problem];
}
