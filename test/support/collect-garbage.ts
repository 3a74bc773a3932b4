/**
 * Test files that share a process leave garbage, which V8 lets grow to hundreds of megabytes. Collected after each file,
 * it keeps the process small: starting a program copies its page tables.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll } from 'vitest';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

afterAll(collectGarbage);
