/** What a push takes besides what waits: by what has arrived. */
import { expect, it } from 'vitest';
import { bufferBytes } from '../../src/push/push-memory.ts';

const KiB = 1024;

it.each([
  [0, 256],
  [16, 320],
  [448, 2048],
  [100 * 1024, 2048],
])('a push of which %i KiB have arrived takes %i KiB for its buffers', (arrived, taken) => {
  expect(bufferBytes(arrived * KiB)).toBe(taken * KiB);
});
