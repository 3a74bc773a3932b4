/**
 * Which delayed pushes are published now: fair among clients, within what a run may hold, and
 * spaced while few are due.
 */
import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_AT_ONCE, pick, SPACING_MS } from '../../../src/durable/delayed-pushes/schedule.ts';

type Waiting = Parameters<typeof pick>[0][number];

const NOW = 1_800_000_000_000;
const NOTHING_RUNS = { running: [], spacedUntil: 0 };

const ofBytes = (bytes: number): Waiting['spool'] => ({ attempt: '', rowEnds: [bytes] });

type More = Partial<Waiting> & { readonly dueAt?: number };

const waiting = (name: string, { dueAt = NOW, ...more }: More = {}): Waiting => ({
  name,
  client: name,
  reason: 'delay',
  spool: ofBytes(1_000),
  commits: 1,
  stage: { dueAt },
  ...more,
});

const many = (count: number, more: More = {}): Waiting[] =>
  Array.from({ length: count }, (_, index) =>
    waiting(`push-${index}`, { dueAt: NOW - count + index, ...more }),
  );

const hashes = (picked: readonly Waiting[]): string[] => picked.map(({ name }) => name);

describe('the pushes that are due', () => {
  it('are published one at a time while they are few', () => {
    expect(hashes(pick(many(3), NOTHING_RUNS, NOW))).toEqual(['push-0']);
    const spaced = { running: [], spacedUntil: NOW + SPACING_MS };
    expect(pick(many(3), spaced, NOW)).toEqual([]);
    expect(hashes(pick(many(3), spaced, NOW + SPACING_MS))).toEqual(['push-0']);
  });

  it('are published without a pause when they are many', () => {
    const spaced = { running: [], spacedUntil: NOW + SPACING_MS };
    expect(pick(many(6), spaced, NOW)).toHaveLength(MOST_AT_ONCE);
  });

  it('wait for nothing if they only wait for the code host', () => {
    const spaced = { running: [], spacedUntil: NOW + SPACING_MS };
    expect(pick(many(2, { reason: 'busy' }), spaced, NOW)).toHaveLength(2);
  });

  it('do not stand still because a clock was set back', () => {
    expect(pick(many(1), { running: [], spacedUntil: NOW + 3 * SPACING_MS }, NOW)).toHaveLength(1);
  });

  it('of another client come before the second one of anybody', () => {
    const greedy = many(10, { client: 'greedy', reason: 'busy' });
    const late = waiting('late', { client: 'modest', reason: 'busy' });
    expect(hashes(pick([...greedy, late], NOTHING_RUNS, NOW)).slice(0, 2)).toEqual(['push-0', 'late']);
  });

  it('are published alone if they are large, and nobody passes them', () => {
    const large = waiting('large', { spool: ofBytes(100_000_000), reason: 'busy', dueAt: NOW - 1 });
    const small = waiting('small', { reason: 'busy' });
    expect(hashes(pick([small, large], NOTHING_RUNS, NOW))).toEqual(['large']);
    expect(pick([large, small], { running: [small], spacedUntil: 0 }, NOW)).toEqual([]);
  });

  it('are picked once each, within the bounds, and one of them always if nothing runs', () => {
    const any = array(
      record({
        client: constantFrom('a', 'b', 'c'),
        reason: constantFrom<Waiting['reason']>('delay', 'busy', 'review'),
        bytes: integer({ min: 0, max: 120_000_000 }),
        commits: integer({ min: 1, max: 25_000 }),
        stage: record({ dueAt: integer({ min: NOW - 10_000, max: NOW }) }),
      }),
      { maxLength: 12 },
    );
    assert(
      property(any, (rows) => {
        const due = rows.map((row, index) => ({ ...row, spool: ofBytes(row.bytes), name: String(index) }));
        const picked = pick(due, NOTHING_RUNS, NOW);
        expect(new Set(hashes(picked)).size).toBe(picked.length);
        expect(picked.length).toBeLessThanOrEqual(MOST_AT_ONCE);
        if (picked.length > 1) {
          expect(picked.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(100_000_000);
          expect(picked.reduce((sum, { commits }) => sum + commits, 0)).toBeLessThanOrEqual(20_000);
        }
        if (due.length > 0) expect(picked.length).toBeGreaterThan(0);
      }),
    );
  });
});
