import { jgit } from './jgit/client.ts';
import { describeClient } from './support/matrix.ts';

describeClient(jgit);
