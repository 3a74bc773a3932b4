/** What every part of a push needs about it. */
import type { Logger } from '../log.ts';
import type { HostSteps } from './reply/host-steps.ts';
import type { PushHost } from './push-host.ts';
import type { Reply } from './reply/reply.ts';

export interface PushRun {
  readonly host: PushHost;
  /** The messages for the person. */
  readonly reply: Reply;
  readonly steps: HostSteps;
  readonly logger: Logger;
}
