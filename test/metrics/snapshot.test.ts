import { describe, expect, it } from 'vitest';
import { isCurrent, publicCounts, type Snapshot } from '../../src/metrics/snapshot.ts';

describe('publicCounts', () => {
  it('leaves out durations, and counts by route', () => {
    const shown = {
      'gitveil_pushes_total{outcome="accepted"}': 3,
      'gitveil_outgoing_requests_total{service="git",status="200"}': 4,
    };
    const counts = {
      ...shown,
      'gitveil_http_requests_total{method="GET",route="/health",status="200"}': 1,
      'gitveil_http_request_duration_seconds_sum{route="/health"}': 0.2,
      'gitveil_push_duration_seconds_sum{outcome="accepted"}': 4.321,
      'gitveil_push_duration_seconds_count{outcome="accepted"}': 3,
      'gitveil_push_duration_seconds_bucket{outcome="accepted",le="2.5"}': 3,
      'gitveil_of_an_older_version_total{a="b"}': 1,
    };
    expect(publicCounts(counts)).toEqual(shown);
  });
});

describe('a snapshot', () => {
  const at = 1_700_000_000_000;
  const taken: Snapshot = { takenAt: at } as Snapshot;
  const minute = 60_000;

  it.each([
    ['at once', at, true],
    ['a moment before 15 minutes', at + 15 * minute - 1, true],
    ['after 15 minutes', at + 15 * minute, false],
    ['by a clock that is behind', at - 5, true],
    ['after the clock was set back', at - 60 * minute, false],
  ])('%s', (_, now, isShown) => {
    expect(isCurrent(taken, now)).toBe(isShown);
  });
});
