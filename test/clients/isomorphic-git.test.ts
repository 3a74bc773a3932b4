import { describe } from 'vitest';
import { exhaustive } from '../support/exhaustive.ts';
import { client } from './isomorphic-git/client.ts';
import { describeClient } from './support/matrix.ts';

describe('the one client that is a package', exhaustive, () => describeClient({ kind: 'ready', client }));
