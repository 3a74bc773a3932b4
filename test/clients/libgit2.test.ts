import { libgit2 } from './libgit2/client.ts';
import { describeClient } from './support/matrix.ts';

describeClient(libgit2);
