import { goGit } from './go-git/client.ts';
import { describeClient } from './support/matrix.ts';

describeClient(goGit);
