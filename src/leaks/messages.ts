/**
 * Finds what a push tells besides the author's name: other people in messages, unknown commits,
 * what a merge was made of, home folders, and leftovers of programs. The service does not correct
 * it, and tells the person alone.
 * Proved by test/leaks/message-names.test.ts and test/leaks/remarks.test.ts.
 */
import { fromLatin1, latin1, ownText } from '../git/bytes.ts';
import { type Memory, UNCOUNTED } from '../git/memory.ts';
import { cut } from '../git/objects/commit-message.ts';
import { type Oid, ZERO_OID } from '../git/objects/oid.ts';
import { Looks } from '../git/search/looks.ts';
import { textsWith } from '../git/search/small-texts.ts';
import type { PackFindings } from '../git/search/pack-search.ts';
import type { Ref } from '../git/wire/ref-advertisement.ts';
import { type Finding, say, warnAt } from '../words/finding.ts';
import { visible } from '../words/host-text.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import type { UpstreamHistory } from '../upstream/upstream-history.ts';
import { COMPILED } from './file-kinds.ts';
import { toldByName } from './file-trails.ts';

export const MAX_SHOWN_LENGTH = 120;
const MAX_READ_TO_SHOW = 1_000;
/** Maximum number of lines that are shown. More are only counted. */
const MAX_SHOWN = 10;
/**
 * Number of different names or paths after which a search of texts ends. A message can have a
 * hundred thousand.
 */
const MAX_FOUND = 1_000;
/**
 * Maximum size of messages that is read. A few kilobytes may be megabytes of `a@b.a@b.`,
 * compressed.
 */
export const MAX_READ_BYTES = 2 * 1024 * 1024;

/**
 * Shortens what someone has written to one line of a terminal. The whole text may then be freed.
 */
export function shown(text: string): string {
  const near = ownText(text.slice(0, MAX_READ_TO_SHOW));
  return cut(visible(near.replaceAll(/\s+/g, ' ').trim()), MAX_SHOWN_LENGTH + 1);
}

/**
 * Tells of a search that has ended early; nothing if it has not.
 * @param kinds as `Looks` has them.
 */
export function unsearchedLines(
  kinds: Iterable<string>,
  advice = 'Check the rest yourself: git log -p HEAD --not --remotes',
): string[] {
  const all = [...new Set(kinds)];
  if (all.length === 0) return [];
  return [`Not searched further for ${listed(all)}: there is too much to look at. ${advice}`];
}

/** The first lines under a heading; nothing if there are none. */
export function told(heading: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_SHOWN ? [`  and ${lines.length - MAX_SHOWN} more`] : [];
  return [heading, ...lines.slice(0, MAX_SHOWN).map((line) => `  ${line}`), ...more];
}

/** Lists words, such as `a, b and 7 more`. */
export function listed(words: readonly string[]): string {
  const few = words.slice(0, MAX_SHOWN);
  if (words.length > few.length) few.push(`${words.length - few.length} more`);
  return few.length === 1 ? few.join() : `${few.slice(0, -1).join(', ')} and ${few.at(-1)}`;
}

/** Returns the first thousand different texts. */
function firstOf(found: Iterable<string>): Set<string> {
  const first = new Set<string>();
  for (const words of found) if (first.add(words).size === MAX_FOUND) break;
  return first;
}

const REMOVE_METADATA =
  'To remove it from a file: "exiftool -all= <file>", or "mat2 --inplace <file>", which also reads documents.';

/** Lists the files that tell something, one of each kind first, because only some are shown. */
function ofEachKindFirst(paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    const tells = toldByName(path);
    return tells === null ? [] : { tells, line: `${shown(path)}: ${tells}` };
  });
  const kinds = [...Map.groupBy(found, ({ tells }) => tells).values()];
  return [...kinds.map((files) => files.slice(0, 1)), ...kinds.map((files) => files.slice(1))]
    .flat()
    .map(({ line }) => line);
}

type Remarkable = Pick<PackFindings, 'homeFolders' | 'files' | 'opaque'>;

/**
 * Findings that refuse nothing, because all of it may be wanted.
 * @param homes paths of home folders in texts, with where they are.
 */
export function remarksOn(homes: Iterable<string>, { homeFolders, files, opaque }: Remarkable): Finding[] {
  const {
    telling = [],
    compiled = [],
    silent = [],
  } = Object.groupBy(opaque, ({ tells, kind }) => {
    if (tells.length > 0) return 'telling';
    return COMPILED.has(kind) ? 'compiled' : 'silent';
  });
  const inFiles = homeFolders.map(({ home, path }) => `${path ?? 'a changed file'}: ${home}`);
  return [
    ...warnAt(
      'home-folders',
      homeFolders.flatMap(({ path }) => path ?? []),
      ...told(
        'Paths of home folders become public. Check whether they name you:',
        Array.from(firstOf([...inFiles, ...homes]), shown),
      ),
    ),
    ...warnAt(
      'leftovers',
      (files ?? []).filter((path) => toldByName(path) !== null),
      ...told('Files of an editor, a system or one machine become public:', ofEachKindFirst(files ?? [])),
    ),
    ...warnAt(
      'metadata',
      telling.flatMap(({ path }) => path ?? []),
      ...told('These pictures say more than they show:', telling.map(described)),
    ),
    ...warnAt(
      'compiled-files',
      compiled.flatMap(({ path }) => path ?? []),
      ...told(
        'These files are compiled, and may hold paths of the machine that has made them:',
        compiled.map(described),
      ),
    ),
    ...say(
      'opaque-files',
      ...told('The service cannot search inside these files for names:', silent.map(described)),
    ),
    ...(telling.length + silent.length === 0 ? [] : say('metadata-tools', REMOVE_METADATA)),
  ];
}

function described({ path, kind, tells }: Remarkable['opaque'][number]): string {
  const name = path === null ? kind : `${shown(path)} (${kind})`;
  return tells.length === 0 ? name : shown(`${name}: ${tells.join('; ')}`);
}

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

export interface PublicNames {
  readonly refs: readonly Ref[];
  readonly repository: RepositoryName;
  /** Addresses of the repository, at the host and at the service. */
  readonly urls: readonly string[];
}

/**
 * Matches sentences of Git (`fmt-merge-msg.c`) and of hosts, also those in a list of squashed
 * commits, and those that `git revert` quotes.
 */
const SENTENCES = /^[ \t*>-]*(?:Revert ")?Merge ([^\r\n]+)/gm;
/** Match every message with a Change-Id, an own day, or a sentence about a merge. */
export const SAID_BY_PROGRAMS = [SEARCHED[CHANGE_IDS], SEARCHED[DAYS], SENTENCES];
const QUOTED = /^(?:remote-tracking )?(?:branch(?:es)?|tags?|commits?) '/;
/** Matches the address that a pull of a remote's HEAD leaves. */
const ADDRESS = /^(?:\.{0,2}\/|~|[a-z+]+:\/\/|[\w.-]+@[\w.-]+:|[a-z]:[\\/])/i;
const OF_HOSTS = /^pull request .* from (\S+)$/;
/** The beginnings of sentences that name something. */
const BEGINNINGS = [QUOTED, ADDRESS, /^pull request /];
/** Matches what `git subtree add` writes: a commit, and the folder of the push that it fills. */
const OF_SUBTREE = /^commit '[0-9a-f]{7,40}' as '[^']+'$/;
const INTO = / into '?([^\s']+)'?$/;
/** Matches the usual names of a clone's remotes. */
const USUAL_REMOTES = /^(?:origin|upstream)\//;
/**
 * Matches names that need not be upstream's: HEAD and FETCH_HEAD, refs that the host numbers, and
 * ids of commits, which are examined elsewhere.
 */
const NOT_NAMED =
  /^(?:HEAD|FETCH_HEAD|[0-9a-f]{7,40}|refs\/(?:pull|merge-requests)\/\d+\/(?:head|merge))(?:[~^][\d~^]*)?$/;
/**
 * Maximum length of sentences that are read, and the overhead that is counted for each. Further
 * ones count as private, unread.
 */
const MAX_SENTENCES_LENGTH = 1024 * 1024;
const SENTENCE_LENGTH = 64;
const MAX_SENTENCE_LENGTH = 4_096;

/**
 * Yields the private sentences of a message.
 * @param message has its bytes as Latin-1.
 */
export type PrivateIn = (message: string) => Iterable<string>;

/**
 * Finds lines about merges that name branches, remotes, paths or addresses of one machine. Only
 * upstream's may stay.
 */
export function privateMerges(names: PublicNames): PrivateIn {
  let refNames: ReadonlySet<string> | null = null;
  let left = MAX_SENTENCES_LENGTH;
  return function* (message) {
    for (const [line, words = ''] of message.matchAll(SENTENCES)) {
      // Most pushes merge nothing.
      refNames ??= new Set(names.refs.map(({ name }) => name));
      const sentence = fromLatin1(words.slice(0, MAX_SENTENCE_LENGTH + 1));
      left -= SENTENCE_LENGTH + Math.min(words.length, MAX_SENTENCE_LENGTH);
      if (left < 0 || !isPublic(sentence, names, refNames))
        yield fromLatin1(line.slice(0, MAX_SENTENCE_LENGTH));
    }
  };
}

function isPublic(sentence: string, names: PublicNames, refNames: ReadonlySet<string>): boolean {
  if (sentence.length > MAX_SENTENCE_LENGTH) return !BEGINNINGS.some((pattern) => pattern.test(sentence));
  const words = sentence.trimEnd().replace(/"$/, '');
  const [into = '', target = 'HEAD'] = INTO.exec(words) ?? [];
  const sources = words.slice(0, words.length - into.length);
  const isKnown = (name: string): boolean =>
    NOT_NAMED.test(name) || isUpstreams(name, names.repository.owner, refNames);
  const isOwnAddress = (url: string): boolean => names.urls.some((own) => plain(own) === plain(url));
  const [, head] = OF_HOSTS.exec(sources) ?? [];
  if (head !== undefined) return [head, target].every(isKnown);
  if (OF_SUBTREE.test(sources)) return isKnown(target);
  if (ADDRESS.test(sources)) return isOwnAddress(sources) && isKnown(target);
  if (!QUOTED.test(sources)) return true;
  const named = Array.from(sources.matchAll(/'([^']+)'/g), ([, name = '']) => name);
  const from = sources.split(/[;,] /).flatMap((part) => part.split("' of ").slice(1));
  return [...named, target].every(isKnown) && from.every(isOwnAddress);
}

function isUpstreams(name: string, owner: string, refNames: ReadonlySet<string>): boolean {
  const own = name.startsWith(`${owner}/`) ? name.slice(owner.length + 1) : name.replace(USUAL_REMOTES, '');
  return [name, own].some((short) =>
    ['refs/heads/', 'refs/tags/', 'refs/', ''].some((prefix) => refNames.has(prefix + short)),
  );
}

/**
 * Writes equal addresses as one text: `https://host/owner/name`, `git@host:owner/name.git` and
 * similar ones.
 */
function plain(url: string): string {
  return url
    .toLowerCase()
    .replace(/^(?:[a-z+]+:\/\/)?(?:git@)?/, '')
    .replace(/^([^/:]+):(?!\d)/, '$1/')
    .replace(/(?<!\/)\/+$/, '')
    .replace(/\.git$/, '');
}
