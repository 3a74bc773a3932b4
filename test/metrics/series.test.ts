import { describe, expect, it } from 'vitest';
import { CountSheet, expose } from '../../src/metrics/series.ts';

const ISOLATE = {
  bufferedBytes: 262144,
  bufferedBytesEver: 524288,
  memoryLimitBytes: 134217728,
  collections: 3,
  requestsInFlight: 1,
  uptimeMs: 61500,
};

/** Adds up what two isolates have counted. */
function counted(): CountSheet {
  const [one, other, sum] = [new CountSheet(), new CountSheet(), new CountSheet()];
  one.increment('gitveil_pushes_total', { outcome: 'opened' });
  one.observe('gitveil_push_duration_seconds', { outcome: 'opened' }, 2);
  other.increment('gitveil_pushes_total', { outcome: 'opened' });
  other.increment('gitveil_pushes_total', { outcome: 'a "quoted\\odd"\nname' });
  other.observe('gitveil_push_duration_seconds', { outcome: 'opened' }, 500);
  sum.addAll(other.counts());
  sum.addAll(one.counts());
  return sum;
}

const linesOf = (text: string, beginning: string) =>
  text.split('\n').filter((line) => line.startsWith(beginning));

describe('counts of several isolates', () => {
  it('add up, in buckets that each hold what the smaller ones hold', () => {
    const text = expose(counted().counts(), [], ISOLATE);
    expect(linesOf(text, 'gitveil_push')).toEqual([
      String.raw`gitveil_pushes_total{outcome="a \"quoted\\odd\"\nname"} 1`,
      'gitveil_pushes_total{outcome="opened"} 2',
      ...[0.5, 1].map((bound) => `gitveil_push_duration_seconds_bucket{outcome="opened",le="${bound}"} 0`),
      ...[2.5, 5, 10, 20, 30, 60, 120, 300].map(
        (bound) => `gitveil_push_duration_seconds_bucket{outcome="opened",le="${bound}"} 1`,
      ),
      'gitveil_push_duration_seconds_bucket{outcome="opened",le="+Inf"} 2',
      'gitveil_push_duration_seconds_sum{outcome="opened"} 502',
      'gitveil_push_duration_seconds_count{outcome="opened"} 2',
    ]);
  });

  it('stand beside what the isolate says of itself', () => {
    const text = expose({}, [], ISOLATE);
    expect(text).toContain('\ngitveil_isolate_uptime_seconds 61.5\n');
    expect(text).toContain(
      '\n# TYPE gitveil_isolate_collections_total counter\ngitveil_isolate_collections_total 3\n',
    );
    expect(text).toMatch(/\n$/);
  });

  it('leave out what an earlier version has counted and this one does not know', () => {
    expect(expose({ 'gitveil_gone_total{}': 1 }, [], ISOLATE)).not.toContain('gone');
  });
});
