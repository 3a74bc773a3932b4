/**
 * GitHub names a classic token's scopes in `X-OAuth-Scopes` of every answer, and its end in
 * `GitHub-Authentication-Token-Expiration`.
 */
import type { AccountRules, TokenProblem } from '../account/account-rules.ts';

/** By both interfaces; its sentence about the owner of a repository begins with "This". */
const SUSPENDED_TEXT = /\byour account (?:is|was|has been) suspended/i;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** `repo` includes what public repositories need, and the notifications. */
const SCOPES = {
  'no-public_repo': ['public_repo', 'repo'],
  'no-workflow': ['workflow'],
  'no-notifications': ['notifications', 'repo'],
} as const satisfies Partial<Record<TokenProblem, readonly string[]>>;

export const GITHUB_RULES: AccountRules = {
  showsAllProblems: true,

  tokenProblems(token, { status, header, text }, now) {
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
  },
};

/** `2026-11-29 12:00:00 UTC`, or with an offset such as `-0500`; milliseconds since 1970. */
function expiryOf(text: string | null): number | null {
  const [, date, time, zone] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (UTC|[+-]\d{4})$/.exec(text ?? '') ?? [];
  const at = Date.parse(`${date}T${time}${zone === 'UTC' ? 'Z' : zone}`);
  return Number.isNaN(at) ? null : at;
}
