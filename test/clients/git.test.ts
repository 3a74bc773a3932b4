import { git } from './git/client.ts';
import { describeClient } from './support/matrix.ts';

describeClient({ kind: 'ready', client: git });
