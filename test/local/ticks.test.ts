import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { everyTick } from '../../local/runtime/ticks.ts';

const TICK_MS = 5_000;
let end = (): void => {};

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  end();
  process.removeAllListeners('SIGUSR2');
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it('runs after each tick, at a signal, and no more at the end', () => {
  const run = vi.fn(async () => {});
  end = everyTick(TICK_MS, run, { startsNow: false });
  expect(run).toHaveBeenCalledTimes(0);
  vi.advanceTimersByTime(2 * TICK_MS);
  expect(run).toHaveBeenCalledTimes(2);
  process.emit('SIGUSR2');
  expect(run).toHaveBeenCalledTimes(3);
  end();
  vi.advanceTimersByTime(2 * TICK_MS);
  process.emit('SIGUSR2');
  expect(run).toHaveBeenCalledTimes(3);
});

it('runs at the start where that is wanted', () => {
  const run = vi.fn(async () => {});
  end = everyTick(TICK_MS, run, { startsNow: true });
  expect(run).toHaveBeenCalledTimes(1);
});

it('says what failed, and goes on', async () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const run = vi.fn(() => Promise.reject(new Error('no luck')));
  end = everyTick(TICK_MS, run, { startsNow: false });
  await vi.advanceTimersByTimeAsync(2 * TICK_MS);
  expect(run).toHaveBeenCalledTimes(2);
  expect(write).toHaveBeenCalledWith('gitveil: the scheduled run failed: Error: no luck\n');
});

it('is silent about a run that the end breaks off', async () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const broken = Promise.withResolvers<void>();
  end = everyTick(TICK_MS, () => broken.promise, { startsNow: false });
  await vi.advanceTimersByTimeAsync(TICK_MS);
  end();
  broken.reject(new Error('disposed'));
  await vi.advanceTimersByTimeAsync(TICK_MS);
  expect(write).not.toHaveBeenCalled();
});
