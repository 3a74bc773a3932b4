/** What answers tell about the bot's account and its token, on each kind of host. */
import type { HostAnswer } from '../failure.ts';
import type { HostKind } from '../kinds.ts';

/** Completes "The token of the bot account". */
export const TOKEN_PROBLEMS = {
  rejected: 'is refused by the code host: it has expired, was revoked, or is wrong',
  'expires-soon': 'expires within a week',
  // GitHub.
  'fine-grained': 'is a fine-grained one, which cannot open pull requests for others: use a classic one',
  'no-public_repo': 'lacks the scope public_repo, without which nothing can be posted',
  // cli/cli#7574.
  'no-workflow': 'lacks the scope workflow, without which forks cannot follow upstream',
  'no-notifications':
    'lacks the scope notifications, without which nobody is notified of comments and merges',
  // Forgejo and Gitea.
  'no-write:repository': 'lacks the scope write:repository, without which there are no pull requests',
  'no-write:issue': 'lacks the scope write:issue, without which there are no comments and issues',
  'no-read:user': 'lacks the scope read:user, without which the bot does not know its own name',
  'no-read:notification':
    'lacks the scope read:notification, without which nobody is notified of comments and merges',
  'public-only':
    'is limited to public repositories (public-only), so nobody is notified of comments and merges: make one without that limit',
} as const;

/** Of the account itself, whatever its token is. */
export const ACCOUNT_PROBLEMS = {
  suspended: 'has suspended the bot account: nothing can be pushed or posted there',
  hidden: 'has flagged the bot account: nobody else sees its profile, its pull requests and its comments',
} as const;

export type TokenProblem = keyof typeof TOKEN_PROBLEMS | keyof typeof ACCOUNT_PROBLEMS;

/** The worst problem of the account itself; null: its token alone has some. */
export function accountProblemOf(problems: readonly TokenProblem[]): keyof typeof ACCOUNT_PROBLEMS | null {
  const found = (['suspended', 'hidden'] as const).find((problem) => problems.includes(problem));
  return found ?? null;
}

export function isTokenProblem(problem: TokenProblem): problem is keyof typeof TOKEN_PROBLEMS {
  return problem in TOKEN_PROBLEMS;
}

export interface AccountRules {
  /** False: an answer shows only the problem that its call was refused for. */
  readonly showsAllProblems: boolean;
  /**
   * What an answer tells about the token that went with the request; null: nothing.
   * @param now milliseconds since 1970.
   */
  tokenProblems(token: string, answer: HostAnswer, now: number): readonly TokenProblem[] | null;
}

/**
 * By both interfaces. GitHub's sentence about the owner of a repository begins with "This". Gitea and Forgejo:
 * services/context/{user,api}.go.
 */
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

/**
 * GitHub names a classic token's scopes in `X-OAuth-Scopes` of every answer, and its end in
 * `GitHub-Authentication-Token-Expiration`.
 */
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
