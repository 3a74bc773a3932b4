import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hasForgotten,
  MOST_PULL_REQUESTS,
  NO_PLACES,
  type Places,
  release,
  reserve,
} from '../../src/limits/places.ts';
import { runs } from '../support/runs.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START = 1_800_000_000_000;
/** Publishing takes seconds, and a minute or two where a fork has to be made. */
const LONGEST_MS = 2 * MINUTE_MS;

type End = 'opened' | 'failed' | 'died';

interface PlannedPush {
  readonly afterMs: number;
  readonly takesMs: number;
  readonly end: End;
}

const plannedPush = fc.record({
  afterMs: fc.oneof(fc.nat(2 * MINUTE_MS), fc.nat(20 * MINUTE_MS)),
  takesMs: fc.oneof(fc.nat(5000), fc.nat(LONGEST_MS)),
  end: fc.constantFrom<End>('opened', 'opened', 'failed', 'died'),
});

/** Pushes as they overlap: each begins, and those that are let in end in their way. */
function run(plan: readonly PlannedPush[]) {
  const opened: number[] = [];
  const alerts: number[] = [];
  const refusals: { at: number; taken: number; attempts: number }[] = [];
  const lives: { from: number; to: number }[] = [];
  let places: Places = NO_PLACES;
  let begin = START;
  const steps = plan.flatMap(({ afterMs, takesMs, end }, index) => {
    begin += afterMs;
    return [
      { at: begin, kind: 'begin' as const, key: `${index}`, end },
      { at: begin + takesMs, kind: 'end' as const, key: `${index}`, end },
    ];
  });
  const letIn = new Map<string, { from: number; to: number }>();
  for (const { at, kind, key, end } of steps.toSorted((a, b) => a.at - b.at)) {
    if (kind === 'begin') {
      const after = reserve(places, key, MOST_PULL_REQUESTS, at);
      ({ places } = after);
      const { isReserved, isAlertDue, attempts } = after.reservation;
      if (isAlertDue) alerts.push(at);
      const taken = lives.filter(({ from, to }) => from <= at && at < to).length;
      if (!isReserved) refusals.push({ at, taken, attempts });
      else {
        const life = { from: at, to: at + HOUR_MS };
        lives.push(life);
        letIn.set(key, life);
      }
      continue;
    }
    const life = letIn.get(key);
    if (life === undefined || end === 'died') continue;
    if (end === 'opened') opened.push(at);
    else {
      places = release(places, key, at);
      life.to = at;
    }
  }
  return { opened, alerts, refusals };
}

describe('the places of one address', () => {
  it('never let a sixth pull request through within an hour, and refuse none without need', () => {
    fc.assert(
      fc.property(fc.array(plannedPush, { maxLength: 80 }), (plan) => {
        const { opened, refusals } = run(plan);
        for (const from of opened) {
          const within = opened.filter((at) => at >= from && at < from + HOUR_MS - LONGEST_MS);
          expect(within.length).toBeLessThanOrEqual(MOST_PULL_REQUESTS);
        }
        for (const { taken, attempts } of refusals) {
          expect(taken).toBe(MOST_PULL_REQUESTS);
          expect(attempts).toBeGreaterThan(MOST_PULL_REQUESTS);
        }
      }),
      runs(300),
    );
  });

  it('alert at the first refusal, and then once an hour', () => {
    fc.assert(
      fc.property(fc.array(plannedPush, { minLength: 10, maxLength: 80 }), (plan) => {
        const { alerts, refusals } = run(plan);
        expect(alerts[0]).toBe(refusals[0]?.at);
        for (const { at } of refusals) {
          expect(alerts.filter((alert) => alert <= at && at < alert + HOUR_MS)).toHaveLength(1);
        }
      }),
      runs(200),
    );
  });

  it('count the refusals since a place was last given', () => {
    let places: Places = NO_PLACES;
    for (const key of ['a', 'b', 'c', 'd', 'e'])
      ({ places } = reserve(places, key, MOST_PULL_REQUESTS, START));
    const attempts: number[] = [];
    for (const key of ['f', 'g', 'h']) {
      const after = reserve(places, key, MOST_PULL_REQUESTS, START);
      ({ places } = after);
      attempts.push(after.reservation.attempts);
    }
    expect(attempts).toEqual([6, 7, 8]);
    places = release(places, 'a', START);
    expect(reserve(places, 'i', MOST_PULL_REQUESTS, START).reservation).toEqual({
      isReserved: true,
      isShared: false,
      attempts: 5,
      isAlertDue: false,
      full: { holders: ['b', 'c', 'd', 'e', 'i'], waitMs: 3_600_000 },
    });
  });

  it('belong to a push: one that is repeated shares its own, unless it is to open another pull request', () => {
    let places: Places = NO_PLACES;
    for (const key of ['a', 'b', 'c', 'd']) ({ places } = reserve(places, key, MOST_PULL_REQUESTS, START));
    const again = reserve(places, 'd', MOST_PULL_REQUESTS, START);
    expect(again.reservation).toMatchObject({ isReserved: true, isShared: true });
    expect(again.places.held).toHaveLength(4);
    const another = reserve(places, 'd', MOST_PULL_REQUESTS, START, true);
    expect(another.reservation).toMatchObject({ isReserved: true, isShared: false });
    ({ places } = another);
    expect(reserve(places, 'd', MOST_PULL_REQUESTS, START, true).reservation.isReserved).toBe(false);
    expect(reserve(places, 'd', MOST_PULL_REQUESTS, START).reservation.isReserved).toBe(true);
    // One of the two was not needed after all.
    expect(release(places, 'd', START).held).toHaveLength(4);
  });

  it('are kept as long as they count', () => {
    let places: Places = NO_PLACES;
    for (const [index, key] of ['a', 'b', 'c', 'd', 'e'].entries())
      ({ places } = reserve(places, key, MOST_PULL_REQUESTS, START + index));
    expect(hasForgotten(places, START + 4 + HOUR_MS - 1)).toBe(false);
    expect(hasForgotten(places, START + 4 + HOUR_MS)).toBe(true);
  });
});
