/** One push on its way, as every part of its story needs it. */
import type { Logger } from '../log.ts';
import type { HostSteps } from './host-steps.ts';
import type { PushHost } from './push-host.ts';
import type { Reply } from './reply.ts';

export interface PushRun {
  readonly host: PushHost;
  /** What the person is told. */
  readonly reply: Reply;
  readonly steps: HostSteps;
  readonly logger: Logger;
}
