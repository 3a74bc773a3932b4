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
  /** Forgejo and Gitea: without it there are no forks and no pull requests. */
  | 'no-write:repository'
  /** Forgejo and Gitea: without it there are no comments, issues, and changed pull requests. */
  | 'no-write:issue'
  /** Forgejo and Gitea: without it the bot does not know its own name. */
  | 'no-read:user'
  /** Forgejo and Gitea: without it nobody hears what became of a pull request. */
  | 'no-read:notification'
  /** Forgejo and Gitea: it is limited to public repositories, and Gitea 1.27.3 refuses it the notifications. */
  | 'public-only';

export interface AccountRules {
  /** False: an answer shows only the problem that its call was refused for. */
  readonly showsAllProblems: boolean;
  /**
   * What an answer tells about the token that went with the request; null: nothing.
   * @param now milliseconds since 1970.
   */
  tokenProblems(token: string, answer: HostAnswer, now: number): readonly TokenProblem[] | null;
}
