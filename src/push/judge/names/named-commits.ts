/**
 * Commits that a message names and that are nobody's: neither the push's own, whose ids are replaced, nor upstream's.
 * Such a commit is probably an earlier form of the person's work, from before a rebase or on another branch. Its original
 * id is a hash over name, address and second, and anybody who sees it can test a guess.
 *
 * What stands in Git's own words (`git revert`, `git cherry-pick -x`, `git merge <id>`) is surely a commit. Anywhere else,
 * digits may be something else, so the person is only told.
 */
import type { Oid } from '../../../git/objects/oid.ts';

const GITS_WORDS =
  /(?:^This reverts commit |^changes made to |^\(cherry picked from commit |^Merge commit ')([0-9a-f]{40})\b/gm;
/** As Git abbreviates ids and as `git describe` writes them; no color, no part of a UUID, no other hash. */
const LIKE_IDS =
  /(?<![0-9A-Za-z#]|[0-9a-f]{4}-)g?([0-9a-f]{40}|[0-9a-f]{7,16})(?![0-9A-Za-z]|-[0-9a-f]{4}-)/g;
const HAS_BOTH = /[a-f]\d|\d[a-f]/;
const MAX_NAMED = 100;
/** `git log --format=reference`: the day is the commit's own, and zeros stand for one of this push. */
const DAY = /, \d{4}-\d{2}-\d{2}\)/g;
const OWN_BEFORE = /(?<![0-9a-f])0{7,40} \(/;
const MAX_SUBJECT_LENGTH = 400;

/** What is asked of upstream's history. */
export interface NamedHistory {
  /** -Infinity: all of it is listed. */
  readonly since: number;
  isKnown(oid: Oid): boolean;
  /** Those with which no known commit begins. */
  unknownOf(abbreviations: ReadonlySet<string>): readonly string[];
  /** Lists upstream's history further back; false if it cannot. */
  reachBack(): Promise<boolean>;
}

export interface NamedCommits {
  readonly oids: readonly Oid[];
  /** Ids, whole or abbreviated, that may be something else. */
  readonly likely: readonly string[];
  /** False: upstream's history could not be listed to its beginning, so they may be upstream's. */
  readonly areStrange: boolean;
}

/**
 * Reaches back only if a message names a commit that is not known yet.
 * @param isOwn whether an id is replaced, or public anyway.
 */
export async function namedCommits(
  messages: Iterable<Uint8Array>,
  isOwn: (oid: Oid) => boolean,
  history: NamedHistory,
): Promise<NamedCommits> {
  const [named, mentioned] = [new Set<Oid>(), new Set<string>()];
  for (const message of messages) {
    const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString('latin1');
    for (const [, oid = ''] of text.matchAll(GITS_WORDS)) {
      if (!isOwn(oid) && named.size < MAX_NAMED) named.add(oid);
    }
    for (const [, id = ''] of text.matchAll(LIKE_IDS)) {
      if (HAS_BOTH.test(id) && !isOwn(id) && !named.has(id) && mentioned.size < MAX_NAMED) mentioned.add(id);
    }
  }
  for (;;) {
    const oids = [...named].filter((oid) => !history.isKnown(oid));
    const likely = mentioned.size === 0 ? [] : history.unknownOf(mentioned);
    if (oids.length + likely.length === 0) return { oids, likely, areStrange: false };
    if (await history.reachBack()) continue;
    const areStrange = history.since === -Infinity;
    return { oids, likely: areStrange ? likely : [], areStrange };
  }
}

/** What of a message tells the day of a commit of this push. Cost: linear in the message. */
export function* ownDaysIn(message: Uint8Array): Generator<string> {
  const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString();
  for (const { 0: day, index } of text.matchAll(DAY)) {
    const before =
      text
        .slice(Math.max(0, index - MAX_SUBJECT_LENGTH), index)
        .split('\n')
        .at(-1) ?? '';
    if (OWN_BEFORE.test(before)) yield before + day;
  }
}
