/** What answers tell about the bot's account, as far as it depends on the kind of host. */
import type { HostAnswer } from '../failure.ts';

export type TokenProblem =
  /** The host has suspended the account. */
  | 'suspended'
  /** The host does not know it: expired, revoked, or never right. */
  | 'rejected'
  /** Within a week. */
  | 'expires-soon'
  /** GitHub: such tokens cannot open pull requests in repositories of others. */
  | 'fine-grained'
  /** GitHub: without it nothing can be written. */
  | 'no-public_repo'
  /** GitHub: without it no fork follows an upstream whose workflows have changed (cli/cli#7574). */
  | 'no-workflow'
  /** GitHub: without it nobody hears what became of a pull request. */
  | 'no-notifications'
  /** Forgejo and Gitea: without it there are no pull requests. */
  | 'no-write:repository'
  /** Forgejo and Gitea: without it there are no comments, issues, and changed pull requests. */
  | 'no-write:issue'
  /** Forgejo and Gitea: without it the bot does not know its own name. */
  | 'no-read:user'
  /** Forgejo and Gitea: without it nobody hears what became of a pull request. */
  | 'no-read:notification'
  /** Forgejo and Gitea: it is limited to public repositories, and Gitea 1.27.3 refuses it the notifications. */
  | 'public-only';

/** Completes "The token of the bot account". */
export const TOKEN_PROBLEMS: Readonly<Record<Exclude<TokenProblem, 'suspended'>, string>> = {
  rejected: 'is refused by the code host: it has expired, was revoked, or is wrong',
  'expires-soon': 'expires within a week',
  'fine-grained': 'is a fine-grained one, which cannot open pull requests for others: use a classic one',
  'no-public_repo': 'lacks the scope public_repo, without which nothing can be posted',
  'no-workflow': 'lacks the scope workflow, without which forks cannot follow upstream',
  'no-notifications':
    'lacks the scope notifications, without which nobody is notified of comments and merges',
  'no-write:repository': 'lacks the scope write:repository, without which there are no pull requests',
  'no-write:issue': 'lacks the scope write:issue, without which there are no comments and issues',
  'no-read:user': 'lacks the scope read:user, without which the bot does not know its own name',
  'no-read:notification':
    'lacks the scope read:notification, without which nobody is notified of comments and merges',
  'public-only':
    'is limited to public repositories (public-only), so nobody is notified of comments and merges: make one without that limit',
};

export interface AccountRules {
  /** False: an answer shows only the problem that its call was refused for. */
  readonly showsAllProblems: boolean;
  /**
   * What an answer tells about the token that went with the request; null: nothing.
   * @param now milliseconds since 1970.
   */
  tokenProblems(token: string, answer: HostAnswer, now: number): readonly TokenProblem[] | null;
}
