/**
 * Test files in workerd share an isolate, so each leaves mocks, the clock, storage and the
 * isolate's memory as it found them. What its objects have stored must be in docs/storage.md.
 */
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { forgetEverything } from '../../src/isolate/recent.ts';
import { deleteObjects } from './all-objects.ts';
import { documented, lacksOf } from './storage-document.ts';
import { storedByObjects } from './stored.ts';

let startedAt = 0;

beforeAll(() => {
  startedAt = Date.now();
  // What the file before has left running may have remembered something since.
  forgetEverything();
});

afterAll(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  const lacks = lacksOf(await storedByObjects(), documented());
  await deleteObjects(startedAt);
  forgetEverything();
  expect(lacks).toEqual([]);
});
