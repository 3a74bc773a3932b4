/** What the operator and the request decide about a push. */
import type { GitClient } from '../git/wire/git-client.ts';
import type { RepositoryName } from '../repository-name.ts';

export interface PushSettings {
  readonly anonEmail: string;
  readonly maxRepositoryMb: number;
  readonly writeTimeoutMs: number;
  readonly notifyBaseUrl: string;
  readonly prUpdatePolicy: 'hash' | 'key';
  /** How long a push waits unless it says otherwise, in milliseconds; 0: not at all. */
  readonly publishDelayMs: number;
  /** What to do with a push that the host does not take now. */
  readonly whenBusy: 'refuse' | 'hold';
  /** Which pushes wait until the operator has seen them. */
  readonly review: 'off' | 'new' | 'all';
  /** What to do when the author's name would become public. */
  readonly identityCheck: 'refuse' | 'warn' | 'off';
  /** The client of the person who pushes. */
  readonly client: GitClient;
  /** What pull requests end with if the repository's policy asks for it. */
  readonly pullRequestFooter: string;
  /** Address of the code host. */
  readonly hostUrl: string;
  /** The address to push to, for the commands in messages. */
  remoteUrl(repository: RepositoryName): string;
  /** The same as what is published may name it. */
  publishedUrl(repository: RepositoryName): string;
  /** The form of an issue. */
  issueFormUrl(repository: RepositoryName): string;
  /** The page of a pull request. */
  pageUrl(prHash: string): string;
  /** A new pr_hash. */
  newPrHash(): string;
  /** A new pr-key: 32 hex characters. */
  newPrKey(): string;
}
