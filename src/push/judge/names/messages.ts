/**
 * What messages name: people, commits that nobody has, and what a merge was made of; and whom they would disturb. A message
 * is kept byte for byte, so the person is told, and only the person.
 */
import { latin1 } from '../../../git/bytes.ts';
import { pullRequestText } from '../../../git/objects/commit-message.ts';
import { type Oid, ZERO_OID } from '../../../git/objects/oid.ts';
import type { Ref } from '../../../git/wire/ref-advertisement.ts';
import type { RepositoryName } from '../../../repository-name.ts';
import { readMarkdown } from '../../../text/markdown.ts';
import { noiseInMessage, noiseProblem, type Whereabouts } from '../../../text/noise.ts';
import type { UpstreamHistory } from '../../../upstream/upstream-history.ts';
import { Refusal } from '../../reply/refusal.ts';
import { namedText, type Publishable, wholeText, type Worded } from '../../verdict/verdict.ts';
import { shown, told } from './remarks.ts';

/** After so many different names, the search ends. */
const MAX_FOUND = 1_000;
/** Of all messages together: a few kilobytes may be megabytes of `a@b.a@b.`, compressed. */
const MAX_READ_BYTES = 2 * 1024 * 1024;
/** `Signed-off-by`, `Co-authored-by`, `Reported-by` and every other trailer that ends in `-by`. */
const TRAILER = /^\s*[a-z][a-z-]{0,40}-by:\s*\S/i;
const MAX_LOCAL_LENGTH = 64;
const MAX_DOMAIN_LENGTH = 255;

/** Trailers that name someone, and e-mail addresses elsewhere, in the order of the texts. */
function* namesIn(messages: Iterable<Uint8Array>): Generator<string> {
  const decoder = new TextDecoder();
  let bytesLeft = MAX_READ_BYTES;
  for (const message of messages) {
    for (const line of decoder.decode(message.subarray(0, bytesLeft)).split('\n')) {
      if (TRAILER.test(line)) yield line;
      else if (line.includes('@')) yield* addressesIn(line);
    }
    bytesLeft -= message.byteLength;
    if (bytesLeft <= 0) return;
  }
}

/** Looks only near each `@`: one pattern over a line of megabytes would take too long. */
function* addressesIn(line: string): Generator<string> {
  for (let at = line.indexOf('@'); at >= 0; at = line.indexOf('@', at + 1)) {
    const [domain] =
      /^[\p{L}\d-]+(?:\.[\p{L}\d-]+)+/u.exec(line.slice(at + 1, at + 1 + MAX_DOMAIN_LENGTH)) ?? [];
    if (domain === undefined) continue;
    const [local] =
      /(?<![^\s@<>()[\]",;:])[^\s@<>()[\]",;:]+$/.exec(line.slice(Math.max(0, at - MAX_LOCAL_LENGTH), at)) ??
      [];
    if (local !== undefined) yield `${local}@${domain}`;
  }
}

/** Lines for the person. @param signOff the line that the service itself has added; null: none. */
export function warningOfNames(messages: Iterable<Uint8Array>, signOff: string | null): string[] {
  const found = new Set<string>();
  for (const name of namesIn(messages)) {
    if (name !== signOff && found.add(name).size === MAX_FOUND) break;
  }
  return told('Your commit messages become public as they are. They name:', [...found].map(shown));
}

/** Git's own words (`git revert`, `git cherry-pick -x`, `git merge <id>`) surely name a commit. */
const GITS_WORDS =
  /(?:^This reverts commit |^changes made to |^\(cherry picked from commit |^Merge commit ')([0-9a-f]{40})\b/gm;
/** Else only likely: as Git abbreviates and `git describe` writes ids; no color, no part of a UUID, no other hash. */
const LIKE_IDS =
  /(?<![0-9A-Za-z#]|[0-9a-f]{4}-)g?([0-9a-f]{40}|[0-9a-f]{7,16})(?![0-9A-Za-z]|-[0-9a-f]{4}-)/g;
const HAS_BOTH = /[a-f]\d|\d[a-f]/;
const MAX_NAMED = 100;
/** `git log --format=reference`: the day is the commit's own, and zeros stand for one of this push. */
const DAY = /, \d{4}-\d{2}-\d{2}\)/g;
const OWN_BEFORE = /(?<![0-9a-f])0{7,40} \(/;
const MAX_SUBJECT_LENGTH = 400;

export interface NamedCommits {
  readonly oids: readonly Oid[];
  /** Ids, whole or abbreviated, that may be something else. */
  readonly likely: readonly string[];
  /** False: upstream's history could not be listed to its beginning, so they may be upstream's. */
  readonly areStrange: boolean;
}

/**
 * Commits that are neither the push's own, whose ids are replaced, nor upstream's: probably earlier forms of the person's
 * work, from before a rebase. Their ids are hashes over name, address and second, which serve to test a guess.
 * Lists upstream's history further back only if a message names a commit that is not known yet.
 * @param isOwn whether an id is replaced, or public anyway.
 */
export async function namedCommits(
  messages: Iterable<Uint8Array>,
  isOwn: (oid: Oid) => boolean,
  history: Pick<UpstreamHistory, 'since' | 'isKnown' | 'unknownOf' | 'reachBack'>,
): Promise<NamedCommits> {
  const [named, mentioned] = [new Set<Oid>(), new Set<string>()];
  for (const message of messages) {
    const text = latin1(message);
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
    const before = text.slice(Math.max(0, index - MAX_SUBJECT_LENGTH), index);
    const line = before.slice(before.lastIndexOf('\n') + 1);
    if (OWN_BEFORE.test(line)) yield line + day;
  }
}

/**
 * Change-Ids, which the commit-msg hook of Gerrit adds: `I<40 hex>`, after `Change-Id:` or at the end of a link
 * (`gerrit.reviewUrl`), and wherever else a person has copied one to. Nothing else looks like that. The hook makes them as
 * a hash over the committer's name, address, second and zone, which serves to test a guess, as an original id does.
 */
const CHANGE_ID = /(?<![0-9a-z])I[0-9a-f]{40}(?![0-9a-f])/gi;

/** Where each begins. Cost: linear in the text. */
export function* changeIdsIn(text: Uint8Array): Generator<number> {
  for (const { index } of latin1(text).matchAll(CHANGE_ID)) yield index;
}

export interface PublicNames {
  readonly refs: readonly Ref[];
  readonly repository: RepositoryName;
  /** Addresses of the repository, at the host and at the service. */
  readonly urls: readonly string[];
}

/** Written by Git (`fmt-merge-msg.c`) and hosts, also in a list of squashed commits and in a message of `git revert`. */
const SENTENCES = /^[ \t*>-]*(?:Revert ")?Merge ([^\r\n]+)/gm;
const QUOTED = /^(?:remote-tracking )?(?:branch(?:es)?|tags?|commits?) '/;
/** What a pull of a remote's HEAD leaves: its address alone. */
const ADDRESS = /^(?:\.{0,2}\/|~|[a-z+]+:\/\/|[\w.-]+@[\w.-]+:|[a-z]:[\\/])/i;
const OF_HOSTS = /^pull request .* from (\S+)$/;
/** Of the sentences that name something. */
const BEGINNINGS = [QUOTED, ADDRESS, /^pull request /];
/** What `git subtree add` writes: a commit, and the folder of the push that it fills. */
const OF_SUBTREE = /^commit '[0-9a-f]{7,40}' as '[^']+'$/;
const INTO = / into '?([^\s']+)'?$/;
/** What everybody calls a clone's origin. */
const USUAL_REMOTES = /^(?:origin|upstream)\//;
/** The host numbers these, and a commit's id is looked at elsewhere. */
const NOT_NAMED =
  /^(?:HEAD|FETCH_HEAD|[0-9a-f]{7,40}|refs\/(?:pull|merge-requests)\/\d+\/(?:head|merge))(?:[~^][\d~^]*)?$/;

/** More, and longer ones, count as private, unread: each costs microseconds, and no work has so many. */
const MAX_SENTENCES = 10_000;
const MAX_SENTENCE_LENGTH = 4_096;

/**
 * Tells which sentences of a merge name branches, remotes, paths and addresses of the person's own machine: only what
 * upstream itself is called by may stay. Cost: linear in the message.
 */
export class MergeSentences {
  readonly #names: PublicNames;
  #refNames: ReadonlySet<string> | null = null;
  #left = MAX_SENTENCES;

  constructor(names: PublicNames) {
    this.#names = names;
  }

  /** Each is a line. */
  *privateIn(message: Uint8Array): Generator<string> {
    const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString();
    for (const [line, words = ''] of text.matchAll(SENTENCES)) {
      // Most pushes merge nothing.
      this.#refNames ??= new Set(this.#names.refs.map(({ name }) => name));
      if (this.#left-- <= 0 || !isPublic(words, this.#names, this.#refNames)) yield line;
    }
  }
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

/** `https://host/owner/name`, `git@host:owner/name.git` and the like as one text. */
function plain(url: string): string {
  return url
    .toLowerCase()
    .replace(/^(?:[a-z+]+:\/\/)?(?:git@)?/, '')
    .replace(/^([^/:]+):(?!\d)/, '$1/')
    .replace(/(?<!\/)\/+$/, '')
    .replace(/\.git$/, '');
}

/** No id of the push's own commits refers to another repository. */
const NO_IDS = { idOf: () => ZERO_OID };

/** @throws Refusal if the text of the pull request would. */
export function refuseNoise(push: Worded, updates: boolean, where: Whereabouts): void {
  const { title, body } = updates ? namedText(push, NO_IDS) : wholeText(push, NO_IDS);
  const problem = noiseProblem(
    { title: readMarkdown(title ?? ''), description: readMarkdown(body ?? '') },
    where,
  );
  if (problem === null) return;
  throw new Refusal('noise', 'the pull request would disturb too many people', [
    `Its ${problem}.`,
    'Title and description come from the message of the newest commit. To replace them, push again with',
    '-o title=... or -o description=...',
  ]);
}

/**
 * Lines for the person, about messages that would; none if there are none. Hosts read no Markdown in messages. Cost:
 * linear in the messages, and bounded.
 */
export function warningOfNoise({ commits }: Pick<Publishable, 'commits'>, where: Whereabouts): string[] {
  const titles: string[] = [];
  let bytesLeft = MAX_READ_BYTES;
  for (const { encoding, message } of commits) {
    const { title, body } = pullRequestText({ encoding, message: message.bytes.subarray(0, bytesLeft) });
    if (noiseInMessage(`${title}\n${body}`, where) !== null) titles.push(title);
    bytesLeft -= message.bytes.byteLength;
    if (bytesLeft <= 0) break;
  }
  return told(
    'Your commit messages become public as they are. These mention many people, or refer to many things in other repositories:',
    titles.map(shown),
  );
}
