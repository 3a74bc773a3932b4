/**
 * How many uploads an observer of both sides must tell apart for one pull request.
 *
 * Uploads are a Poisson process whose rate follows the time of day. Each is published after a delay that is uniform in a
 * window, so that every upload inside the window before a pull request is an equally likely candidate: the effective
 * size of the anonymity set, 2^entropy, is the number of candidates. There is the true one, and beside it an independent
 * Poisson number of others (Slivnyak's theorem). The law of that number is computed, not sampled.
 *
 * One pull request is looked at alone. `matching.ts` says what the observer gains by looking at all of them at once.
 */

export const DAY_MINUTES = 1440;

/** The shortest and the longest delay, in minutes. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** What a push takes without a delay, as far as an observer of encrypted traffic can tell. An assumption. */
const UNDELAYED: Window = { from: 0, to: 0.5 };

/** The service draws the moment of publication uniformly between the delay and twice as much. */
export function windowOf(delayMinutes: number): Window {
  return delayMinutes === 0 ? UNDELAYED : { from: delayMinutes, to: 2 * delayMinutes };
}

/** The share of a day's events in each of its minutes. */
export type Density = readonly number[];

/** The share of a day's events between two moments in minutes, which may lie days apart and before zero. */
export function massBetween(density: Density): (from: number, to: number) => number {
  const sums = [0];
  for (const share of density) sums.push((sums.at(-1) as number) + share);
  const upTo = (moment: number): number => {
    const days = Math.floor(moment / DAY_MINUTES);
    const minute = moment - days * DAY_MINUTES;
    const whole = Math.floor(minute);
    return days + (sums[whole] as number) + (minute - whole) * (density[whole] as number);
  };
  return (from, to) => upTo(to) - upTo(from);
}

/** When pull requests appear, by the middle of each minute, when uploads come by `uploads`. */
export function published(uploads: Density, { from, to }: Window): Density {
  const mass = massBetween(uploads);
  const shares = uploads.map((_, minute) => mass(minute + 0.5 - to, minute + 0.5 - from));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/** The law of the number of candidates: `chance[k]` for k candidates. */
export interface Candidates {
  readonly chance: readonly number[];
  /** The probability that the best guess is right: every candidate is as likely as the others. */
  readonly guess: number;
}

/** The uploads that may belong to a pull request. */
export function uploadsOfRequest(uploads: Density, window: Window, perDay: number): Candidates {
  const mass = massBetween(uploads);
  return candidates(
    published(uploads, window),
    (minute) => perDay * mass(minute - window.to, minute - window.from),
  );
}

/** The pull requests that may belong to an upload. */
export function requestsOfUpload(uploads: Density, window: Window, perDay: number): Candidates {
  const mass = massBetween(published(uploads, window));
  return candidates(uploads, (minute) => perDay * mass(minute + window.from, minute + window.to));
}

/** Each `STEP`th minute is enough: rates change by the hour. */
const STEP = 15;

function candidates(seen: Density, others: (minute: number) => number): Candidates {
  const mass = massBetween(seen);
  const chance: number[] = [];
  let guess = 0;
  for (let begin = 0; begin < DAY_MINUTES; begin += STEP) {
    const weight = mass(begin, begin + STEP);
    const mean = others(begin + STEP / 2);
    addPoisson(chance, mean, weight);
    guess += weight * guessAmong(mean);
  }
  return { chance, guess };
}

/** The mean of 1/(1 + N) for a Poisson N. */
export function guessAmong(mean: number): number {
  return mean === 0 ? 1 : -Math.expm1(-mean) / mean;
}

/** Adds the law of 1 + N for a Poisson N, as far as it counts. */
function addPoisson(chance: number[], mean: number, weight: number): void {
  const last = Math.ceil(mean + 10 * Math.sqrt(mean) + 20);
  let logarithm = -mean;
  for (let others = 0; others <= last; others++) {
    if (others > 0) logarithm += Math.log(mean / others);
    chance[others + 1] = (chance[others + 1] ?? 0) + weight * Math.exp(logarithm);
  }
}

/** The smallest number of candidates that at least `part` of all cases do not exceed. */
export function quantile({ chance }: Candidates, part: number): number {
  let sum = 0;
  for (let size = 1; size < chance.length; size++) {
    sum += chance[size] ?? 0;
    // The sum of a law that is computed ends a little below 1.
    if (sum >= part - 1e-9) return size;
  }
  return chance.length - 1;
}

/** The fewest pushes a day for which the `part` quantile of the uploads of a pull request is `size`. */
export function crowdFor(uploads: Density, window: Window, size: number, part: number): number {
  const enough = (perDay: number): boolean =>
    quantile(uploadsOfRequest(uploads, window, perDay), part) >= size;
  let high = 1;
  while (!enough(high)) high *= 2;
  let low = Math.floor(high / 2);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
}
