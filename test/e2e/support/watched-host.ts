/** Code hosts as tests see them: the embedded one, or a real one behind a proxy that records. */
import type { Sandbox } from '../../../sandbox/sandbox.ts';

export interface WatchedHost extends Pick<
  Sandbox,
  'apiUrl' | 'botToken' | 'botLogin' | 'captured' | 'repositoryPath'
> {
  /** A push to upstream opens the pull request: the bot has no forks. */
  readonly isAgit?: true;
}
