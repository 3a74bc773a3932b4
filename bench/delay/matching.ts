/**
 * What an observer gains by looking at all uploads and all pull requests at once: no upload belongs to two of them.
 * A complete assignment of uploads to pull requests has the product of its delays' densities as its likelihood, and that
 * is the same for every possible assignment, both for uniform delays (constant density) and for exponential ones (the
 * sum of all delays is known). So the posterior is uniform over the possible assignments.
 */
import type { Window } from './anonymity.ts';

/** Ascending times of the uploads and of the pull requests, and which upload each pull request really is. */
export interface Traffic {
  readonly uploads: readonly number[];
  readonly requests: readonly number[];
  readonly truth: readonly number[];
}

/** `count` uploads, on average one a unit of time, each published after a delay from `delay`. */
export function traffic(count: number, delay: () => number, random: () => number): Traffic {
  const uploads: number[] = [];
  let now = 0;
  for (let upload = 0; upload < count; upload++) uploads.push((now += exponential(1, random)));
  const pairs = uploads
    .map((time, upload) => ({ upload, time: time + delay() }))
    .toSorted((a, b) => a.time - b.time);
  return { uploads, requests: pairs.map(({ time }) => time), truth: pairs.map(({ upload }) => upload) };
}

/** A draw from the exponential distribution of this mean. */
export function exponential(mean: number, random: () => number): number {
  return -mean * Math.log(1 - random());
}

/** For each pull request, the probability of each upload. Uploads that are not possible are left out. */
export type Posterior = readonly ReadonlyMap<number, number>[];

/** For uniform delays, when each pull request is looked at alone: every upload in its window is as likely. */
export function alonePosterior({ uploads, requests }: Traffic, { from, to }: Window): Posterior {
  return requests.map((time) => {
    const possible = uploads.flatMap((upload, index) =>
      time - upload >= from && time - upload <= to ? [index] : [],
    );
    return new Map(possible.map((index) => [index, 1 / possible.length]));
  });
}

/**
 * Exact for exponential delays: they have no memory, so each upload that still waits is as likely to be the next. This
 * is the argument of the stop-and-go mix and of Loopix.
 */
export function exponentialPosterior({ uploads, requests }: Traffic): Posterior {
  const waiting = new Map<number, number>();
  let next = 0;
  return requests.map((time, published) => {
    for (; next < uploads.length && (uploads[next] as number) <= time; next++) waiting.set(next, 1);
    const pool = next - published;
    const row = new Map<number, number>();
    for (const [upload, chance] of waiting) {
      row.set(upload, chance / pool);
      waiting.set(upload, chance * (1 - 1 / pool));
    }
    return row;
  });
}

/**
 * For delays that are uniform from `from` to `to`: a Markov chain over the possible assignments, which starts at the true
 * one, swaps the uploads of two pull requests where both stay possible, and counts what it sees after each sweep.
 */
export function uniformPosterior(
  { uploads, requests, truth }: Traffic,
  { from, to }: Window,
  sweeps: number,
  random: () => number,
): Posterior {
  const upload = [...truth];
  const seen = requests.map(() => new Map<number, number>());
  const possible = (request: number, candidate: number): boolean => {
    const delay = (requests[request] as number) - (uploads[candidate] as number);
    return delay >= from && delay <= to;
  };
  // Requests that can share a candidate are at most `to - from` apart; the uploads come one a unit of time.
  const reach = Math.ceil(1.5 * (to - from)) + 3;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (let one = 0; one < requests.length; one++) {
      const other = one + Math.floor(random() * (2 * reach + 1)) - reach;
      if (other < 0 || other >= requests.length) continue;
      const [mine, theirs] = [upload[one] as number, upload[other] as number];
      if (possible(one, theirs) && possible(other, mine)) [upload[one], upload[other]] = [theirs, mine];
    }
    upload.forEach((candidate, request) => {
      const row = seen[request] as Map<number, number>;
      row.set(candidate, (row.get(candidate) ?? 0) + 1 / sweeps);
    });
  }
  return seen;
}

/** 2^entropy, after Serjantov and Danezis (2002). */
export function effectiveSize(row: ReadonlyMap<number, number>): number {
  let entropy = 0;
  for (const chance of row.values()) if (chance > 0) entropy -= chance * Math.log2(chance);
  return 2 ** entropy;
}

/**
 * The median effective size and the mean best guess over the middle half, away from where the traffic begins and ends.
 * A posterior that was sampled needs a second sample as `judge`: the most frequent candidate of one looks too good in it.
 */
export function middleHalf(
  posterior: Posterior,
  judge: Posterior = posterior,
): { readonly size: number; readonly guess: number } {
  const begin = Math.floor(posterior.length / 4);
  const middle = posterior.slice(begin, 3 * begin);
  const sizes = middle.map(effectiveSize).toSorted((a, b) => a - b);
  const guesses = middle.map((row, index) => judge[begin + index]?.get(likeliest(row)) ?? 0);
  return {
    size: sizes[Math.floor(sizes.length / 2)] as number,
    guess: guesses.reduce((sum, guess) => sum + guess, 0) / guesses.length,
  };
}

function likeliest(row: ReadonlyMap<number, number>): number {
  return [...row].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
}
