/**
 * Searches a stream of bytes for many texts at once, and tells where a delta's copy may hold the
 * rest of one. A text is a row of byte classes: upper and lower case, or a blank and a dash, are
 * the same to it. All places of all texts stand in one row of bits: a bit is set if its text has
 * matched up to there. One shift and one mask per byte would do ("bitap"). To be faster, each set
 * of bits that occurs becomes a state with a row of next states, made when first needed. Bytes that
 * no text tells apart are one kind, so rows are short.
 */

/** The bytes that may stand at one place of a text. */
export type ByteClass = readonly number[];

export const bytesOf = (signs: string): ByteClass => Array.from(signs, (sign) => sign.charCodeAt(0));

/**
 * First bytes (UTF-8) of letters that may follow within a word: Latin ones with accents, Greek,
 * Cyrillic, Hebrew, Arabic, Vietnamese. In other scripts, words stand next to each other; the other
 * first bytes are quotation marks'.
 */
const isLetterStart = (byte: number): boolean => (byte >= 0xc3 && byte <= 0xdf) || byte === 0xe1;
/** More do not appear in UTF-8. */
const LAST_START = 0xf4;

/** What stands around a word: anything but letters and digits. */
export const BOUNDARY: ByteClass = Array.from({ length: LAST_START + 1 }, (_, byte) => byte).filter(
  (byte) => !/[A-Za-z0-9]/.test(String.fromCharCode(byte)) && !isLetterStart(byte),
);

export interface SearchedText {
  readonly before: ByteClass;
  readonly letters: readonly ByteClass[];
  /** Indexes of letters that may be missing, in runs of at most `MAX_GAP`. */
  readonly optional?: readonly number[];
  /** Null: anything may follow. */
  readonly after: ByteClass | null;
  /**
   * How many letters a delta may copy, at either end of the text, so that an insert still counts as
   * the rest of it.
   */
  readonly maxCopied: number;
  /**
   * Of texts that end in the same place, it comes last; and it is not looked for in what a delta
   * copies.
   */
  readonly isMinor?: true;
}

/**
 * One behind which anything may follow.
 * @param choices of characters, one for each place: of a string, itself.
 */
export function beginning(before: ByteClass, choices: Iterable<string>): SearchedText {
  return { before, letters: Array.from(choices, bytesOf), after: null, maxCopied: 0 };
}

/** Of names, and of original ids, in places. */
export const TEXT_ROOM = 2_048;
/** Limit of all texts together: what is noted besides needs little. */
export const MAX_TEXT_BYTES = 2 * TEXT_ROOM + 192;

/** As many bytes as a comma and one character have. */
const MAX_GAP = 5;

const BYTE_VALUES = 256;
const LF = 0x0a;
/** Before and after every object, because a text may need a boundary. */
const LINE_END = Uint8Array.of(LF);
/** Marks a state in which a text ends. */
const HIT = 0x8000;
const UNKNOWN = 0xffff;
const START = 0;
const BEHIND_COPY = 1;
/**
 * For states. If they take more, they are made again as needed, over and over in a file that needs
 * more at once: one that names everybody has 1,540.
 */
const MAX_STATE_BYTES = 2 * 1024 * 1024;
const STATES_PER_PLACE = 2;
const FREE_STATES = 64;
/**
 * A state besides its row, its set and the key of that, which take a third of a byte for each
 * place.
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
  /** Of its letters, without what stands around them; if some may be missing, at the earliest. */
  readonly start: number;
  readonly end: number;
  readonly text: number;
}

/** Places of texts, each as a bit. */
type Places = bigint;

export class TextSearch {
  readonly texts: readonly SearchedText[];
  readonly #kindOf: Uint8Array;
  readonly #kindBits: number;
  /** Of each kind of byte, the places where it may stand. */
  readonly #placesOfKind: readonly Places[];
  /** First places; those that may be left out; last ones, of each text and of all. */
  readonly #starts: Places;
  readonly #optional: Places;
  readonly #endOf: readonly Places[];
  readonly #allEnds: Places;
  /** Without those of texts that are not looked for any more. */
  #ends: Places;
  /** Places that may be reached in a copy, and left into one. */
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
  /** By the last byte: the state, or why the run has ended. */
  #reached = START;

  /**
   * @throws RangeError over MAX_TEXT_BYTES. So do `find` and `spansIn`, if texts match in too many
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
      // Of each end of a text, the places between nothing and all that may be copied.
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

  /** What it takes at most, once it has seen many different bytes. */
  get mostBytes(): number {
    return this.#fixedBytes + this.#maxStates * this.#stateBytes;
  }

  /** What it takes now. */
  get bytes(): number {
    return this.#fixedBytes + this.#sets.length * this.#stateBytes;
  }

  /**
   * At the beginning of an object, or behind what a delta copies: there, any text may be under way.
   */
  begin(isBehindCopy = false): void {
    this.#state = isBehindCopy ? BEHIND_COPY : START;
  }

  /** Goes on in `bytes[start..end)`. Answers the index after the next hit, or -1. */
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
   * To the end, or behind the next byte that leads to a hit, or to a state that is not made yet.
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
   * Whether something ends here if the line does: at the end of an object, and where a delta's
   * insert ends.
   */
  findEnd(): boolean {
    return this.find(LINE_END, 0, 1) > 0;
  }

  /**
   * The texts that have just been found: first those that are not minor, and of these the longest.
   */
  get ended(): readonly number[] {
    return this.#ended[this.#state] as readonly number[];
  }

  /** Whether what comes next may be the rest of a text. */
  get hasBegun(): boolean {
    return this.#hasBegun[this.#state] as boolean;
  }

  /** All that is found in one object, in order. Nothing else may be searched meanwhile. */
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
   * Ends the search for a text that is found too often: each place costs as much as a hundred
   * bytes.
   */
  mute(text: number): void {
    this.#lookFor(this.#ends & ~this.#endOf[text]!);
  }

  /** Searches for all texts again. */
  unmute(): void {
    this.#lookFor(this.#allEnds);
  }

  /** States know whether a text ends in them, so they are made again. */
  #lookFor(ends: Places): void {
    if (ends === this.#ends) return;
    this.#ends = ends;
    const set = this.#sets[this.#state]!;
    this.#forget();
    this.#state = this.#stateOf(set);
  }

  /** Forgets all states but the two that others begin with. */
  #forget(): void {
    this.#next = new Uint16Array(0);
    [this.#sets, this.#hasBegun, this.#ended] = [[], [], []];
    this.#stateOfSet.clear();
    this.#stateOf(this.#after(0n, this.#kindOf[LF]!));
    // The number of the second state must be its own, also where no text has letters that may be
    // missing.
    this.#add(this.#behindCopy, '');
  }

  /**
   * The places that a kind of byte leads to. What leaves one text is the first place of the next,
   * always open.
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

  /** The state that a kind of byte leads to, with HIT if a text ends there. */
  #make(state: number, kind: number): number {
    const sets = this.#sets;
    const index = this.#stateOf(this.#after(sets[state]!, kind));
    const next = this.#ended[index]!.length > 0 ? index + HIT : index;
    // If the states were forgotten meanwhile, there is no row for it any more.
    if (this.#sets === sets) this.#next[(state << this.#kindBits) | kind] = next;
    return next;
  }

  #stateOf(set: Places): number {
    // Not the set itself: V8 hashes only the lowest 64 bits of a bigint.
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

/** Bytes that stand in the same classes are of one kind. */
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
