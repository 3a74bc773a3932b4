/** What every part of a push needs about it. */
import type { Logger } from '../log.ts';
import type { Claims } from './claims.ts';
import type { RepositoryName } from '../repository-name.ts';
import type { PushHost } from './push-host.ts';
import type { HostSteps } from './reply/host-steps.ts';
import type { Reply } from './reply/reply.ts';
import type { PushSettings } from './push-host.ts';

export interface PushRun {
  readonly host: PushHost;
  readonly settings: PushSettings;
  /** The repository as the request names it. */
  readonly target: RepositoryName;
  /** What the push has locked. */
  readonly claims: Claims;
  /** The messages for the person. */
  readonly reply: Reply;
  readonly steps: HostSteps;
  readonly logger: Logger;
  /** For work that the answer does not wait for; the push ends after it. It must not reject. */
  beside(work: Promise<void>): void;
}
