/**
 * Finds what messages tell besides the author's name: other people, unknown commits, and the days
 * and hashes of own ones. The service does not correct it, and tells the person alone.
 * Proved by test/leaks/message-names.test.ts and test/leaks/named-commits.test.ts.
 */
import { fromLatin1, latin1, ownText } from '../git/bytes.ts';
import { type Memory, UNCOUNTED } from '../git/memory.ts';
import { type Oid, ZERO_OID } from '../git/objects/oid.ts';
import { Looks } from '../git/search/looks.ts';
import { textsWith } from '../git/search/small-texts.ts';
import type { UpstreamHistory } from '../upstream/upstream-history.ts';
import { firstOf, MAX_READ_TO_SHOW, MAX_SHOWN_LENGTH, shown, told, unsearchedLines } from './lines.ts';
import { SENTENCES } from './merge-sentences.ts';

/**
 * Maximum size of messages that is read. A few kilobytes may be megabytes of `a@b.a@b.`,
 * compressed.
 */
export const MAX_READ_BYTES = 2 * 1024 * 1024;

/**
 * Matches `Signed-off-by`, `Co-authored-by`, `Reported-by` and similar trailers, whose keys end in
 * `-by`.
 */
const TRAILER = /^\s*[a-z][a-z-]{0,40}-by:\s*\S.*/i;
const LOCAL_BEFORE = /(?<![^\s@<>()[\]",;:])[^\s@<>()[\]",;:]+$/;
const DOMAIN_BEHIND = /^[\p{L}\d-]+(?:\.[\p{L}\d-]+)+/u;
const MAX_LOCAL_LENGTH = 64;
const MAX_DOMAIN_LENGTH = 255;

/**
 * Matches trailers about what others have done (kernel.org, "Submitting patches"). Nobody writes
 * them about themselves.
 */
const BY_OTHERS = /^\s*(?:ack|nack|report|request|review|suggest|test)[a-z-]*-by:/i;

interface PeopleNamed {
  /** Lines for the person. */
  readonly lines: readonly string[];
  /** Whether all who are named are surely others. */
  readonly areOthers: boolean;
}

/** @param signOff the line that the service itself has added; null: none. */
export function peopleNamedIn(messages: Iterable<Uint8Array>, signOff: string | null): PeopleNamed {
  const looks = new Looks();
  const names = [...firstOf(namesIn(messages, looks))].filter((name) => name !== signOff);
  const heading = 'Your commit messages become public as they are. They name:';
  const areOthers = looks.ended.size === 0 && names.every((name) => BY_OTHERS.test(name));
  return { lines: [...told(heading, names.map(shown)), ...unsearchedLines(looks.ended)], areOthers };
}

/** Yields trailers that name someone, and e-mail addresses elsewhere, in the order of the texts. */
function* namesIn(messages: Iterable<Uint8Array>, looks: Looks): Generator<string> {
  const decoder = new TextDecoder();
  let bytesLeft = MAX_READ_BYTES;
  for (const message of messages) {
    if (looks.hasEnded(PEOPLE)) return;
    const text = decoder.decode(message.subarray(0, bytesLeft));
    let trailerEnd = 0;
    for (const { 0: sign, index } of matchesIn(text, PEOPLE, looks, MAX_PEOPLE)) {
      if (index < trailerEnd) continue;
      const trailer = sign === '@' ? null : trailerAt(text, index);
      if (trailer !== null) {
        yield trailer;
        trailerEnd = text.indexOf('\n', index);
        if (trailerEnd < 0) break;
      } else if (sign === '@') yield* addressesAt(text, index);
    }
    bytesLeft -= message.byteLength;
    if (bytesLeft < 0) looks.end(PEOPLE);
  }
}

/**
 * Returns the line of a trailer that names someone, or null if there is none.
 * @param at is the position of its `-by:`.
 */
function trailerAt(text: string, at: number): string | null {
  const from = Math.max(0, at - MAX_SHOWN_LENGTH);
  const start = from + text.slice(from, at).lastIndexOf('\n') + 1;
  const [line] = TRAILER.exec(text.slice(start, at + MAX_READ_TO_SHOW)) ?? [];
  return line ?? null;
}

/** Finds an address near an `@`. A pattern over a line of megabytes would take too long. */
function* addressesAt(text: string, at: number): Generator<string> {
  const domain = DOMAIN_BEHIND.exec(text.slice(at + 1, at + 1 + MAX_DOMAIN_LENGTH));
  const local = domain && LOCAL_BEFORE.exec(text.slice(Math.max(0, at - MAX_LOCAL_LENGTH), at));
  if (local) yield `${local[0]}@${domain[0]}`;
}

const HAS_BOTH = /[a-f]\d|\d[a-f]/;
const MAX_NAMED = 100;
/**
 * Maximum number of looks at people, and at ids. Thousands of commits name thousands, and each look
 * costs little.
 */
const MAX_PEOPLE = 10_000;
const MAX_IDS = 10_000;

const PEOPLE = 'people in messages';
const GITS_WORDS = 'commits that Git has named in messages';
const LIKE_IDS = 'ids of commits in messages';
const DAYS = 'days of commits in messages';
const CHANGE_IDS = 'Change-Ids';

/** The patterns for which messages are searched, by the kinds of `Looks`. */
export const SEARCHED = {
  [PEOPLE]: /@|-by:/gi,
  /**
   * Matches what certainly names a commit: Git's own words (`git revert`, `git cherry-pick -x`,
   * `git merge <id>`).
   */
  [GITS_WORDS]:
    /(?:^This reverts commit |^changes made to |^\(cherry picked from commit |^Merge commit ')([0-9a-f]{40})\b/gm,
  /**
   * Matches what likely names a commit: whole ids, and ids as Git abbreviates them and `git
   * describe` writes them, but no color, UUID or hash of another length. The first assertion
   * excludes nothing more, and saves two thirds of the time.
   */
  [LIKE_IDS]:
    /(?=[0-9a-g])(?<![0-9A-Za-z#]|[0-9a-f]{4}-)g?([0-9a-f]{40}|[0-9a-f]{7,16})(?![0-9A-Za-z]|-[0-9a-f]{4}-)/g,
  /** Matches the day of a commit, as `git log --format=reference` writes it. */
  [DAYS]: /, \d{4}-\d{2}-\d{2}\)/g,
  /**
   * Matches Gerrit's hash over name, address, second and zone, by which a guess can be tested,
   * wherever it stands.
   */
  [CHANGE_IDS]: /(?<![0-9a-z])I[0-9a-f]{40}(?![0-9a-f])/gi,
} as const satisfies Record<string, RegExp>;

/** Match every message with a Change-Id, an own day, or a sentence about a merge. */
export const SAID_BY_PROGRAMS = [SEARCHED[CHANGE_IDS], SEARCHED[DAYS], SENTENCES];

/** Yields places of a kind, as long as looks are left. */
function* matchesIn(
  text: string,
  kind: keyof typeof SEARCHED,
  looks: Looks,
  most?: number,
): Generator<RegExpExecArray> {
  if (looks.hasEnded(kind)) return;
  for (const match of text.matchAll(SEARCHED[kind])) {
    if (!looks.take(kind, most)) return;
    yield match;
  }
}

export interface NamedCommits {
  readonly oids: readonly Oid[];
  /** Whole or abbreviated ids, which may be something else. */
  readonly likely: readonly string[];
  /**
   * True if upstream's history was listed to its beginning without them. Otherwise, they may be
   * upstream's.
   */
  readonly areStrange: boolean;
}

/**
 * Finds commits that neither the push nor upstream has: probably earlier forms of the work, whose
 * ids serve to test a guess of name, address and second. It lists history further only if needed.
 * @param messages have zeros for the push's own ids.
 */
export async function namedCommits(
  messages: Iterable<Uint8Array>,
  history: Pick<UpstreamHistory, 'since' | 'isKnown' | 'unknownOf' | 'reachBack'>,
  looks = new Looks(),
  memory: Pick<Memory, 'worked'> = UNCOUNTED,
): Promise<NamedCommits> {
  const named = new Set<Oid>();
  const mentioned = new Set<string>();
  const note = (ids: Set<string>, id: string, kind: keyof typeof SEARCHED): void => {
    if (ids.size < MAX_NAMED) ids.add(ownText(id));
    else if (!ids.has(id)) looks.end(kind);
  };
  const patterns = [SEARCHED[GITS_WORDS], SEARCHED[LIKE_IDS]];
  for await (const message of textsWith(messages, patterns, memory)) {
    const text = latin1(message);
    for (const [, oid = ''] of matchesIn(text, GITS_WORDS, looks, MAX_IDS)) {
      if (oid !== ZERO_OID && !history.isKnown(oid)) note(named, oid, GITS_WORDS);
    }
    for (const [, id = ''] of matchesIn(text, LIKE_IDS, looks, MAX_IDS)) {
      if (HAS_BOTH.test(id) && !named.has(id) && !history.isKnown(id)) note(mentioned, id, LIKE_IDS);
    }
    await memory.worked(2 * message.byteLength);
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

/** Matches the zeros that replace the id of a commit of this push. */
const OWN = /^0+$/;
const BEFORE_SUBJECT = /(?<![0-9a-f])([0-9a-f]{7,40}) \(/g;
const MAX_SUBJECT_LENGTH = 400;

/**
 * Yields the parts of a message that tell the day of an own commit, as `git revert --reference`
 * writes it.
 * @param text has the message's bytes as Latin-1.
 * @param isOwn tells if the id beside it counts. By default, ids of this push do.
 */
export function* ownDaysIn(
  text: string,
  looks = new Looks(),
  isOwn = (id: string) => OWN.test(id),
): Generator<string> {
  for (const { 0: day, index } of matchesIn(text, DAYS, looks)) {
    const before = text.slice(Math.max(0, index - MAX_SUBJECT_LENGTH), index);
    const line = before.slice(before.lastIndexOf('\n') + 1);
    const ids = Array.from(line.matchAll(BEFORE_SUBJECT), ([, id = '']) => id);
    if (ids.some(isOwn)) yield fromLatin1(line + day);
  }
}

/**
 * Yields the positions of Change-Ids.
 * @param text has the message's bytes as Latin-1.
 */
export function* changeIdsIn(text: string, looks = new Looks()): Generator<number> {
  for (const { index } of matchesIn(text, CHANGE_IDS, looks)) yield index;
}
