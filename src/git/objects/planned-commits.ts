/**
 * The new commits of a push without author and date, so that they can be stored. `anonymize.ts`
 * turns them into Git commits.
 */
import { latin1, utf8 } from '../bytes.ts';
import { ByteArrays } from '../compact-lists.ts';
import { type Memory, UNCOUNTED } from '../memory.ts';
import type { NewCommit, NewCommits } from './found-commits.ts';
import { OID_BYTES, type Oid, oidFromBytes, writeOid } from './oid.ts';
import { OidTable } from './oid-table.ts';
import type { Mention, OwnIds } from './own-ids.ts';

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
const NO_NAME = new Uint8Array(0);

/** Commits in an order in which each comes after its parents and after those that it mentions. */
export class PlannedCommits {
  readonly encoded = new ByteArrays();

  get length(): number {
    return this.encoded.length;
  }

  get byteLength(): number {
    let bytes = 0;
    for (const encoded of this.encoded) bytes += encoded.byteLength;
    return bytes;
  }

  push(commit: PlannedCommit): void {
    encode(commit, (bytes) => this.encoded.add(bytes));
  }

  at(index: number): StoredCommit {
    return new StoredCommit(this.encoded.at(index));
  }

  /** The messages, with zeros in place of mentions. Each is a view that is made when it is read. */
  get messages(): Iterable<Uint8Array> {
    const { encoded } = this;
    return {
      *[Symbol.iterator]() {
        for (const commit of encoded) yield messageIn(commit);
      },
    };
  }

  *[Symbol.iterator](): Generator<StoredCommit> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }
}

/** Returns the numbers of these commits and of all that they stand on. */
export function numbersUpTo(commits: PlannedCommits, last: readonly number[]): ReadonlySet<number> {
  const numbers = new Set<number>();
  const left = [...last];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (numbers.has(at)) continue;
    numbers.add(at);
    for (const parent of commits.at(at).parents) if (typeof parent === 'number') left.push(parent);
  }
  return numbers;
}

export interface Plan {
  readonly commits: PlannedCommits;
  /** The messages of the commits, with zeros in place of mentions. */
  readonly messages: Iterable<Uint8Array>;
  /** Plans a text that may mention the commits of this push. */
  readonly planText: (text: Uint8Array) => PlannedText;
}

/** Work of planning a commit besides its message, in bytes. */
export const COMMIT_WORK = 1024;

/**
 * Plans the commits of a push.
 * @param commits are those that are published, parents first.
 * @param ownIds has the ids of the whole push, also of commits that were squashed away.
 * @throws ProtocolError `too-large` if too many ids are mentioned.
 */
export async function planCommits(
  commits: NewCommits,
  ownIds: OwnIds,
  memory: Pick<Memory, 'worked'> = UNCOUNTED,
): Promise<Plan> {
  const mentions = await ownIds.mentionsInMessages(commits, memory);
  const ordered = orderByMentions(commits, mentions);
  /** The commits that were planned. Each comes after its parents and those that it mentions. */
  const numbers = new OidTable();
  const numberOf = (oid: Oid): number | null => {
    const number = numbers.indexOf(oid);
    return number < 0 ? null : number;
  };
  const planned = new PlannedCommits();
  for (const { oid, commit } of ordered) {
    const { tree, encoding, parents } = commit;
    // A squashed commit may mention the tip that it is made of. No commit can contain its own id.
    const message = blanked(commit.message, mentions.get(oid) ?? [], (mentioned) =>
      mentioned === oid ? null : numberOf(mentioned),
    );
    const own = parents.map((parent) => numberOf(parent) ?? parent);
    planned.push({ tree, encoding, parents: own, message });
    numbers.add(oid);
    await memory.worked(COMMIT_WORK + message.bytes.byteLength);
  }
  return {
    commits: planned,
    messages: planned.messages,
    planText: (text) => blanked(text, ownIds.mentionsIn(text), numberOf),
  };
}

/**
 * Sorts commits so that parents and mentioned commits come first. There always is such an order,
 * because a commit's id is a hash over the ids in it.
 */
export function orderByMentions(commits: NewCommits, mentions: ReadonlyMap<Oid, readonly Mention[]>) {
  if (mentions.size === 0) return commits;
  const byOid = new Map(Array.from(commits, (commit) => [commit.oid, commit]));
  const ordered = new Set<NewCommit>();
  for (const last of byOid.values()) {
    const stack = [last];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (ordered.has(top)) {
        stack.pop();
        continue;
      }
      const mentioned = (mentions.get(top.oid) ?? []).map(({ oid }) => oid);
      const missing = [...new Set([...top.commit.parents, ...mentioned])]
        .flatMap((oid) => byOid.get(oid) ?? [])
        .filter((commit) => !ordered.has(commit));
      if (missing.length > 0) stack.push(...missing);
      else ordered.add(stack.pop() as NewCommit);
    }
  }
  return [...ordered];
}

function blanked(
  text: Uint8Array,
  mentions: readonly Mention[],
  numberOf: (oid: Oid) => number | null,
): PlannedText {
  if (mentions.length === 0) return { bytes: text, mentions: [] };
  // `slice` of a Buffer would share its memory.
  const bytes = new Uint8Array(text);
  for (const { start, length } of mentions) bytes.fill('0'.charCodeAt(0), start, start + length);
  const planned = mentions.map(({ start, length, oid }) => ({ start, length, commit: numberOf(oid) }));
  return { bytes, mentions: planned };
}

/** Returns the text with ids in place of its mentions, or the same bytes if it has none. */
export function withIds({ bytes, mentions }: PlannedText, idOf: (commit: number) => Oid): Uint8Array {
  if (mentions.length === 0) return bytes;
  const text = new Uint8Array(bytes);
  for (const { start, length, commit } of mentions) {
    if (commit !== null) text.set(utf8(idOf(commit).slice(0, length)), start);
  }
  return text;
}

/**
 * Encodes a commit for storage, with numbers of 32 bits, big-endian: how many parents and mentions
 * there are, the length of the encoding's name, the tree, the parents (each a number plus one, or 0
 * and an id), the mentions, the name, the message.
 */
function encode(
  { tree, parents, encoding, message: { bytes, mentions } }: PlannedCommit,
  add: (bytes: number) => Uint8Array,
): void {
  const name = encoding === null ? NO_NAME : utf8(encoding);
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
function messageIn(encoded: Uint8Array): Uint8Array {
  return encoded.subarray(nameAt(encoded) + wordAt(encoded, NAME_LENGTH_AT));
}

/** Reads a number. A `DataView` for each commit would cost more. */
function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}
