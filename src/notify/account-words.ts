/**
 * Sentences about problems of the bot's account and token, for the operator.
 * Proved by test/notify/alert.test.ts.
 */
import { type AppProblem, isOfApp, type TokenProblem } from '../host/account/token-problems.ts';

/** Problems of the account itself, in words that follow the name of the host. */
const OF_ACCOUNT = {
  suspended: 'has suspended the bot account: nothing can be pushed or posted there',
  hidden: 'has flagged the bot account: nobody else sees its profile, its pull requests and its comments',
} as const;

/** Problems of the token, in words that follow "The token …". */
const OF_TOKEN = {
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

/** Problems of the App, in words that follow the name of the host. */
const OF_APP: Readonly<Record<AppProblem, string>> = {
  'app-refused':
    'refuses the App: its key is not valid any more, or there is no such App. The bot account writes in ' +
    'its place. Run `npm run doctor`: it says what to set.',
  'app-permission':
    'has not granted the App all permissions in some repository, so the bot account writes in its place, or ' +
    'nobody. Run `npm run doctor`: it says what is missing.',
};

/** Says what is wrong with the App, a sentence for each problem. */
export function appWords(hostName: string, problems: readonly TokenProblem[]): readonly string[] {
  return problems.filter(isOfApp).map((problem) => `${hostName} ${OF_APP[problem]}`);
}

/**
 * Says what is wrong with the bot's account, or else with its token, without a full stop.
 * `ofAccount` is null if it is the token.
 * @param place words that follow "The token": "of the bot account at github.com".
 */
export function accountWords(hostName: string, place: string, problems: readonly TokenProblem[]) {
  const ofAccount = (['suspended', 'hidden'] as const).find((problem) => problems.includes(problem)) ?? null;
  if (ofAccount !== null) {
    const sentence = `${hostName} ${OF_ACCOUNT[ofAccount]}. Sign in to the host as the bot, and ask its support for the reason`;
    return { ofAccount, sentence };
  }
  const known: Partial<Record<TokenProblem, string>> = OF_TOKEN;
  const words = problems.flatMap((problem) => known[problem] ?? []);
  return { ofAccount, sentence: `The token ${place} ${words.join('; it ')}` };
}
