import { describe, expect, it } from 'vitest';
import {
  CALLS_PER_HOUR,
  LOOKS_PER_HOUR,
  type SpentCalls,
  afterOneMore,
} from '../../src/events/feed-cursor.ts';

const HOUR_MS = 60 * 60 * 1000;
const NOW = Date.UTC(2026, 0, 10, 12);

function taken(kind: 'calls' | 'looks', from: SpentCalls | null, now: number) {
  let spent = from;
  let count = 0;
  for (let next = afterOneMore(spent, kind, now); next !== null; next = afterOneMore(spent, kind, now)) {
    spent = next;
    count += 1;
  }
  return { spent, count };
}

describe('the calls of an hour', () => {
  it('come to an end, looks by themselves, and begin anew with the next hour', () => {
    const looks = taken('looks', null, NOW);
    expect(looks.count).toBe(LOOKS_PER_HOUR);
    const calls = taken('calls', looks.spent, NOW + HOUR_MS - 1);
    expect(calls.count).toBe(CALLS_PER_HOUR);
    expect(taken('looks', calls.spent, NOW + HOUR_MS).count).toBe(LOOKS_PER_HOUR);
  });

  it('are not given again within the hour', () => {
    const { spent } = taken('calls', null, NOW);
    expect(afterOneMore(spent, 'calls', NOW + 1)).toBeNull();
  });
});
