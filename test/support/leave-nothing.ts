/**
 * Test files in workerd share an isolate, so each leaves mocks, the clock, storage and the isolate's memory as it found
 * them.
 */
import { afterAll, beforeAll, vi } from 'vitest';
import { forgetEverything } from '../../src/isolate/recent.ts';
import { deleteObjects } from './all-objects.ts';

let startedAt = 0;

beforeAll(() => {
  startedAt = Date.now();
  // What the file before has left running may have remembered something since.
  forgetEverything();
});

afterAll(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await deleteObjects(startedAt);
  forgetEverything();
});
