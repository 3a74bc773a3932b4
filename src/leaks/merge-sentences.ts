/** Finds what sentences about merges tell of the machine on which they were made. */
import { fromLatin1 } from '../git/bytes.ts';
import type { Ref } from '../git/wire/ref-advertisement.ts';
import type { RepositoryName } from '../words/repository-name.ts';

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
export const SENTENCES = /^[ \t*>-]*(?:Revert ")?Merge ([^\r\n]+)/gm;
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
