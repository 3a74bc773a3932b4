/**
 * Searches a stream of bytes for many texts at once, and tells where a delta's copy may contain the
 * rest of one. A text is a sequence of byte classes: upper and lower case, or a blank and a dash,
 * are the same to it. The positions of all texts together are one row of bits, in which a bit is
 * set if its text has matched up to there. One shift and one mask per byte would do ("bitap"). To
 * be faster, each set of bits that occurs becomes a state with a row of next states, made when
 * first needed. Bytes that no text distinguishes are one kind, so rows are short.
 */

/** The bytes that are allowed at one position of a text. */
export type ByteClass = readonly number[];

export const byteClass = (signs: string): ByteClass => Array.from(signs, (sign) => sign.charCodeAt(0));

/**
 * Tells if a byte is the first one (UTF-8) of letters that may follow within a word: Latin ones
 * with accents, Greek, Cyrillic, Hebrew, Arabic, Vietnamese. In other scripts, words stand next to
 * each other. The other first bytes are those of quotation marks.
 */
const isLetterStart = (byte: number): boolean => (byte >= 0xc3 && byte <= 0xdf) || byte === 0xe1;
/** The highest byte that appears in UTF-8. */
const LAST_START = 0xf4;

/** Bytes that may stand around a word: anything but letters and digits. */
export const BOUNDARY: ByteClass = Array.from({ length: LAST_START + 1 }, (_, byte) => byte).filter(
  (byte) => !/[A-Za-z0-9]/.test(String.fromCharCode(byte)) && !isLetterStart(byte),
);

export interface SearchedText {
  readonly before: ByteClass;
  readonly letters: readonly ByteClass[];
  /** Indexes of letters that may be missing, in runs of at most `MAX_GAP`. */
  readonly optional?: readonly number[];
  /** The bytes that may follow, or null if anything may. */
  readonly after: ByteClass | null;
  /**
   * Maximum number of letters that a delta may copy, at either end of the text, if an insert is to
   * count as the rest of it.
   */
  readonly maxCopied: number;
  /**
   * True for a text that comes last among those that end in the same place, and that is not looked
   * for across a delta's copies.
   */
  readonly isMinor?: true;
}

/**
 * Makes a text after which anything may follow.
 * @param choices has the allowed characters of each position. A string stands for its characters.
 */
export function beginning(before: ByteClass, choices: Iterable<string>): SearchedText {
  return { before, letters: Array.from(choices, byteClass), after: null, maxCopied: 0 };
}

/** Room for names, and for original ids, in positions. */
export const TEXT_ROOM = 2_048;
/** Room for all texts together. What is only noted needs little. */
export const MAX_TEXT_BYTES = 2 * TEXT_ROOM + 192;

/** Maximum length of a gap: a comma and one character. */
const MAX_GAP = 5;

const BYTE_VALUES = 256;
const LF = 0x0a;
/** A line end, as before and after every object, because a text may need a boundary. */
const LINE_END = Uint8Array.of(LF);
/** Flag of a state in which a text ends. */
const HIT = 0x8000;
const UNKNOWN = 0xffff;
const START = 0;
const BEHIND_COPY = 1;
/**
 * Memory for states. If they need more, they are made again as needed, over and over where a file
 * needs more at once. One that names everybody has 1,540.
 */
const MAX_STATE_BYTES = 2 * 1024 * 1024;
const STATES_PER_PLACE = 2;
const FREE_STATES = 64;
/**
 * Memory of a state besides its row, its set and the key of that, which take a third of a byte for
 * each position.
 */
const STATE_BYTES = 160;
/**
 * States that are made: these, and one for so many bytes searched. Each costs some ten
 * microseconds. Packages of 60 MB, searched for 60 people, take 2,900 for the first megabyte, and
 * 4,600 for all.
 */
const FREE_STATES_MADE = 6_000;
const BYTES_PER_STATE = 4_096;

export const placesOf = ({ letters, after }: SearchedText): number =>
  letters.length + (after === null ? 1 : 2);

export interface Span {
  /**
   * The start of its letters, without what is around them. If some may be missing, it is the
   * earliest possible one.
   */
  readonly start: number;
  readonly end: number;
  readonly text: number;
}

/** A set of positions, each as a bit. */
type Places = bigint;

export class TextSearch {
  readonly texts: readonly SearchedText[];
  readonly #kindOf: Uint8Array;
  readonly #kindBits: number;
  /** The positions at which each kind of byte is allowed. */
  readonly #placesOfKind: readonly Places[];
  /**
   * The first positions, those that may be left out, and the last ones, of each text and of all.
   */
  readonly #starts: Places;
  readonly #optional: Places;
  readonly #endOf: readonly Places[];
  readonly #allEnds: Places;
  /** The last positions of texts that are not muted. */
  #ends: Places;
  /** Positions that may be reached in a copy, and from which one may continue. */
  readonly #behindCopy: Places;
  readonly #begun: Places;
  readonly #fixedBytes: number;
  readonly #stateBytes: number;
  readonly #maxStates: number;
  #statesMade = 0;
  #searchedBytes = 0;
  /** The next state for each state and kind of byte, with HIT if a text ends in it. */
  #next = new Uint16Array(0);
  readonly #stateOfSet = new Map<string, number>();
  #sets: Places[] = [];
  #hasBegun: boolean[] = [];
  #ended: (readonly number[])[] = [];
  #state = START;
  /** The state after the last byte, or the reason why the run has ended. */
  #reached = START;

  /**
   * Prepares a search.
   * @throws RangeError over MAX_TEXT_BYTES. So do `find` and `spans`, if texts match in too many
   * ways at once.
   */
  constructor(texts: readonly SearchedText[]) {
    const count = texts.reduce((sum, text) => sum + placesOf(text), 0);
    if (count > MAX_TEXT_BYTES) throw new RangeError('too many texts');
    this.texts = texts;
    const endOf: Places[] = [];
    let [starts, optional, ends, behindCopy, begun, first] = [0n, 0n, 0n, 0n, 0n, 1n];
    for (const text of texts) {
      const [letters, end] = [BigInt(text.letters.length), first << BigInt(placesOf(text) - 1)];
      // Positions at an end of the text, from none to all letters that may be copied.
      const copied = (2n << BigInt(text.maxCopied)) - 1n;
      starts |= first;
      for (const index of text.optional ?? []) optional |= first << BigInt(index + 1);
      behindCopy |= first * copied;
      if (!text.isMinor) begun |= ((first << (letters - BigInt(text.maxCopied))) * copied) & ~end;
      ends |= end;
      endOf.push(end);
      first = end << 1n;
    }
    [this.#starts, this.#optional, this.#endOf] = [starts, optional, endOf];
    [this.#allEnds, this.#ends] = [ends, ends];
    [this.#behindCopy, this.#begun] = [behindCopy, begun];
    const { kindOf, placesOfKind } = kindsOf(texts);
    [this.#kindOf, this.#placesOfKind] = [kindOf, placesOfKind];
    this.#kindBits = Math.ceil(Math.log2(placesOfKind.length));
    this.#fixedBytes = Math.ceil((placesOfKind.length * count) / 8);
    this.#stateBytes = STATE_BYTES + (2 << this.#kindBits) + Math.ceil(count / 3);
    const usual = STATES_PER_PLACE * count + FREE_STATES;
    this.#maxStates = Math.min(usual, Math.floor(MAX_STATE_BYTES / this.#stateBytes));
    this.#forget();
  }

  /** Returns the maximum memory, when it has seen many different bytes. */
  get mostBytes(): number {
    return this.#fixedBytes + this.#maxStates * this.#stateBytes;
  }

  /** Returns the memory that it takes now. */
  get bytes(): number {
    return this.#fixedBytes + this.#sets.length * this.#stateBytes;
  }

  /** Begins an object, or goes on behind what a delta copies, where any text may be under way. */
  begin(isBehindCopy = false): void {
    this.#state = isBehindCopy ? BEHIND_COPY : START;
  }

  /**
   * Searches `bytes[start..end)`.
   * @returns the index after the next hit, or -1.
   */
  find(bytes: Uint8Array, start: number, end: number): number {
    for (let at = start; at < end;) {
      at = this.#run(bytes, at, end);
      if (this.#reached < HIT) continue;
      const kind = this.#kindOf[bytes[at - 1]!]!;
      const next = this.#reached === UNKNOWN ? this.#make(this.#state, kind) : this.#reached;
      this.#state = next & ~HIT;
      if (next < HIT) continue;
      this.#searchedBytes += at - start;
      return at;
    }
    this.#searchedBytes += end - start;
    return -1;
  }

  /**
   * Runs to the end, or behind the next byte that leads to a hit, or to a state that was not made
   * yet.
   * @returns the index where it stopped.
   */
  #run(bytes: Uint8Array, start: number, end: number): number {
    const kindOf = this.#kindOf;
    const kindBits = this.#kindBits;
    const next = this.#next;
    let state = this.#state;
    let reached = state;
    let at = start;
    while (at < end) {
      reached = next[(state << kindBits) | kindOf[bytes[at++]!]!]!;
      if (reached >= HIT) break;
      state = reached;
    }
    this.#state = state;
    this.#reached = reached;
    return at;
  }

  /**
   * Tells if a text ends here when the line does: at the end of an object, and where a delta's
   * insert ends.
   */
  findEnd(): boolean {
    return this.find(LINE_END, 0, 1) > 0;
  }

  /**
   * Returns the texts that were just found: those that are not minor first, and of these the
   * longest.
   */
  get ended(): readonly number[] {
    return this.#ended[this.#state] as readonly number[];
  }

  /** Tells if what comes next may be the rest of a text. */
  get hasBegun(): boolean {
    return this.#hasBegun[this.#state] as boolean;
  }

  /** Yields all that is found in one object, in order. Nothing else may be searched meanwhile. */
  *spans(content: Uint8Array): Generator<Span> {
    const spanTo = (at: number): Span => {
      const text = this.ended[0] as number;
      const { letters, after } = this.texts[text] as SearchedText;
      const end = after === null ? at : at - 1;
      return { start: end - letters.length, end, text };
    };
    this.begin();
    const { length } = content;
    for (let at = this.find(content, 0, length); at >= 0; at = this.find(content, at, length))
      yield spanTo(at);
    if (this.findEnd()) yield spanTo(length + 1);
  }

  /**
   * Stops searching for a text that is found too often: each hit costs as much as a hundred bytes.
   */
  mute(text: number): void {
    this.#lookFor(this.#ends & ~this.#endOf[text]!);
  }

  /** Searches for all texts again. */
  unmute(): void {
    this.#lookFor(this.#allEnds);
  }

  /**
   * Changes the texts that are looked for. States know if a text ends in them, so they are made
   * again.
   */
  #lookFor(ends: Places): void {
    if (ends === this.#ends) return;
    this.#ends = ends;
    const set = this.#sets[this.#state]!;
    this.#forget();
    this.#state = this.#stateOf(set);
  }

  /** Forgets all states except the two with which a search begins. */
  #forget(): void {
    this.#next = new Uint16Array(0);
    [this.#sets, this.#hasBegun, this.#ended] = [[], [], []];
    this.#stateOfSet.clear();
    this.#stateOf(this.#after(0n, this.#kindOf[LF]!));
    // The second state must have a number of its own, even if no text has letters that may be
    // missing.
    this.#add(this.#behindCopy, '');
  }

  /**
   * Returns the positions that a kind of byte leads to. From the last position of one text, the
   * shift leads to the first of the next, which is always open.
   */
  #after(set: Places, kind: number): Places {
    let reached = (set << 1n) | this.#starts;
    for (let gap = 0; gap < MAX_GAP; gap++) {
      const open = reached & this.#optional;
      if (open === 0n) break;
      reached |= open << 1n;
    }
    return reached & this.#placesOfKind[kind]!;
  }

  /** Makes the state that a kind of byte leads to, with HIT if a text ends there. */
  #make(state: number, kind: number): number {
    const sets = this.#sets;
    const index = this.#stateOf(this.#after(sets[state]!, kind));
    const next = this.#ended[index]!.length > 0 ? index + HIT : index;
    // If the states were forgotten meanwhile, there is no longer a row for it.
    if (this.#sets === sets) this.#next[(state << this.#kindBits) | kind] = next;
    return next;
  }

  #stateOf(set: Places): number {
    // The key is a text, because V8 hashes only the lowest 64 bits of a bigint.
    const key = set.toString(32);
    if (this.#sets.length === this.#maxStates && !this.#stateOfSet.has(key)) this.#forget();
    return this.#stateOfSet.get(key) ?? this.#add(set, key);
  }

  #add(set: Places, key: string): number {
    if (++this.#statesMade > FREE_STATES_MADE + this.#searchedBytes / BYTES_PER_STATE)
      throw new RangeError('the texts are too much alike');
    const state = this.#sets.push(set) - 1;
    this.#stateOfSet.set(key, state);
    this.#hasBegun.push((set & this.#begun) !== 0n);
    this.#ended.push((set & this.#ends) === 0n ? [] : this.#endedIn(set));
    const length = (state + 1) << this.#kindBits;
    if (length > this.#next.length) {
      const longer = new Uint16Array(Math.max(2 * this.#next.length, 16 << this.#kindBits)).fill(UNKNOWN);
      longer.set(this.#next);
      this.#next = longer;
    }
    return state;
  }

  #endedIn(set: Places): readonly number[] {
    const rankOf = (text: number): number =>
      this.texts[text]!.letters.length - (this.texts[text]!.isMinor ? MAX_TEXT_BYTES : 0);
    const ending = set & this.#ends;
    const ended = this.#endOf.flatMap((end, text) => ((ending & end) === 0n ? [] : text));
    return ended.toSorted((a, b) => rankOf(b) - rankOf(a));
  }
}

/** Groups bytes that are in the same classes into kinds. */
function kindsOf(texts: readonly SearchedText[]): { kindOf: Uint8Array; placesOfKind: Places[] } {
  const placesOfClass = new Map<ByteClass, Places>();
  let place = 1n;
  const byPlace = texts.flatMap(({ before, letters, after }) => [
    before,
    ...letters,
    ...(after ? [after] : []),
  ]);
  for (const bytes of byPlace) {
    placesOfClass.set(bytes, (placesOfClass.get(bytes) ?? 0n) | place);
    place <<= 1n;
  }
  const classesOf: string[] = Array.from({ length: BYTE_VALUES }, () => '');
  for (const [index, bytes] of [...placesOfClass.keys()].entries()) {
    for (const byte of bytes) classesOf[byte] += `${index} `;
  }
  const kinds = [...new Set(classesOf)];
  const kindOf = Uint8Array.from(classesOf, (classes) => kinds.indexOf(classes));
  const placesOfKind = kinds.map(() => 0n);
  for (const [bytes, places] of placesOfClass) {
    for (const kind of new Set(bytes.map((byte) => kindOf[byte]!))) placesOfKind[kind]! |= places;
  }
  return { kindOf, placesOfKind };
}
