/** How much of a person's office hours the times of publication still show. */
import { DAY_MINUTES, type Density, published, type Window } from './anonymity.ts';

/** How often people push in each hour of their own day. An assumption: office hours, evenings, few at night. */
const HOURS = [
  0.3, 0.2, 0.1, 0.1, 0.1, 0.2, 0.4, 0.8, 1.4, 2, 2.2, 2.2, 1.7, 2, 2.2, 2.2, 2, 1.6, 1.2, 1, 1, 0.9, 0.7,
  0.5,
];
const ZONES = 24;

/** Where people live: hours east of UTC and their share. An assumption. */
const CROWD = [
  { east: -5, share: 0.4 },
  { east: 1, share: 0.35 },
  { east: 8, share: 0.25 },
];

/** When one person uploads, by that person's own clock. */
export function ownDay(): Density {
  const total = HOURS.reduce((sum, weight) => sum + weight, 0) * 60;
  return Array.from(
    { length: DAY_MINUTES },
    (_, minute) => (HOURS[Math.floor(minute / 60)] as number) / total,
  );
}

/** When everybody uploads, in UTC. */
export function crowdDay(): Density {
  const own = ownDay();
  return own.map((_, minute) =>
    CROWD.reduce((sum, { east, share }) => sum + share * shifted(own, minute, east), 0),
  );
}

function shifted(density: Density, minute: number, hours: number): number {
  return density[(minute + hours * 60 + 2 * DAY_MINUTES) % DAY_MINUTES] as number;
}

/** Densities this close are equal: rounding must not look like knowledge. */
const SAME = 1e-9;

/**
 * The probability that the best guess of a time zone, one of 24 equally likely ones, is right after so many times of
 * publication of one person. Equally likely zones share the guess. Sampled with `random`.
 */
export function zoneGuess(window: Window, times: number, rounds: number, random: () => number): number {
  const density = published(ownDay(), window);
  const logarithms = density.map((share) => Math.log(share));
  let right = 0;
  for (let round = 0; round < rounds; round++) {
    const scores = Array.from({ length: ZONES }, () => 0);
    for (let time = 0; time < times; time++) {
      const minute = draw(density, random());
      for (let zone = 0; zone < ZONES; zone++)
        scores[zone] = (scores[zone] as number) + shifted(logarithms, minute, zone);
    }
    const best = Math.max(...scores);
    const winners = scores.filter((score) => score > best - SAME).length;
    // By symmetry the true zone may always be the first.
    if ((scores[0] as number) > best - SAME) right += 1 / winners;
  }
  return right / rounds;
}

function draw(density: Density, part: number): number {
  let sum = 0;
  for (let minute = 0; minute < density.length; minute++) {
    sum += density[minute] as number;
    if (part < sum) return minute;
  }
  return density.length - 1;
}
