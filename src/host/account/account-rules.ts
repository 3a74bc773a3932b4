/** What answers tell about the bot's account and its token, on each kind of host. */
import type { HostAnswer } from '../failure.ts';
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

export interface AccountRules {
  /** False: an answer shows only the problem that its call was refused for. */
  readonly showsAllProblems: boolean;
  /** What an answer tells about the token that went with the request; null: nothing. */
  tokenProblems(token: string, answer: HostAnswer, now: number): readonly TokenProblem[] | null;
}

/** By both interfaces; GitHub's of an owner begins with "This". Gitea and Forgejo: services/context/{user,api}.go. */
const SUSPENDED_TEXT =
  /\byour account (?:is|was|has been) suspended|prohibited from signing in|account is not activated/i;

/** What every host says alike; null: it says something else. */
function commonProblems({ status, text }: HostAnswer): readonly TokenProblem[] | null {
  if (status === 401) return ['rejected'];
  return status === 403 && SUSPENDED_TEXT.test(text) ? ['suspended'] : null;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** `repo` includes what public repositories need, and the notifications. */
const GITHUB_SCOPES = {
  'no-public_repo': ['public_repo', 'repo'],
  'no-workflow': ['workflow'],
  'no-notifications': ['notifications', 'repo'],
} as const satisfies Partial<Record<TokenProblem, readonly string[]>>;

/** GitHub's answers name a classic token's scopes, and its end. */
const GITHUB: AccountRules = {
  showsAllProblems: true,

  tokenProblems(token, answer, now) {
    // A service without a token has been told so already.
    const common = token === '' ? null : commonProblems(answer);
    if (token === '' || common !== null) return common;
    const { header } = answer;
    const scopes = header('x-oauth-scopes');
    const endsAt = expiryOf(header('github-authentication-token-expiration'));
    const isFineGrained = token.startsWith('github_pat_');
    if (scopes === null && endsAt === null && !isFineGrained) return null;
    const granted = new Set(scopes?.split(',').map((scope) => scope.trim()));
    const missing = (Object.keys(GITHUB_SCOPES) as (keyof typeof GITHUB_SCOPES)[]).filter(
      (problem) => !GITHUB_SCOPES[problem].some((scope) => granted.has(scope)),
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

/** The scope that is missing, by its category. A call may ask for less than the service needs in all. */
const GITEA_SCOPES: Readonly<Record<string, TokenProblem>> = {
  repository: 'no-write:repository',
  issue: 'no-write:issue',
  user: 'no-read:user',
  notification: 'no-read:notification',
};
/** Gitea: `required=[write:issue], token scope=…`. Forgejo: `: [write:issue]`. The first scope is the required one. */
const BEFORE_SCOPES = 'required scope(s)';
const MISSING_SCOPE = /^[^a-z]{0,20}(?:required=[^a-z]{0,20})?(?:read|write):(\w+)/;
/** Of Gitea 1.27.3 (rejectPublicOnly in routers/api/v1/api.go). */
const PUBLIC_ONLY_TEXT = /not available for public-only tokens/;

/**
 * Forgejo and Gitea say nothing of a token's scopes until one is missing: then a call is refused with 403 and a text
 * that names it ("token does not have at least one of required scope(s)", routers/api/v1/api.go, tokenRequiresScopes).
 */
const GITEA: AccountRules = {
  showsAllProblems: false,

  tokenProblems(token, answer) {
    const { status, text } = answer;
    const common = token === '' ? null : commonProblems(answer);
    if (token === '' || common !== null || status !== 403) return common;
    if (PUBLIC_ONLY_TEXT.test(text)) return ['public-only'];
    const [, scopes = ''] = text.split(BEFORE_SCOPES);
    const problem = GITEA_SCOPES[MISSING_SCOPE.exec(scopes)?.[1] ?? ''];
    return problem === undefined ? null : [problem];
  },
};

export const ACCOUNT_RULES: Readonly<Record<HostKind, AccountRules>> = {
  github: GITHUB,
  gitea: GITEA,
  forgejo: GITEA,
};
