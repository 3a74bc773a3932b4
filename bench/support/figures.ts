/** Repeats measurements, takes their medians, and makes rows of them. */

/**
 * One line of the table, and one object of the JSON file. The goal is met when `ratio` is at most
 * `goal`.
 */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly reference: number;
  /** `value / reference`. */
  readonly ratio: number;
  /** `null`: a figure without a goal. */
  readonly goal: number | null;
  readonly ok: boolean;
  readonly unit: string;
  readonly note: string;
}

export interface Measured {
  readonly name: string;
  readonly value: number;
  readonly reference: number;
  readonly goal: number | null;
  readonly unit: string;
  readonly note?: string;
}

export function row({ note = '', ...measured }: Measured): Row {
  const ratio = measured.value / measured.reference;
  return { ...measured, ratio, ok: measured.goal === null || ratio <= measured.goal, note };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}

/**
 * Measures several things in turn, `rounds` times, and answers each one's median.
 *
 * Taking turns, in alternating order, spreads other load of the machine over all of them. A first
 * round does not count; it warms up caches and compilers. Leave it out with `warmUp: false` if each
 * measurement starts afresh.
 */
export async function medians<Name extends string>(
  rounds: number,
  measurements: Readonly<Record<Name, (round: number) => Promise<number>>>,
  { warmUp = true } = {},
): Promise<Record<Name, number>> {
  const names = Object.keys(measurements) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = warmUp ? 0 : 1; round <= rounds; round++) {
    for (const name of round % 2 === 1 ? names : names.toReversed()) {
      const value = await measurements[name](round);
      if (round > 0) values[name].push(value);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(values[name])])) as Record<Name, number>;
}
