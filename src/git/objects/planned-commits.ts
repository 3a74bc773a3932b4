/**
 * The new commits of a push without who made them and when: they can be stored. anonymize.ts makes
 * commits of them.
 */
import { HEX_VALUES, latin1, utf8 } from '../bytes.ts';
import { ByteArrays } from '../compact-lists.ts';
import { tooLarge } from '../wire/protocol-error.ts';
import type { NewCommit, NewCommits } from './new-commits.ts';
import { OID_BYTES, OID_HEX_LENGTH, type Oid, oidFromBytes } from './oid.ts';
import { OidTable } from './oid-table.ts';

/** Git abbreviates ids to this length, or longer where that is ambiguous. */
const MIN_ABBREVIATION = 7;
/**
 * In all messages of a push, as each is kept: a commit of some kilobytes can mention another a
 * million times.
 */
const MAX_MENTIONS = 50_000;

/** A place where a text mentions one of the push's commits. */
interface Mention {
  readonly start: number;
  readonly length: number;
  readonly oid: Oid;
}

/**
 * Ids of the push's own commits in texts, as `git revert` writes them, would reveal the originals.
 * Each, or an abbreviation of only one, becomes the new id, cut to the same length. Digits are
 * ASCII in all encodings of Git.
 */
export class OwnIds {
  readonly #oids = new OidTable();
  /** In order, by the first digits as a number; built for the first text that may hold an id. */
  #byStart: Map<number, Oid[]> | null = null;

  constructor(oids: Iterable<Oid>) {
    for (const oid of oids) this.#oids.add(oid);
  }

  /**
   * In the order of the text. Cost: one look at each byte.
   * @throws ProtocolError `too-large` over `most`.
   */
  mentionsIn(text: Uint8Array, most = MAX_MENTIONS): readonly Mention[] {
    const mentions: Mention[] = [];
    for (let start = 0; start < text.length; start++) {
      if (HEX_VALUES[text[start]!]! < 0) continue;
      let end = start + 1;
      while (end < text.length && HEX_VALUES[text[end]!]! >= 0) end++;
      const length = end - start;
      if (length >= MIN_ABBREVIATION && length <= OID_HEX_LENGTH) {
        const oid = this.#find(text, start, end);
        if (oid !== null) mentions.push({ start, length, oid });
        if (mentions.length > most) {
          throw tooLarge('The messages name commits of the push too often. Push fewer commits at once.');
        }
      }
      start = end;
    }
    return mentions;
  }

  /**
   * By the original ids of commits whose messages have any.
   * @throws ProtocolError `too-large` over MAX_MENTIONS.
   */
  mentionsInMessages(commits: NewCommits): ReadonlyMap<Oid, readonly Mention[]> {
    let left = MAX_MENTIONS;
    const mentions = new Map<Oid, readonly Mention[]>();
    for (const { oid, commit } of commits) {
      const found = this.mentionsIn(commit.message, left);
      left -= found.length;
      if (found.length > 0) mentions.set(oid, found);
    }
    return mentions;
  }

  /** Makes nothing of digits that begin as no own id does: texts can be full of them. */
  #find(text: Uint8Array, start: number, end: number): Oid | null {
    this.#byStart ??= Map.groupBy([...this.#oids.oids()].toSorted(), (oid) =>
      Number.parseInt(oid.slice(0, MIN_ABBREVIATION), 16),
    );
    let first = 0;
    for (let at = start; at < start + MIN_ABBREVIATION; at++) first = 16 * first + HEX_VALUES[text[at]!]!;
    const candidates = this.#byStart.get(first);
    if (candidates === undefined) return null;
    const abbreviation = latin1(text, start, end).toLowerCase();
    // Somebody may have made thousands of commits whose ids begin alike.
    const place = firstNotBefore(candidates, abbreviation);
    const [oid, next] = candidates.slice(place, place + 2);
    if (oid?.startsWith(abbreviation) !== true || next?.startsWith(abbreviation) === true) return null;
    return oid;
  }
}

/** Where in an ordered list the first text stands that is not before this one. */
function firstNotBefore(texts: readonly string[], text: string): number {
  let [from, to] = [0, texts.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (texts[middle]! < text) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** A commit of this push by its number, or one of upstream by its id. */
type Parent = number | Oid;

/**
 * A place in a text that gets the id of a commit of this push; null: it was squashed away, so zeros
 * stay.
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

/** Each stands behind its parents and behind those that it mentions. */
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
    this.encoded.push(encode(commit));
  }

  at(index: number): PlannedCommit {
    return decode(this.encoded.at(index));
  }

  *[Symbol.iterator](): Generator<PlannedCommit> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }
}

/** The numbers of commits and of all that they stand on. */
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
  /** Messages of the commits, with zeros in place of the ids of others. */
  readonly messages: () => Iterable<Uint8Array>;
  /** Plans a text that may mention the commits of this push. */
  readonly planText: (text: Uint8Array) => PlannedText;
}

/**
 * @param commits those that leave, parents first.
 * @param ownIds of the whole push; others were squashed away.
 */
export function planCommits(commits: NewCommits, ownIds: OwnIds): Plan {
  const mentions = ownIds.mentionsInMessages(commits);
  const ordered = orderByMentions(commits, mentions);
  const numbers = new OidTable();
  for (const { oid } of ordered) numbers.add(oid);
  const numberOf = (oid: Oid): number | null => {
    const number = numbers.indexOf(oid);
    return number < 0 ? null : number;
  };
  const planned = new PlannedCommits();
  for (const { oid, commit } of ordered) {
    const { tree, encoding, parents } = commit;
    // A squashed commit may name itself, by the id of the tip that it is made of: nothing can.
    const message = blanked(commit.message, mentions.get(oid) ?? [], (mentioned) =>
      mentioned === oid ? null : numberOf(mentioned),
    );
    planned.push({ tree, encoding, parents: parents.map((parent) => numberOf(parent) ?? parent), message });
  }
  return {
    commits: planned,
    *messages() {
      for (const { message } of planned) yield message.bytes;
    },
    planText: (text) => blanked(text, ownIds.mentionsIn(text), numberOf),
  };
}

/**
 * Parents and mentioned commits first. There always is such an order: a commit's id is a hash over
 * the ids in it.
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
 * Numbers of parents, of mentions and of bytes of the encoding's name; the tree; the parents, each
 * a number plus one, or 0 and an id; the mentions; the name; the message. All numbers are 32 bits,
 * big-endian.
 */
function encode({ tree, parents, encoding, message: { bytes, mentions } }: PlannedCommit): Uint8Array {
  const name = utf8(encoding ?? '');
  const words = 3 + parents.length + 3 * mentions.length;
  const ids = 1 + parents.filter((parent) => typeof parent === 'string').length;
  const encoded = Buffer.alloc(words * WORD_BYTES + ids * OID_BYTES + name.length + bytes.length);
  let at = 0;
  const word = (value: number): void => {
    at = encoded.writeUInt32BE(value, at);
  };
  const id = (oid: Oid): void => {
    at += encoded.write(oid, at, 'hex');
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
  return encoded;
}

function decode(encoded: Uint8Array): PlannedCommit {
  const view = new DataView(encoded.buffer, encoded.byteOffset);
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
  while (parents.length < parentCount) {
    const number = word();
    parents.push(number === 0 ? id() : number - 1);
  }
  const mentions: PlannedMention[] = [];
  while (mentions.length < mentionCount) {
    const [start, length, number] = [word(), word(), word()];
    mentions.push({ start, length, commit: number === 0 ? null : number - 1 });
  }
  const name = latin1(encoded, at, at + nameLength);
  const message = { bytes: encoded.subarray(at + nameLength), mentions };
  return { tree, parents, encoding: name === '' ? null : name, message };
}
