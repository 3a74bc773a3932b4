/**
 * Finds problems of the bot's account and its token in answers of a code host. `npm run doctor`
 * uses it in Node.js.
 * Proved by test/host/account/token-watch.test.ts.
 */
import { type HostAnswer, SUSPENDED_TEXT } from '../failure.ts';
import type { HostKind } from '../kinds.ts';

/**
 * The problems. `suspended` and `hidden` are of the account itself, and the worst. `no-…` names a
 * scope that is missing. No answer to the token shows those of the App.
 */
export type TokenProblem =
  | AppProblem
  | 'suspended'
  | 'hidden'
  | 'rejected'
  | 'expires-soon'
  | 'fine-grained'
  | `no-${'public_repo' | 'workflow' | 'notifications'}`
  | `no-${'write:repository' | 'write:issue' | 'read:user' | 'read:notification'}`
  | 'public-only';

/** Problems of the App: its key is refused, or it lacks a permission where it is installed. */
export type AppProblem = 'app-refused' | 'app-permission';

export function isOfApp(problem: TokenProblem): problem is AppProblem {
  return problem === 'app-refused' || problem === 'app-permission';
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Reads the problems of the token that was sent with a request. GitHub's answers to a valid token
 * show all at once.
 * @returns null if the answer says nothing.
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

/**
 * The scopes that are needed, and what includes them: `repo` includes those of public repositories,
 * and notifications.
 */
const GITHUB_SCOPES = [
  ['no-public_repo', 'public_repo', 'repo'],
  ['no-workflow', 'workflow'],
  ['no-notifications', 'notifications', 'repo'],
] as const;

/** Reads the scopes of a classic token, and when it expires, which GitHub's answers name. */
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

/**
 * Parses `2026-11-29 12:00:00 UTC`, or with an offset such as `-0500`, to milliseconds since 1970.
 */
function expiryOf(text: string | null): number | null {
  const [, date, time, zone] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (UTC|[+-]\d{4})$/.exec(text ?? '') ?? [];
  const at = Date.parse(`${date}T${time}${zone === 'UTC' ? 'Z' : zone}`);
  return Number.isNaN(at) ? null : at;
}

/** The missing scope by its category. A call may ask for less than the service needs in all. */
const GITEA_SCOPES: Readonly<Record<string, TokenProblem>> = {
  repository: 'no-write:repository',
  issue: 'no-write:issue',
  user: 'no-read:user',
  notification: 'no-read:notification',
};
/**
 * Matches the required scope, which comes first. Gitea: `required=[write:issue], token scope=…`.
 * Forgejo: `: [write:issue]`.
 */
const MISSING_SCOPE = /^[^a-z]{0,20}(?:required=[^a-z]{0,20})?(?:read|write):(\w+)/;

/**
 * Reads the missing scope that Forgejo and Gitea name in a 403 (routers/api/v1/api.go:
 * tokenRequiresScopes, rejectPublicOnly).
 */
function missingScope({ status, text }: HostAnswer): readonly TokenProblem[] | null {
  if (status !== 403) return null;
  if (/not available for public-only tokens/.test(text)) return ['public-only'];
  const [, scopes = ''] = text.split('required scope(s)');
  const problem = GITEA_SCOPES[MISSING_SCOPE.exec(scopes)?.[1] ?? ''];
  return problem === undefined ? null : [problem];
}
