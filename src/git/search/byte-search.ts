/**
 * Searches a stream of bytes for many patterns at once: one table look-up for each byte, for any number of patterns.
 *
 * A pattern is a row of byte classes, so that upper and lower case, or a blank and a dash, are the same to it. All
 * patterns become one deterministic automaton (subset construction over Aho-Corasick's idea). Cost of building it: its
 * states times 256; it has about as many states as the patterns have bytes.
 */

/** The bytes that may stand at one place of a pattern. */
export type ByteClass = readonly number[];

export interface BytePattern {
  readonly classes: readonly ByteClass[];
  /** Set if it may end before its last class: after at least so many classes, with this byte. */
  readonly earlyEnd?: { readonly after: number; readonly byte: number };
}

/** Limit for all patterns together, so that the table takes a few megabytes at most. */
export const MAX_PATTERN_BYTES = 4_096;

/**
 * Most patterns have about as many states as bytes. But where one byte may be several letters of them, they may have nearly
 * any number.
 */
const MAX_STATES_PER_BYTE = 3;
const FREE_STATES = 64;

const BYTE_VALUES = 256;
const NO_HIT = -1;

/** How far one pattern has matched. */
interface Progress {
  readonly pattern: number;
  readonly matched: number;
}

/** What patterns take of MAX_PATTERN_BYTES. */
export const patternBytes = (patterns: readonly BytePattern[]): number =>
  patterns.reduce((sum, { classes }) => sum + classes.length, 0);

const maxStates = (patterns: readonly BytePattern[]): number =>
  FREE_STATES + MAX_STATES_PER_BYTE * patternBytes(patterns);

/** What a search takes at most while it is built: each row of its table twice. */
export const mostBytesToBuild = (patterns: readonly BytePattern[]): number =>
  2 * maxStates(patterns) * BYTE_VALUES * Uint16Array.BYTES_PER_ELEMENT;

export class ByteSearch {
  /** The next state for each state and byte. */
  readonly #next: Uint16Array;
  /** For each state from `#firstHit` on, the pattern that has just ended. */
  readonly #hits: readonly number[];
  readonly #firstHit: number;
  readonly #lengths: readonly number[];
  #state = 0;

  /**
   * @param patterns none of them empty.
   * @throws RangeError over MAX_PATTERN_BYTES, or if they take far more states than they have bytes.
   */
  constructor(patterns: readonly BytePattern[]) {
    if (patternBytes(patterns) > MAX_PATTERN_BYTES) throw new RangeError('too many patterns');
    this.#lengths = patterns.map(({ classes }) => classes.length);
    const states = new AutomatonBuilder(patterns).build();
    // States where a pattern ends come last, so that one comparison finds them.
    const order = [...states.keys()].toSorted(
      (a, b) => Number(states[a]!.hit !== NO_HIT) - Number(states[b]!.hit !== NO_HIT),
    );
    const places = new Uint16Array(states.length);
    for (const [place, index] of order.entries()) places[index] = place;
    this.#next = new Uint16Array(states.length * BYTE_VALUES);
    for (const [place, index] of order.entries()) {
      const row = place * BYTE_VALUES;
      for (const [byte, next] of states[index]!.row.entries()) this.#next[row + byte] = places[next]!;
    }
    const ending = order.filter((index) => states[index]!.hit !== NO_HIT);
    this.#firstHit = states.length - ending.length;
    this.#hits = ending.map((index) => states[index]!.hit);
  }

  /** What its table takes. */
  get bytes(): number {
    return this.#next.byteLength;
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
    const firstHit = this.#firstHit;
    let state = this.#state;
    for (let at = start; at < end; at++) {
      state = next[(state << 8) | bytes[at]!]!;
      if (state >= firstHit) {
        this.#state = state;
        return at + 1;
      }
    }
    this.#state = state;
    return -1;
  }

  /** The pattern that was just found. */
  get found(): number {
    return this.#hits[this.#state - this.#firstHit] as number;
  }

  /** How many bytes it has; an early end is shorter. */
  get foundLength(): number {
    return this.#lengths[this.found] as number;
  }
}

interface State {
  readonly row: Uint16Array;
  readonly hit: number;
}

/** A state that waits for its row: which patterns are under way in it. */
interface OpenState {
  /** Those of which more than one byte has matched. */
  readonly longer: readonly Progress[];
  /** The kind of the last byte: it has begun the patterns of that kind. */
  readonly kind: number;
}

class AutomatonBuilder {
  readonly #patterns: readonly BytePattern[];
  readonly #states: State[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #maxStates: number;
  readonly #waiting: OpenState[] = [];
  /** Bytes that begin the same patterns are of one kind; 0: they begin none. */
  readonly #kindOf = new Uint16Array(BYTE_VALUES);
  /** Of each kind: the patterns that it has begun, how they go on, and the row of a state with nothing else under way. */
  readonly #begun: (readonly Progress[])[] = [[]];
  readonly #steps: ReadonlyMap<number, readonly Progress[]>[] = [];
  readonly #rows: Uint16Array[] = [];

  constructor(patterns: readonly BytePattern[]) {
    this.#patterns = patterns;
    this.#maxStates = maxStates(patterns);
    const begun = this.#stepsOf(patterns.map((_, pattern) => ({ pattern, matched: 0 })));
    const kinds = new Map<string, number>();
    for (const [byte, begins] of begun) {
      const key = keyOf(begins);
      const kind = kinds.get(key) ?? this.#begun.push(begins) - 1;
      kinds.set(key, kind);
      this.#kindOf[byte] = kind;
    }
    for (const begins of this.#begun) this.#steps.push(this.#stepsOf(begins));
  }

  /** Cost: for each state a copied row, and what its patterns go on with. */
  build(): readonly State[] {
    this.#indexOf([], 0);
    for (const [kind, steps] of this.#steps.entries()) this.#rows[kind] = this.#rowOf(steps);
    for (let open = this.#waiting.shift(); open !== undefined; open = this.#waiting.shift()) {
      const { longer, kind } = open;
      const row = (this.#rows[kind] as Uint16Array).slice();
      for (const [byte, reached] of this.#stepsOf(longer)) {
        const alongside = this.#steps[kind]?.get(byte) ?? [];
        row[byte] = this.#indexOf([...reached, ...alongside], this.#kindOf[byte]!);
      }
      this.#states.push({ row, hit: this.#hitOf([...longer, ...(this.#begun[kind] ?? [])]) });
    }
    return this.#states;
  }

  #rowOf(steps: ReadonlyMap<number, readonly Progress[]>): Uint16Array {
    const row = new Uint16Array(BYTE_VALUES);
    for (let byte = 0; byte < BYTE_VALUES; byte++) {
      row[byte] = this.#indexOf(steps.get(byte) ?? [], this.#kindOf[byte]!);
    }
    return row;
  }

  /** Which patterns continue with which byte. */
  #stepsOf(set: readonly Progress[]): Map<number, Progress[]> {
    const steps = new Map<number, Progress[]>();
    const add = (byte: number, progress: Progress) => {
      const reached = steps.get(byte);
      if (reached === undefined) steps.set(byte, [progress]);
      else reached.push(progress);
    };
    for (const { pattern, matched } of set) {
      const { classes, earlyEnd } = this.#patterns[pattern]!;
      if (matched === classes.length) continue;
      for (const byte of classes[matched]!) add(byte, { pattern, matched: matched + 1 });
      const mayEnd = earlyEnd !== undefined && matched >= earlyEnd.after && matched + 1 < classes.length;
      if (mayEnd) add(earlyEnd.byte, { pattern, matched: classes.length });
    }
    return steps;
  }

  /** The longest pattern that ends here. */
  #hitOf(set: readonly Progress[]): number {
    const ended = set.filter(({ pattern, matched }) => matched === this.#patterns[pattern]?.classes.length);
    return ended.toSorted((a, b) => b.matched - a.matched)[0]?.pattern ?? NO_HIT;
  }

  /** The number of a state; a new one waits for its row. */
  #indexOf(longer: readonly Progress[], kind: number): number {
    const key = `${keyOf(longer)}/${kind}`;
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const index = this.#indexes.size;
    if (index === this.#maxStates) throw new RangeError('too many states');
    this.#indexes.set(key, index);
    this.#waiting.push({ longer, kind });
    return index;
  }
}

function keyOf(set: readonly Progress[]): string {
  return set
    .map(({ pattern, matched }) => `${pattern}:${matched}`)
    .toSorted()
    .join();
}
