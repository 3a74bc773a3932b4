/**
 * Finds the ids of a push's own commits in its texts, as `git revert` writes them, because they
 * would reveal the originals. Each id, or abbreviation that fits only one of them, is replaced by
 * the new id, cut to the same length. Digits are ASCII in every encoding that Git accepts for
 * messages.
 * Proved by test/git/objects/planned-commits.test.ts.
 */
import { HEX_VALUES, latin1 } from '../bytes.ts';
import { type Memory, UNCOUNTED } from '../memory.ts';
import { tooLarge } from '../wire/protocol-error.ts';
import type { NewCommits } from './found-commits.ts';
import { OID_HEX_LENGTH, type Oid } from './oid.ts';

/**
 * The shortest abbreviation that Git uses by default. It uses longer ones where this is ambiguous.
 */
const MIN_ABBREVIATION = 7;
/**
 * Maximum number of mentions in all messages of a push, because each is kept. A commit of some
 * kilobytes can mention another a million times.
 */
const MAX_MENTIONS = 50_000;

/** A place where a text mentions one of the push's commits. */
export interface Mention {
  readonly start: number;
  readonly length: number;
  readonly oid: Oid;
}

export class OwnIds {
  readonly #oids: Iterable<Oid>;
  /**
   * The ids in ascending order, grouped by the number in their first digits. Built for the first
   * text that may contain an id, as few do.
   */
  #byStart: Map<number, Oid[]> | null = null;

  /** @param oids are read when the first text may contain one. */
  constructor(oids: Iterable<Oid>) {
    this.#oids = oids;
  }

  /**
   * Finds mentions in the order of the text, with one look at each byte.
   * @throws ProtocolError `too-large` for more than `most`.
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
   * Finds the mentions in all messages, by the original ids of the commits that have any.
   * @throws ProtocolError `too-large` for more than MAX_MENTIONS.
   */
  async mentionsInMessages(
    commits: NewCommits,
    memory: Pick<Memory, 'worked'> = UNCOUNTED,
  ): Promise<ReadonlyMap<Oid, readonly Mention[]>> {
    let left = MAX_MENTIONS;
    const mentions = new Map<Oid, readonly Mention[]>();
    for (const each of commits) {
      const { message } = each.commit;
      const found = this.mentionsIn(message, left);
      left -= found.length;
      if (found.length > 0) mentions.set(each.oid, found);
      await memory.worked(message.byteLength);
    }
    return mentions;
  }

  /**
   * Finds the one own id that digits in a text stand for. Digits that begin like no own id cost
   * little, because texts can be full of them.
   */
  #find(text: Uint8Array, start: number, end: number): Oid | null {
    this.#byStart ??= Map.groupBy([...new Set(this.#oids)].toSorted(), (oid) =>
      Number.parseInt(oid.slice(0, MIN_ABBREVIATION), 16),
    );
    let first = 0;
    for (let at = start; at < start + MIN_ABBREVIATION; at++) first = 16 * first + HEX_VALUES[text[at]!]!;
    const candidates = this.#byStart.get(first);
    if (candidates === undefined) return null;
    const abbreviation = latin1(text, start, end).toLowerCase();
    // Binary search, because somebody may have made thousands of commits whose ids begin alike.
    const place = firstNotBefore(candidates, abbreviation);
    const [oid, next] = candidates.slice(place, place + 2);
    if (oid?.startsWith(abbreviation) !== true || next?.startsWith(abbreviation) === true) return null;
    return oid;
  }
}

/** Finds the position in an ordered list of the first text that is not before `text`. */
function firstNotBefore(texts: readonly string[], text: string): number {
  let [from, to] = [0, texts.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (texts[middle]! < text) from = middle + 1;
    else to = middle;
  }
  return from;
}
