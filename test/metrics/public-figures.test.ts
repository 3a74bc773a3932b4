/** Figures that everybody may read tell nobody's upload. */
import { expect, it } from 'vitest';
import { Isolate } from '../../src/metrics/isolate.ts';
import { PublicFigures } from '../../src/metrics/public-figures.ts';

const MiB = 1024 * 1024;
const MINUTE_MS = 60_000;

/**
 * An isolate that reads uploads of these sizes, one a minute; and what a spy reads before and after
 * each.
 */
function read(...uploads: readonly number[]) {
  const [isolate, shown] = [new Isolate(), new PublicFigures()];
  isolate.requestStarted(0);
  let now = 0;
  const ask = () => shown.of(isolate.figures(now), now);
  return [
    ask(),
    ...uploads.map((bytes) => {
      isolate.buffered(new ArrayBuffer(bytes));
      now += MINUTE_MS;
      return ask();
    }),
  ];
}

it('are rounded up to 16 MiB, and never 0', () => {
  const figures = read(1, 16 * MiB - 1, 1, 15 * MiB);
  expect(figures.map(({ bufferedBytes }) => bufferedBytes / MiB)).toEqual([16, 16, 16, 32, 32]);
  expect(figures.map(({ bufferedBytesEver }) => bufferedBytesEver / MiB)).toEqual([16, 16, 16, 32, 32]);
});

it('are the same for uploads of 10 bytes and of 10 MiB', () => {
  const [small, large] = [read(10), read(10 * MiB)];
  expect(small).toEqual(large);
});

it('move once a minute, but for the uptime', () => {
  const [isolate, shown] = [new Isolate(), new PublicFigures()];
  isolate.requestStarted(0);
  const before = shown.of(isolate.figures(1_000), 1_000);
  isolate.buffered(new ArrayBuffer(40 * MiB));
  for (let other = 0; other < 30; other++) isolate.requestStarted(2_000);
  expect(shown.of(isolate.figures(59_999), 59_999)).toEqual({ ...before, uptimeMs: 59_999 });
  const after = shown.of(isolate.figures(60_000), 60_000);
  expect(after).toMatchObject({ bufferedBytes: 48 * MiB, requestsInFlight: 30 });
});

it('count at least one request, and else in tens', () => {
  const isolate = new Isolate();
  const shown = () => new PublicFigures().of(isolate.figures(0), 0).requestsInFlight;
  const counts = Array.from({ length: 16 }, () => (isolate.requestStarted(0), shown()));
  expect(counts).toEqual([1, 1, 1, 1, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 20, 20]);
});

it('never show fewer bytes in all than before', () => {
  const shown = new PublicFigures();
  const figures = { ...new Isolate().figures(0), bufferedBytesEver: 40 * MiB };
  shown.of(figures, 0);
  const later = shown.of({ ...figures, bufferedBytesEver: 0 }, MINUTE_MS);
  expect(later.bufferedBytesEver).toBe(48 * MiB);
});
