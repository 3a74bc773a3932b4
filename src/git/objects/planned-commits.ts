/**
 * The new commits of a push without any trace of who made them, and when: tree, parents, message, and where a message
 * mentions another of them. Bytes that can be stored; with an identity and dates, they become commits (anonymize.ts).
 */
import { ByteArrays } from '../byte-arrays.ts';
import { latin1, utf8 } from '../bytes.ts';
import type { NewCommits } from './new-commits.ts';
import { OID_BYTES, type Oid, oidFromBytes } from './oid.ts';
import { OidTable } from './oid-table.ts';
import { type Mention, type OwnIds, orderByMentions } from './own-ids.ts';

/** A commit of this push by its number, or one of upstream by its id. */
export type Parent = number | Oid;

/** A place in a text that gets the id of a commit of this push, or zeros: of one that was squashed away. */
export interface PlannedMention {
  readonly start: number;
  readonly length: number;
  /** Null: squashed away. */
  readonly commit: number | null;
}

/** A text in which each mention stands as zeros. */
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

const ZERO_DIGIT = 0x30;
const WORD_BYTES = 4;
const MENTION_WORDS = 3;

/** Each stands behind its parents and behind those that it mentions. */
export class PlannedCommits {
  readonly #encoded = new ByteArrays();

  get length(): number {
    return this.#encoded.length;
  }

  /** The size of all of them in bytes. */
  get byteLength(): number {
    let bytes = 0;
    for (const encoded of this.#encoded) bytes += encoded.byteLength;
    return bytes;
  }

  push(commit: PlannedCommit): void {
    this.#encoded.push(encode(commit));
  }

  /** @param index below `length`. */
  at(index: number): PlannedCommit {
    return decode(this.#encoded.at(index));
  }

  /** As bytes, one after the other. */
  encoded(): Iterable<Uint8Array> {
    return this.#encoded;
  }

  /** @param encoded what `encoded` gave, one commit. */
  pushEncoded(encoded: Uint8Array): void {
    this.#encoded.push(encoded);
  }

  *[Symbol.iterator](): Generator<PlannedCommit> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }

  /** Gives the memory back at once. */
  free(): void {
    this.#encoded.free();
  }
}

export interface Plan {
  readonly commits: PlannedCommits;
  /** Messages of the commits, with zeros in place of the ids of others. */
  readonly messages: () => Iterable<Uint8Array>;
  /** Plans a text that may mention the commits of this push. */
  readonly planText: (text: Uint8Array) => PlannedText;
}

/** @param commits those that leave, parents first. @param ownIds of the whole push; others were squashed away. */
export function planCommits(commits: NewCommits, ownIds: OwnIds): Plan {
  const mentions = ownIds.mentionsInMessages(commits);
  const ordered = orderByMentions(commits, mentions);
  const numbers = new OidTable();
  for (const { oid } of ordered) numbers.add(oid);
  const numberOf = (oid: Oid): number | null => {
    const number = numbers.indexOf(oid);
    return number < 0 ? null : number;
  };
  const planText = (text: Uint8Array) => blanked(text, ownIds.mentionsIn(text), numberOf);
  const planned = new PlannedCommits();
  for (const { oid, commit } of ordered) {
    const { tree, encoding, parents } = commit;
    // A squashed commit may name itself, by the id of the tip that it is made of: nothing can.
    const message = blanked(commit.message, mentions.get(oid) ?? [], (mentioned) =>
      mentioned === oid ? null : numberOf(mentioned),
    );
    planned.push({ tree, encoding, parents: parents.map((parent) => numberOf(parent) ?? parent), message });
  }
  return { commits: planned, messages: () => messagesOf(planned), planText };
}

function* messagesOf(commits: PlannedCommits): Generator<Uint8Array> {
  for (const { message } of commits) yield message.bytes;
}

function blanked(
  text: Uint8Array,
  mentions: readonly Mention[],
  numberOf: (oid: Oid) => number | null,
): PlannedText {
  if (mentions.length === 0) return { bytes: text, mentions: [] };
  // `slice` of a Buffer would share its memory.
  const bytes = new Uint8Array(text);
  for (const { start, length } of mentions) bytes.fill(ZERO_DIGIT, start, start + length);
  return {
    bytes,
    mentions: mentions.map(({ start, length, oid }) => ({ start, length, commit: numberOf(oid) })),
  };
}

/** The text with ids in place of its mentions; the same bytes if it has none. */
export function withIds({ bytes, mentions }: PlannedText, idOf: (commit: number) => Oid): Uint8Array {
  if (mentions.length === 0) return bytes;
  const text = new Uint8Array(bytes);
  for (const { start, length, commit } of mentions) {
    if (commit !== null) text.set(utf8(idOf(commit).slice(0, length)), start);
  }
  return text;
}

/**
 * Numbers of parents, of mentions and of bytes of the encoding's name; the tree; the parents, each a number plus one,
 * or 0 and an id; the mentions; the name; the message. All numbers are 32 bits, big-endian.
 */
function encode({ tree, parents, encoding, message }: PlannedCommit): Uint8Array {
  const { bytes, mentions } = message;
  const name = utf8(encoding ?? '');
  const words = 3 + parents.length + MENTION_WORDS * mentions.length;
  const ids = 1 + parents.filter((parent) => typeof parent === 'string').length;
  const encoded = new Uint8Array(words * WORD_BYTES + ids * OID_BYTES + name.length + bytes.length);
  const view = new DataView(encoded.buffer);
  let at = 0;
  const word = (value: number): void => {
    view.setUint32(at, value);
    at += WORD_BYTES;
  };
  const raw = (value: Uint8Array): void => {
    encoded.set(value, at);
    at += value.length;
  };
  for (const count of [parents.length, mentions.length, name.length]) word(count);
  raw(Buffer.from(tree, 'hex'));
  for (const parent of parents) {
    word(typeof parent === 'number' ? parent + 1 : 0);
    if (typeof parent === 'string') raw(Buffer.from(parent, 'hex'));
  }
  for (const { start, length, commit } of mentions) {
    for (const value of [start, length, commit === null ? 0 : commit + 1]) word(value);
  }
  raw(name);
  raw(bytes);
  return encoded;
}

function decode(encoded: Uint8Array): PlannedCommit {
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  let at = 0;
  const word = (): number => {
    at += WORD_BYTES;
    return view.getUint32(at - WORD_BYTES);
  };
  const id = (): Oid => {
    at += OID_BYTES;
    return oidFromBytes(encoded, at - OID_BYTES);
  };
  const [parentCount, mentionCount, nameLength] = [word(), word(), word()];
  const tree = id();
  const parents: Parent[] = [];
  for (let index = 0; index < parentCount; index++) {
    const number = word();
    parents.push(number === 0 ? id() : number - 1);
  }
  const mentions: PlannedMention[] = [];
  for (let index = 0; index < mentionCount; index++) {
    const [start, length, number] = [word(), word(), word()];
    mentions.push({ start, length, commit: number === 0 ? null : number - 1 });
  }
  const name = latin1(encoded, at, at + nameLength);
  const bytes = encoded.subarray(at + nameLength);
  return { tree, parents, encoding: name === '' ? null : name, message: { bytes, mentions } };
}
