/**
 * Each run of `npm test` gives properties the same inputs: what only a rare one finds, `npm run
 * fuzz` finds, and the run of somebody else does not fail for it.
 */
import * as fc from 'fast-check';
import { inject } from 'vitest';

fc.configureGlobal({ seed: inject('fuzz').seed ?? 1 });
