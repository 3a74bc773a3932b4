/** What tests see of a code host: the embedded one, or a real one behind a proxy that records. */
import type { Sandbox } from '../../../sandbox/sandbox.ts';

export type WatchedHost = Pick<Sandbox, 'apiUrl' | 'botToken' | 'botLogin' | 'captured' | 'repositoryPath'>;
