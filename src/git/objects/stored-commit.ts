/**
 * The encoding of a commit without author and date, in which it is stored, and its parts, each of
 * which is decoded when it is asked for: a push has thousands.
 * Proved by test/git/objects/planned-commits.test.ts.
 */
import { latin1, NO_BYTES, utf8 } from '../bytes.ts';
import { OID_BYTES, type Oid, oidFromBytes, writeOid } from './oid.ts';

/** A commit of this push, as its number, or one of upstream, as its id. */
type Parent = number | Oid;

/**
 * A place in a text that gets the id of a commit of this push. Zeros stay there if the commit is
 * null: it was squashed away, or has this text itself.
 */
interface PlannedMention {
  readonly start: number;
  readonly length: number;
  readonly commit: number | null;
}

/** A text with zeros in place of each mention. */
export interface PlannedText {
  readonly bytes: Uint8Array;
  readonly mentions: readonly PlannedMention[];
}

export interface PlannedCommit {
  readonly tree: Oid;
  readonly parents: readonly Parent[];
  readonly encoding: string | null;
  readonly message: PlannedText;
}

const WORD_BYTES = 4;
/** Places in an encoded commit, which begins with the number of its parents. */
const MENTION_COUNT_AT = WORD_BYTES;
const NAME_LENGTH_AT = 2 * WORD_BYTES;
const TREE_AT = 3 * WORD_BYTES;
const PARENTS_AT = TREE_AT + OID_BYTES;
const MENTION_BYTES = 3 * WORD_BYTES;

/**
 * Encodes a commit for storage, with numbers of 32 bits, big-endian: how many parents and mentions
 * there are, the length of the encoding's name, the tree, the parents (each a number plus one, or 0
 * and an id), the mentions, the name, the message.
 */
export function encodeCommit(
  { tree, parents, encoding, message: { bytes, mentions } }: PlannedCommit,
  add: (bytes: number) => Uint8Array,
): void {
  const name = encoding === null ? NO_BYTES : utf8(encoding);
  const words = 3 + parents.length + 3 * mentions.length;
  const ids = 1 + parents.filter((parent) => typeof parent === 'string').length;
  const encoded = add(words * WORD_BYTES + ids * OID_BYTES + name.length + bytes.length);
  let at = 0;
  const word = (value: number): void => {
    for (let shift = 24; shift >= 0; shift -= 8) encoded[at++] = value >>> shift;
  };
  const id = (oid: Oid): void => {
    writeOid(oid, encoded, at);
    at += OID_BYTES;
  };
  for (const count of [parents.length, mentions.length, name.length]) word(count);
  id(tree);
  for (const parent of parents) {
    word(typeof parent === 'number' ? parent + 1 : 0);
    if (typeof parent === 'string') id(parent);
  }
  for (const { start, length, commit } of mentions) {
    for (const value of [start, length, commit === null ? 0 : commit + 1]) word(value);
  }
  encoded.set(name, at);
  encoded.set(bytes, at + name.length);
}

/** A commit as it is stored. Each part is decoded when it is asked for. */
export class StoredCommit implements PlannedCommit {
  readonly #encoded: Uint8Array;

  constructor(encoded: Uint8Array) {
    this.#encoded = encoded;
  }

  get tree(): Oid {
    return oidFromBytes(this.#encoded, TREE_AT);
  }

  get treeBytes(): Uint8Array {
    return this.#encoded.subarray(TREE_AT, PARENTS_AT);
  }

  get parents(): readonly Parent[] {
    return this.#parents<Parent>(
      (number) => number,
      (at) => oidFromBytes(this.#encoded, at),
    );
  }

  /** @param bytesOf answers the id of a commit of this push. */
  parentBytes(bytesOf: (commit: number) => Uint8Array): readonly Uint8Array[] {
    return this.#parents(bytesOf, (at) => this.#encoded.subarray(at, at + OID_BYTES));
  }

  #parents<T>(ownOf: (commit: number) => T, upstreamsAt: (at: number) => T): T[] {
    const parents: T[] = [];
    let at = PARENTS_AT;
    for (let left = wordAt(this.#encoded, 0); left > 0; left--) {
      const number = wordAt(this.#encoded, at);
      parents.push(number === 0 ? upstreamsAt(at + WORD_BYTES) : ownOf(number - 1));
      at += parentBytesOf(number);
    }
    return parents;
  }

  get encoding(): string | null {
    const at = nameAt(this.#encoded);
    const length = wordAt(this.#encoded, NAME_LENGTH_AT);
    return length === 0 ? null : latin1(this.#encoded, at, at + length);
  }

  get message(): PlannedText {
    const encoded = this.#encoded;
    const mentions: PlannedMention[] = [];
    let at = mentionsAt(encoded);
    for (let left = wordAt(encoded, MENTION_COUNT_AT); left > 0; left--, at += MENTION_BYTES) {
      const number = wordAt(encoded, at + 2 * WORD_BYTES);
      const place = { start: wordAt(encoded, at), length: wordAt(encoded, at + WORD_BYTES) };
      mentions.push({ ...place, commit: number === 0 ? null : number - 1 });
    }
    return { bytes: messageIn(encoded), mentions };
  }
}

const parentBytesOf = (number: number): number => (number === 0 ? WORD_BYTES + OID_BYTES : WORD_BYTES);

function mentionsAt(encoded: Uint8Array): number {
  let at = PARENTS_AT;
  for (let left = wordAt(encoded, 0); left > 0; left--) at += parentBytesOf(wordAt(encoded, at));
  return at;
}

function nameAt(encoded: Uint8Array): number {
  return mentionsAt(encoded) + MENTION_BYTES * wordAt(encoded, MENTION_COUNT_AT);
}

/** Finds the message of an encoded commit, and decodes nothing else. */
export function messageIn(encoded: Uint8Array): Uint8Array {
  return encoded.subarray(nameAt(encoded) + wordAt(encoded, NAME_LENGTH_AT));
}

/** Reads a number. A `DataView` for each commit would cost more. */
function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}
