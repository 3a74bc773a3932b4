/**
 * Test files in workerd share an isolate, so each leaves mocks, the clock, storage and the isolate's memory as it found
 * them.
 */
import { reset } from 'cloudflare:test';
import { afterAll, beforeAll, vi } from 'vitest';
import { forgetEverything } from '../../src/isolate/recent.ts';

/** What the file before has left running may have remembered something since. */
beforeAll(forgetEverything);

afterAll(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await reset();
  forgetEverything();
});
