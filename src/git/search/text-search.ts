/**
 * Searches a stream of bytes for many texts at once, and tells where a part of one may end or begin at a delta's copy.
 *
 * A text is a row of byte classes, so that upper and lower case, or a blank and a dash, are the same to it. All places
 * of all texts stand in one row of bits: a bit is set if its text has matched up to there. One shift and one mask
 * per byte would do ("bitap"). To be faster, each set of bits that occurs becomes a state with a row of next states,
 * made when it is first needed: an ordinary push needs few of them. Bytes that no text tells apart are one kind, so rows
 * are short.
 */

/** The bytes that may stand at one place of a text. */
export type ByteClass = readonly number[];

/** How many of a text's first and of its last letters may be missing, at most. */
export interface Lack {
  readonly first: number;
  readonly last: number;
}

export interface SearchedText {
  readonly before: ByteClass;
  readonly letters: readonly ByteClass[];
  /** Null: anything may follow. */
  readonly after: ByteClass | null;
  /** What a delta may copy so that the rest, which it inserts, may still belong to the text. */
  readonly lack: Lack;
  /** What it may copy so that the rest is enough to tell. */
  readonly tellingLack: Lack;
}

/** Of names, and of original ids, in places. */
export const TEXT_ROOM = 2_048;
/** Limit of all texts together: what is noted besides needs little. */
export const MAX_TEXT_BYTES = 2 * TEXT_ROOM + 64;
/** With fewer letters, a part of a text may be anybody's. */
export const MIN_TELLING_LETTERS = 5;

const BYTE_VALUES = 256;
const LF = 0x0a;
/** Before and after every object, because a text may need a boundary. */
const LINE_END = Uint8Array.of(LF);
/** Marks a state in which a text ends. */
const HIT = 0x8000;
/** Not made yet. */
const UNKNOWN = 0xffff;
const START = 0;
const BEHIND_COPY = 1;
/** Behind letters of a text that may go on in a copy; and if they are enough to tell. */
const BEGUN = 1;
const TELLING = 2;
/** For states. If they take more, they are forgotten, and made again as they are needed. */
const MAX_STATE_BYTES = 1024 * 1024;
/** Usual texts have fewer, for each of their places. */
const STATES_PER_PLACE = 3;
const FREE_STATES = 64;
/** A state besides its row and its bits. */
const STATE_BYTES = 160;
/** Each costs microseconds. Ordinary texts and names need hundreds. */
const MAX_STATES_MADE = 200_000;

/** What a text takes of MAX_TEXT_BYTES. */
export const placesOf = ({ letters, after }: SearchedText): number =>
  letters.length + (after === null ? 1 : 2);

/** A text that was found. */
export interface Span {
  /** Of its letters, without what stands around them. */
  readonly start: number;
  readonly end: number;
  /** The index of the text. */
  readonly text: number;
}

export class TextSearch {
  readonly texts: readonly SearchedText[];
  readonly #kindOf: Uint8Array;
  readonly #kindBits: number;
  /** Words of a set. */
  readonly #words: number;
  /** Of each kind of byte, the places where it may stand. */
  readonly #masks: Uint32Array;
  /** First places. */
  readonly #starts: Uint32Array;
  /** Last places. */
  readonly #ends: Uint32Array;
  /** Places that may be reached in a copy. */
  readonly #behindCopy: Uint32Array;
  /** Places that may be left into a copy. */
  readonly #begun: Uint32Array;
  readonly #telling: Uint32Array;
  /** Of each text, its first place. */
  readonly #first: readonly number[];
  readonly #maxStates: number;
  #statesMade = 0;
  /** The next state for each state and kind of byte, with HIT if a text ends in it. */
  #next = new Uint16Array(0);
  readonly #stateOfSet = new Map<string, number>();
  #sets: Uint32Array[] = [];
  #flags: number[] = [];
  #ended: (readonly number[])[] = [];
  #state = START;
  /** By the last byte: the state, or why the run has ended. */
  #reached = START;

  /** @throws RangeError over MAX_TEXT_BYTES. So do `find` and `spansIn`, if texts match in too many ways at once. */
  constructor(texts: readonly SearchedText[]) {
    const places = texts.reduce((sum, text) => sum + placesOf(text), 0);
    if (places > MAX_TEXT_BYTES) throw new RangeError('too many texts');
    this.texts = texts;
    const classes = texts.flatMap(({ before, letters, after }) => [
      before,
      ...letters,
      ...(after ? [after] : []),
    ]);
    const { kindOf, kinds } = kindsOf(classes);
    this.#kindOf = kindOf;
    this.#kindBits = Math.ceil(Math.log2(kinds));
    this.#words = Math.ceil(places / 32);
    const set = () => new Uint32Array(this.#words);
    [this.#starts, this.#ends, this.#behindCopy, this.#begun, this.#telling] = [
      set(),
      set(),
      set(),
      set(),
      set(),
    ];
    this.#masks = new Uint32Array(kinds * this.#words);
    const kindsOfClass = new Map<ByteClass, ReadonlySet<number>>();
    for (const [place, bytes] of classes.entries()) {
      const known = kindsOfClass.get(bytes) ?? new Set(bytes.map((byte) => kindOf[byte]!));
      kindsOfClass.set(bytes, known);
      for (const kind of known) addBit(this.#masks, place, kind * this.#words);
    }
    let end = 0;
    this.#first = texts.map((text) => {
      const first = end;
      end += placesOf(text);
      this.#addText(text, first, end - 1);
      return first;
    });
    const usual = STATES_PER_PLACE * places + FREE_STATES;
    this.#maxStates = Math.min(usual, Math.floor(MAX_STATE_BYTES / this.#stateBytes));
    this.#forget();
  }

  /** What it takes at most, once it has seen many different bytes. */
  get mostBytes(): number {
    return this.#masks.byteLength + this.#maxStates * this.#stateBytes;
  }

  /** What it takes now. */
  get bytes(): number {
    return this.#masks.byteLength + this.#sets.length * this.#stateBytes;
  }

  get #stateBytes(): number {
    return STATE_BYTES + (2 << this.#kindBits) + 8 * this.#words;
  }

  /** At the beginning of an object. */
  begin(): void {
    this.#state = START;
  }

  /** Behind what a delta copies: any text may be under way. */
  beginBehindCopy(): void {
    this.#state = BEHIND_COPY;
  }

  /** Goes on in `bytes[start..end)`. Answers the index after the next hit, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    for (let at = start; at < end;) {
      at = this.#run(bytes, at, end);
      if (this.#reached >= HIT) {
        const kind = this.#kindOf[bytes[at - 1]!]!;
        const next = this.#reached === UNKNOWN ? this.#make(this.#state, kind) : this.#reached;
        this.#state = next & ~HIT;
        if (next >= HIT) return at;
      }
    }
    return -1;
  }

  /** To the end, or behind the next byte that leads to a hit, or to a state that is not made yet. */
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

  /** At the end of an object: whether something ends there. */
  findEnd(): boolean {
    return this.find(LINE_END, 0, 1) > 0;
  }

  /** The texts that have just been found, the longest first. */
  get ended(): readonly number[] {
    return this.#ended[this.#state] as readonly number[];
  }

  /** Whether what comes next may be the rest of a text. */
  get hasBegun(): boolean {
    return (this.#flags[this.#state]! & BEGUN) !== 0;
  }

  /** A text of which so much stands here that it is enough to tell; -1: there is none. */
  get tellingText(): number {
    if ((this.#flags[this.#state]! & TELLING) === 0) return -1;
    const set = this.#sets[this.#state] as Uint32Array;
    return this.texts.findIndex((text, index) => {
      const first = this.#first[index] as number;
      const end = first + placesOf(text);
      for (let place = first; place < end; place++)
        if (hasBit(set, place) && hasBit(this.#telling, place)) return true;
      return false;
    });
  }

  /** All that is found in one object, in order. */
  spansIn(content: Uint8Array): Span[] {
    return [...this.spans(content)];
  }

  /** The same one by one. Nothing else may be searched meanwhile. */
  *spans(content: Uint8Array): Generator<Span> {
    const spanTo = (at: number): Span => {
      const text = this.ended[0] as number;
      const { letters, after } = this.texts[text] as SearchedText;
      const end = after === null ? at : at - 1;
      return { start: end - letters.length, end, text };
    };
    this.begin();
    const { length } = content;
    for (let at = this.find(content, 0, length); at >= 0; at = this.find(content, at, length)) {
      yield spanTo(at);
    }
    if (this.findEnd()) yield spanTo(length + 1);
  }

  #addText({ letters, lack, tellingLack }: SearchedText, first: number, last: number): void {
    addBit(this.#starts, first);
    addBit(this.#ends, last);
    const count = letters.length;
    for (let copied = 0; copied <= lack.first; copied++) addBit(this.#behindCopy, first + copied);
    for (let copied = 0; copied <= lack.last; copied++) addBit(this.#begun, first + count - copied);
    for (let copied = 0; copied <= tellingLack.last; copied++) addBit(this.#telling, first + count - copied);
  }

  /** Forgets all states but the two that others begin with. */
  #forget(): void {
    this.#next = new Uint16Array(0);
    [this.#sets, this.#flags, this.#ended] = [[], [], []];
    this.#stateOfSet.clear();
    this.#stateOf(this.#after(new Uint32Array(this.#words), this.#kindOf[LF]!));
    // The number of the second state must be its own, also where no text has letters that may be missing.
    this.#add(this.#behindCopy, '');
  }

  /** The places that a byte leads to. */
  #after(set: Uint32Array, kind: number): Uint32Array {
    const words = this.#words;
    const reached = new Uint32Array(words);
    for (let word = 0, carried = 0; word < words; word++) {
      const bits = set[word]!;
      // What leaves one text is the first place of the next one, which is always open.
      reached[word] = ((bits << 1) | carried | this.#starts[word]!) & this.#masks[kind * words + word]!;
      carried = bits >>> 31;
    }
    return reached;
  }

  /** The state that a kind of byte leads to, with HIT if a text ends there. */
  #make(state: number, kind: number): number {
    const sets = this.#sets;
    const index = this.#stateOf(this.#after(sets[state] as Uint32Array, kind));
    const next = this.#ended[index]!.length > 0 ? index + HIT : index;
    // If the states were forgotten meanwhile, there is no row for it any more.
    if (this.#sets === sets) this.#next[(state << this.#kindBits) | kind] = next;
    return next;
  }

  #stateOf(set: Uint32Array): number {
    const key = Buffer.from(set.buffer).toString('latin1');
    if (this.#sets.length === this.#maxStates && !this.#stateOfSet.has(key)) this.#forget();
    return this.#stateOfSet.get(key) ?? this.#add(set, key);
  }

  #add(set: Uint32Array, key: string): number {
    if (++this.#statesMade > MAX_STATES_MADE) throw new RangeError('the texts are too much alike');
    const state = this.#sets.push(set) - 1;
    this.#stateOfSet.set(key, state);
    this.#flags.push((meets(set, this.#begun) ? BEGUN : 0) | (meets(set, this.#telling) ? TELLING : 0));
    this.#ended.push(meets(set, this.#ends) ? this.#endedIn(set) : []);
    const length = (state + 1) << this.#kindBits;
    if (length > this.#next.length) {
      const longer = new Uint16Array(Math.max(2 * this.#next.length, 16 << this.#kindBits)).fill(UNKNOWN);
      longer.set(this.#next);
      this.#next = longer;
    }
    return state;
  }

  #endedIn(set: Uint32Array): readonly number[] {
    const lettersOf = (text: number) => this.texts[text]!.letters.length;
    return [...this.texts.keys()]
      .filter((text) => hasBit(set, this.#first[text]! + placesOf(this.texts[text]!) - 1))
      .toSorted((a, b) => lettersOf(b) - lettersOf(a));
  }
}

/** Bytes that stand in the same classes are of one kind. */
function kindsOf(classes: readonly ByteClass[]): { readonly kindOf: Uint8Array; readonly kinds: number } {
  const split = new Int32Array(BYTE_VALUES);
  let count = 1;
  for (const bytes of new Set(classes)) {
    const parts = new Map<number, number>();
    for (const byte of bytes) {
      const part = parts.get(split[byte]!) ?? count++;
      parts.set(split[byte]!, part);
      split[byte] = part;
    }
  }
  const numbers = new Map<number, number>();
  const kindOf = Uint8Array.from(split, (part) => {
    const kind = numbers.get(part) ?? numbers.size;
    numbers.set(part, kind);
    return kind;
  });
  return { kindOf, kinds: numbers.size };
}

function addBit(set: Uint32Array, bit: number, word = 0): void {
  set[word + (bit >>> 5)] = set[word + (bit >>> 5)]! | (1 << (bit & 31));
}

function hasBit(set: Uint32Array, bit: number): boolean {
  return ((set[bit >>> 5]! >>> (bit & 31)) & 1) === 1;
}

function meets(set: Uint32Array, other: Uint32Array): boolean {
  return set.some((bits, word) => (bits & other[word]!) !== 0);
}
