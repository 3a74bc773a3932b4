/**
 * Searches a stream of bytes for many patterns at once: one table look-up for each byte, for any number of patterns.
 *
 * A pattern is a row of byte classes, so that upper and lower case, or a blank and a dash, are the same to it. All
 * patterns become one deterministic automaton (subset construction over Aho-Corasick's idea). Cost of building it: its
 * states times 256; it has about as many states as the patterns have bytes.
 */

/** The bytes that may stand at one place of a pattern. */
export type ByteClass = readonly number[];
export type BytePattern = readonly ByteClass[];

/** Limit for all patterns together, so that the table takes a few megabytes at most. */
export const MAX_PATTERN_BYTES = 2_048;

const BYTE_VALUES = 256;
const NO_HIT = -1;

/** How far one pattern has matched. */
interface Progress {
  readonly pattern: number;
  readonly matched: number;
}

export class ByteSearch {
  /** The next state for each state and byte. */
  readonly #next: Uint16Array;
  /** For each state, the pattern that has just ended; NO_HIT: none. */
  readonly #hits: Int32Array;
  #state = 0;

  /** @param patterns none of them empty. @throws RangeError over MAX_PATTERN_BYTES. */
  constructor(patterns: readonly BytePattern[]) {
    const length = patterns.reduce((sum, pattern) => sum + pattern.length, 0);
    if (length > MAX_PATTERN_BYTES) throw new RangeError('too many patterns');
    const builder = new AutomatonBuilder(patterns);
    const states = builder.build();
    this.#next = new Uint16Array(states.length * BYTE_VALUES);
    this.#hits = new Int32Array(states.length);
    for (const [index, { row, hit }] of states.entries()) {
      this.#next.set(row, index * BYTE_VALUES);
      this.#hits[index] = hit;
    }
  }

  /** Call it if the next bytes do not follow the earlier ones. */
  reset(): void {
    this.#state = 0;
  }

  /**
   * Continues in `bytes[start..end)`. Answers the index after the next hit, or -1. A pattern may begin in bytes of an
   * earlier call.
   */
  find(bytes: Uint8Array, start: number, end: number): number {
    const next = this.#next;
    const hits = this.#hits;
    let state = this.#state;
    for (let at = start; at < end; at++) {
      state = next[(state << 8) | bytes[at]!]!;
      if (hits[state]! >= 0) {
        this.#state = state;
        return at + 1;
      }
    }
    this.#state = state;
    return -1;
  }

  /** The pattern that was just found. */
  get found(): number {
    return this.#hits[this.#state] as number;
  }
}

interface State {
  readonly row: Uint16Array;
  readonly hit: number;
}

class AutomatonBuilder {
  readonly #patterns: readonly BytePattern[];
  readonly #states: State[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #waiting: Progress[][] = [];
  /** The state for every byte that continues no pattern. */
  readonly #starts: ReadonlyMap<number, readonly Progress[]>;

  constructor(patterns: readonly BytePattern[]) {
    this.#patterns = patterns;
    this.#starts = this.#steps(patterns.map((_, pattern) => ({ pattern, matched: 0 })));
  }

  build(): readonly State[] {
    this.#indexOf([]);
    for (let set = this.#waiting.shift(); set !== undefined; set = this.#waiting.shift()) {
      const row = new Uint16Array(BYTE_VALUES);
      const steps = this.#steps(set);
      for (const byte of new Set([...this.#starts.keys(), ...steps.keys()])) {
        row[byte] = this.#indexOf([...(steps.get(byte) ?? []), ...(this.#starts.get(byte) ?? [])]);
      }
      this.#states.push({ row, hit: this.#hitOf(set) });
    }
    return this.#states;
  }

  /** Which patterns continue with which byte. */
  #steps(set: readonly Progress[]): Map<number, Progress[]> {
    const steps = new Map<number, Progress[]>();
    for (const { pattern, matched } of set) {
      for (const byte of this.#patterns[pattern]?.[matched] ?? []) {
        const reached = steps.get(byte) ?? [];
        reached.push({ pattern, matched: matched + 1 });
        steps.set(byte, reached);
      }
    }
    return steps;
  }

  /** The longest pattern that ends here. */
  #hitOf(set: readonly Progress[]): number {
    const ended = set.filter(({ pattern, matched }) => matched === this.#patterns[pattern]?.length);
    return ended.toSorted((a, b) => b.matched - a.matched)[0]?.pattern ?? NO_HIT;
  }

  #indexOf(set: readonly Progress[]): number {
    const unique = new Map(set.map((progress) => [`${progress.pattern}:${progress.matched}`, progress]));
    const key = [...unique.keys()].toSorted().join();
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const index = this.#indexes.size;
    this.#indexes.set(key, index);
    this.#waiting.push([...unique.values()]);
    return index;
  }
}
