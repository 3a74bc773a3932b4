/**
 * Sentences that Git and code hosts write into the messages of merges (git, `fmt-merge-msg.c`). They name branches,
 * remotes, paths and addresses of the person's own machine, also the branch that is pushed, whose name is not published
 * otherwise. Only what upstream itself is called by may stay.
 */
import type { Ref } from '../../../git/wire/ref-advertisement.ts';
import type { RepositoryName } from '../../../repository-name.ts';

export interface PublicNames {
  readonly refs: readonly Ref[];
  readonly repository: RepositoryName;
  /** Addresses of the repository, at the host and at the service. */
  readonly urls: readonly string[];
}

/** Also in a list of squashed commits, and in a message of `git revert`. */
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

/** Tells which sentences of a message name something else than upstream. Cost: linear in the message. */
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
