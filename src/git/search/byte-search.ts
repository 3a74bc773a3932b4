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

const BYTE_VALUES = 256;
const NO_HIT = -1;
/**
 * Most patterns have about as many states as bytes. But where one byte may be several letters of them, they may have
 * nearly any number.
 */
const MAX_STATES_PER_BYTE = 2;
const SPARE_STATES = 64;
/** Marks a state in which a pattern ends, so that one comparison finds it. */
const HIT = 0x8000;

/** What patterns take of MAX_PATTERN_BYTES. */
export const patternBytes = (patterns: readonly BytePattern[]): number =>
  patterns.reduce((sum, { classes }) => sum + classes.length, 0);

/** States that there is room for from the beginning. */
const usualStates = (patterns: readonly BytePattern[]): number => patternBytes(patterns) + SPARE_STATES;

/** What a search takes at most while it is built: its table, and the smaller one that it began with. */
export const mostBytesToBuild = (patterns: readonly BytePattern[]): number =>
  (MAX_STATES_PER_BYTE + 1) * usualStates(patterns) * BYTE_VALUES * Uint16Array.BYTES_PER_ELEMENT;

export class ByteSearch {
  /** The next state for each state and byte, with HIT if a pattern ends in it. */
  readonly #next: Uint16Array;
  /** For each state, the pattern that has just ended, or NO_HIT. */
  readonly #hits: readonly number[];
  readonly #lengths: readonly number[];
  #state = 0;

  /**
   * @param patterns none of them empty.
   * @throws RangeError over MAX_PATTERN_BYTES, or if they take far more states than they have bytes.
   */
  constructor(patterns: readonly BytePattern[]) {
    if (patternBytes(patterns) > MAX_PATTERN_BYTES) throw new RangeError('too many patterns');
    this.#lengths = patterns.map(({ classes }) => classes.length);
    const { next, hits } = new AutomatonBuilder(patterns).build();
    this.#next = next;
    this.#hits = hits;
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
    let state = this.#state;
    for (let at = start; at < end; at++) {
      state = next[(state << 8) | bytes[at]!]!;
      if (state >= HIT) {
        this.#state = state - HIT;
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

  /** How many bytes it has; an early end is shorter. */
  get foundLength(): number {
    return this.#lengths[this.found] as number;
  }
}

/**
 * How far one pattern has matched, as a number: the patterns stand one behind the other, each with a place for each
 * byte and one for its end.
 */
type Place = number;

/** A state that waits for its row: which patterns are under way in it. */
interface OpenState {
  readonly index: number;
  /** Those of which more than one byte has matched. */
  readonly longer: readonly Place[];
  /** The kind of the last byte: it has begun the patterns of that kind. */
  readonly kind: number;
}

/** Subset construction. A push waits for it, so it makes few objects: nearly all states have one place. */
class AutomatonBuilder {
  /** Of each place, the bytes that lead to the next one; none at the end of a pattern. */
  readonly #classes: ByteClass[] = [];
  /** Of each place, the byte that leads to the pattern's end at once; -1: none. */
  readonly #earlyBytes: number[] = [];
  /** Of each place: the end of its pattern. */
  readonly #ends: Place[] = [];
  /** The pattern that ends at a place. */
  readonly #endings = new Map<Place, { readonly pattern: number; readonly length: number }>();
  /** Room for as many states as there usually are. */
  #next: Uint16Array;
  readonly #hits: number[] = [];
  readonly #maxStates: number;
  /** States, as the rows of others name them, by their places and kind. */
  readonly #states = new Map<number | string, number>();
  #waiting: OpenState[] = [];
  /** Bytes that begin the same patterns are of one kind; 0: they begin none. */
  readonly #kindOf = new Uint16Array(BYTE_VALUES);
  /**
   * Of each kind: the patterns that it has begun, how they go on, and the row of a state with nothing else under way.
   */
  readonly #begun: (readonly Place[])[] = [[]];
  readonly #steps: ReadonlyMap<number, readonly Place[]>[] = [];
  readonly #rows: Uint16Array[] = [];

  constructor(patterns: readonly BytePattern[]) {
    this.#next = new Uint16Array(usualStates(patterns) * BYTE_VALUES);
    this.#maxStates = Math.min(HIT, MAX_STATES_PER_BYTE * usualStates(patterns));
    const starts = patterns.map((pattern, index) => this.#addPattern(pattern, index));
    const kinds = new Map<string, number>();
    for (const [byte, begins] of this.#stepsOf(starts)) {
      const key = begins.join();
      const kind = kinds.get(key) ?? this.#begun.push(begins) - 1;
      kinds.set(key, kind);
      this.#kindOf[byte] = kind;
    }
    for (const begins of this.#begun) this.#steps.push(this.#stepsOf(begins));
  }

  /** Cost: for each state a copied row, and what its patterns go on with. @throws RangeError if there are too many. */
  build(): { readonly next: Uint16Array; readonly hits: readonly number[] } {
    this.#stateOf([], 0);
    for (const [kind, steps] of this.#steps.entries()) this.#rows[kind] = this.#rowOf(steps);
    while (this.#waiting.length > 0) {
      const open = this.#waiting;
      this.#waiting = [];
      for (const state of open) this.#fill(state);
    }
    return { next: this.#next, hits: this.#hits };
  }

  /** Answers the place where it begins. */
  #addPattern({ classes, earlyEnd }: BytePattern, pattern: number): Place {
    const start = this.#classes.length;
    const end = start + classes.length;
    for (const [matched, bytes] of classes.entries()) {
      const mayEnd = earlyEnd !== undefined && matched >= earlyEnd.after && matched + 1 < classes.length;
      this.#classes.push(bytes);
      this.#earlyBytes.push(mayEnd ? earlyEnd.byte : -1);
      this.#ends.push(end);
    }
    this.#classes.push([]);
    this.#earlyBytes.push(-1);
    this.#ends.push(end);
    this.#endings.set(end, { pattern, length: classes.length });
    return start;
  }

  #fill({ index, longer, kind }: OpenState): void {
    const start = index * BYTE_VALUES;
    if (start >= this.#next.length) {
      const larger = new Uint16Array(2 * this.#next.length);
      larger.set(this.#next);
      this.#next = larger;
    }
    this.#next.set(this.#rows[kind] as Uint16Array, start);
    for (const [byte, reached] of this.#stepsOf(longer)) {
      const alongside = this.#steps[kind]?.get(byte);
      const places = alongside === undefined ? reached : [...reached, ...alongside];
      this.#next[start + byte] = this.#stateOf(places, this.#kindOf[byte]!);
    }
  }

  #rowOf(steps: ReadonlyMap<number, readonly Place[]>): Uint16Array {
    const row = new Uint16Array(BYTE_VALUES);
    for (let byte = 0; byte < BYTE_VALUES; byte++) {
      row[byte] = this.#stateOf(steps.get(byte) ?? [], this.#kindOf[byte]!);
    }
    return row;
  }

  /** Which patterns continue with which byte. */
  #stepsOf(places: readonly Place[]): Map<number, Place[]> {
    const steps = new Map<number, Place[]>();
    const add = (byte: number, place: Place) => {
      const reached = steps.get(byte);
      if (reached === undefined) steps.set(byte, [place]);
      else reached.push(place);
    };
    for (const place of places) {
      for (const byte of this.#classes[place]!) add(byte, place + 1);
      if (this.#earlyBytes[place]! >= 0) add(this.#earlyBytes[place]!, this.#ends[place]!);
    }
    return steps;
  }

  /** The longest pattern that ends in a state. */
  #hitOf(longer: readonly Place[], kind: number): number {
    let longest = { pattern: NO_HIT, length: 0 };
    for (const places of [longer, this.#begun[kind] ?? []]) {
      for (const place of places) {
        const ended = this.#endings.get(place);
        if (ended !== undefined && ended.length > longest.length) longest = ended;
      }
    }
    return longest.pattern;
  }

  /** The number of a state, with HIT if a pattern ends in it; a new one waits for its row. */
  #stateOf(longer: readonly Place[], kind: number): number {
    const key =
      longer.length > 1
        ? `${longer.toSorted((a, b) => a - b).join()}/${kind}`
        : BYTE_VALUES * ((longer[0] ?? -1) + 1) + kind;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const index = this.#states.size;
    if (index === this.#maxStates) throw new RangeError('the patterns are too much alike');
    const hit = this.#hitOf(longer, kind);
    const state = hit === NO_HIT ? index : index + HIT;
    this.#states.set(key, state);
    this.#hits.push(hit);
    this.#waiting.push({ index, longer, kind });
    return state;
  }
}
