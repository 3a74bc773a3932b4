/**
 * Forgejo and Gitea say nothing of a token's scopes until one is missing: then a call is refused with 403 and a text
 * that names it ("token does not have at least one of required scope(s)", routers/api/v1/api.go, tokenRequiresScopes).
 */
import type { AccountRules, TokenProblem } from '../account/account-rules.ts';

/** The scope that is missing, by its category. A call may ask for less than the service needs in all. */
const PROBLEMS: Readonly<Record<string, TokenProblem>> = {
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

const SUSPENDED_TEXT = /prohibited from signing in|account is not activated/i;

export const FORGEJO_RULES: AccountRules = {
  showsAllProblems: false,

  tokenProblems(token, { status, text }) {
    if (token === '') return null;
    if (status === 401) return ['rejected'];
    if (status !== 403) return null;
    if (SUSPENDED_TEXT.test(text)) return ['suspended'];
    if (PUBLIC_ONLY_TEXT.test(text)) return ['public-only'];
    const [, scopes = ''] = text.split(BEFORE_SCOPES);
    const problem = PROBLEMS[MISSING_SCOPE.exec(scopes)?.[1] ?? ''];
    return problem === undefined ? null : [problem];
  },
};
