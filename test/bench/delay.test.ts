/** The figures of docs/delay.md: closed forms and brute force beside what the simulation computes. */
import { describe, expect, it } from 'vitest';
import {
  crowdFor,
  DAY_MINUTES,
  guessAmong,
  massBetween,
  published,
  quantile,
  requestsOfUpload,
  uploadsOfRequest,
  windowOf,
} from '../../bench/delay/anonymity.ts';
import {
  alonePosterior,
  effectiveSize,
  exponential,
  exponentialPosterior,
  middleHalf,
  type Posterior,
  type Traffic,
  traffic,
  uniformPosterior,
} from '../../bench/delay/matching.ts';
import { picture } from '../../bench/delay/picture.ts';
import { crowdDay, ownDay, zoneGuess } from '../../bench/delay/rhythm.ts';
import { randomFrom } from '../../bench/support/random.ts';

const EVEN = Array.from({ length: DAY_MINUTES }, () => 1 / DAY_MINUTES);

describe('one pull request alone', () => {
  it('has an observer who is right as often as one candidate among 1 + Poisson allows', () => {
    const { chance, guess } = uploadsOfRequest(EVEN, windowOf(360), 20);
    const mean = chance.reduce((sum, part, size) => sum + part / size, 0);
    expect(guess).toBeCloseTo((1 - Math.exp(-5)) / 5, 9);
    expect(mean).toBeCloseTo(guess, 9);
    expect(guessAmong(0)).toBe(1);
  });

  it('has the same candidates in both directions when no hour differs from another', () => {
    const there = uploadsOfRequest(EVEN, windowOf(60), 500);
    const back = requestsOfUpload(EVEN, windowOf(60), 500);
    expect([0.1, 0.5].map((part) => quantile(there, part))).toEqual([16, 22]);
    expect(back.guess).toBeCloseTo(there.guess, 9);
  });

  it('agrees with a simulated crowd that keeps office hours', () => {
    const [day, window, perDay, days] = [crowdDay(), windowOf(60), 100, 60];
    const random = randomFrom(7);
    const byMinute = day.flatMap((share, minute) =>
      Array.from({ length: Math.round(share * 1e5) }, () => minute),
    );
    const uploads = Array.from(
      { length: perDay * days },
      () =>
        Math.floor(random() * days) * DAY_MINUTES +
        (byMinute[Math.floor(random() * byMinute.length)] as number) +
        random(),
    ).toSorted((a, b) => a - b);
    const requests = uploads.map((upload) => upload + 60 * (1 + random()));
    const { guess } = middleHalf(alonePosterior({ uploads, requests, truth: [] }, window));
    expect(Math.abs(guess - uploadsOfRequest(day, window, perDay).guess)).toBeLessThan(0.02);
  });

  it('needs a crowd that is just large enough', () => {
    const crowd = crowdFor(EVEN, windowOf(360), 10, 0.5);
    expect(quantile(uploadsOfRequest(EVEN, windowOf(360), crowd), 0.5)).toBe(10);
    expect(quantile(uploadsOfRequest(EVEN, windowOf(360), crowd - 1), 0.5)).toBe(9);
  });

  it('counts whole days and parts of them, also before the first', () => {
    const mass = massBetween(ownDay());
    expect(mass(-3 * DAY_MINUTES, 0)).toBeCloseTo(3, 9);
    expect(mass(-90.5, 600.25)).toBeCloseTo(mass(-90.5, 0) + mass(0, 600.25), 9);
  });
});

describe('all pull requests together', () => {
  it.each([1, 2, 3])('has the posterior of all assignments that uniform delays allow, seed %i', (seed) => {
    const random = randomFrom(seed);
    const window = { from: 3, to: 6 };
    const crowd = traffic(7, () => 3 * (1 + random()), random);
    const exact = byEnumeration(crowd, (delay) => delay >= window.from && delay <= window.to);
    expect(distance(uniformPosterior(crowd, window, 20_000, random), exact)).toBeLessThan(0.03);
  });

  it.each([1, 2, 3])(
    'has the posterior of all assignments that exponential delays allow, seed %i',
    (seed) => {
      const random = randomFrom(seed);
      const crowd = traffic(7, () => exponential(3, random), random);
      expect(
        distance(
          exponentialPosterior(crowd),
          byEnumeration(crowd, (delay) => delay >= 0),
        ),
      ).toBeLessThan(1e-9);
    },
  );

  it('gives an exponential delay of the same mean about four times the set of a uniform one', () => {
    const random = randomFrom(5);
    const crowd = traffic(2000, () => exponential(15, random), random);
    expect(middleHalf(exponentialPosterior(crowd)).size / 11).toBeGreaterThan(3);
  });

  it('measures equal chances by their number, and certainty as one', () => {
    expect(effectiveSize(new Map([0, 1, 2, 3].map((upload) => [upload, 0.25])))).toBeCloseTo(4, 9);
    expect(effectiveSize(new Map([[9, 1]]))).toBe(1);
  });
});

describe('office hours', () => {
  it('vanish when the window of publication is whole days long', () => {
    const shares = published(ownDay(), windowOf(2 * DAY_MINUTES));
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThan(1e-12);
    expect(zoneGuess(windowOf(DAY_MINUTES), 10, 200, randomFrom(1))).toBeCloseTo(1 / 24, 9);
  });

  it('remain with a short delay, and add up over publications', () => {
    const [one, ten] = [1, 10].map((times) => zoneGuess(windowOf(60), times, 4000, randomFrom(1)));
    expect(one).toBeGreaterThan(1.5 / 24);
    expect(ten).toBeGreaterThan(5 / 24);
  });
});

it('draws one curve for each line, in colours for a light and a dark page', () => {
  const drawn = picture(
    [
      {
        name: '1h',
        points: [
          { x: 1, y: 1 },
          { x: 2000, y: 10_000 },
        ],
      },
    ],
    10,
  );
  expect(drawn).toContain('M70 360L640 45');
  expect(drawn).toContain('prefers-color-scheme: dark');
});

function byEnumeration({ uploads, requests }: Traffic, possible: (delay: number) => boolean): Posterior {
  const counts = requests.map(() => new Map<number, number>());
  let total = 0;
  const assign = (chosen: readonly number[]): void => {
    if (chosen.length === requests.length) {
      total += 1;
      for (const [request, upload] of chosen.entries())
        counts[request]?.set(upload, (counts[request].get(upload) ?? 0) + 1);
      return;
    }
    for (const [upload, time] of uploads.entries())
      if (!chosen.includes(upload) && possible((requests[chosen.length] as number) - time))
        assign([...chosen, upload]);
  };
  assign([]);
  return counts.map((row) => new Map(Array.from(row, ([upload, count]) => [upload, count / total])));
}

function distance(one: Posterior, other: Posterior): number {
  return Math.max(
    ...one.flatMap((row, request) =>
      [...row.keys(), ...(other[request] as ReadonlyMap<number, number>).keys()].map((upload) =>
        Math.abs((row.get(upload) ?? 0) - (other[request]?.get(upload) ?? 0)),
      ),
    ),
  );
}
