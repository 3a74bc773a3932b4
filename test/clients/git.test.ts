import { git, oldGit } from './git/client.ts';
import { describeClient } from './support/matrix.ts';

describeClient({ kind: 'ready', client: git });
describeClient(oldGit);
