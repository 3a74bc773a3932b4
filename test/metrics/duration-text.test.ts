import { expect, it } from 'vitest';
import { durationText } from '../../src/metrics/isolate.ts';

it.each([
  [0, '0s'],
  [0.4, '0s'],
  [850, '850ms'],
  [999.6, '1s'],
  [1000, '1s'],
  [15_200, '15.2s'],
  [59_999.7, '1m0s'],
  [60_000, '1m0s'],
  [3_600_000, '1h0m0s'],
  [15_795_200, '4h23m15.2s'],
  [100 * 3_600_000 + 50, '100h0m0.05s'],
])('writes %d ms as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
