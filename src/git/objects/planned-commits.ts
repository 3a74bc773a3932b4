/**
 * The new commits of a push without author and date, so that they can be stored. `anonymize.ts`
 * turns them into Git commits.
 */
import { utf8 } from '../bytes.ts';
import { ByteArrays } from '../compact-lists.ts';
import { type Memory, UNCOUNTED } from '../memory.ts';
import type { NewCommit, NewCommits } from './found-commits.ts';
import type { Oid } from './oid.ts';
import { OidTable } from './oid-table.ts';
import type { Mention, OwnIds } from './own-ids.ts';
import {
  encodeCommit,
  messageIn,
  type PlannedCommit,
  type PlannedText,
  StoredCommit,
} from './stored-commit.ts';

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
    encodeCommit(commit, (bytes) => this.encoded.add(bytes));
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
    // A squashed commit may mention the tip that it is made of. No commit gets its own new id.
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
 * Sorts commits so that parents and mentioned commits come first.
 * @param commits parents first. They stay so if there is no such order: an abbreviation is no hash
 * over a commit, so somebody can make one that names its own commit, or a later one.
 */
export function orderByMentions(commits: NewCommits, mentions: ReadonlyMap<Oid, readonly Mention[]>) {
  if (mentions.size === 0) return commits;
  const byOid = new Map(Array.from(commits, (commit) => [commit.oid, commit]));
  const ordered = new Set<NewCommit>();
  const begun = new Set<NewCommit>();
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
        .filter((commit) => commit !== top && !ordered.has(commit));
      // What was missing is ordered by now, unless it waits for this one.
      if (missing.length > 0 && begun.has(top)) return commits;
      begun.add(top);
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
