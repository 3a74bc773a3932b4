/**
 * Describes what texts and files would reveal of a person, in lines for that person alone: certain
 * leaks, and likely ones.
 */
import { latin1, utf8 } from '../git/bytes.ts';
import type { Credential } from '../git/search/credentials.ts';
import type { ContentHit } from '../git/search/pack-search.ts';
import type { SearchedNames } from '../git/search/searched-names.ts';
import { type Finding, warn } from '../words/finding.ts';
import { listed, MAX_SHOWN_LENGTH, shown } from './lines.ts';
import type { PrivateIn } from './merge-sentences.ts';
import { changeIdsIn, type NamedCommits, ownDaysIn } from './messages.ts';

export const MAX_FINDINGS = 10;
const LF = 0x0a;
/** Maximum number of bytes that are read of a line from a find on. A character has at most four. */
const MAX_SHOWN_BYTES = 4 * MAX_SHOWN_LENGTH;
const SHOWN_OF_CREDENTIAL = 12;
/** Matches folders and files of tests and examples, whose credentials are usually made up. */
const EXAMPLES =
  /(?:^|[/._-])(?:tests?|spec|specs|fixtures?|examples?|samples?|mocks?|testdata|e2e)(?:[/._-]|$)/i;

/**
 * @property reason for the status table. @property heading before the places where it was found.
 */
interface Leak {
  readonly reason: string;
  readonly heading: string;
  readonly advice: readonly string[];
  /** True if a rebase onto the base removes it. */
  readonly endsWithRebase?: true;
}

const REMOVE_NAMES = [
  'Remove it and push again: "git commit --amend" changes the last commit, "git rebase -i" earlier ones.',
];

/** The worst first. */
const LEAKS = {
  name: {
    reason: 'your name would become public',
    heading: 'Your name or address would become public:',
    advice: REMOVE_NAMES,
  },
  credential: {
    reason: 'a credential would become public',
    heading: 'A credential would become public:',
    advice: [
      'Whoever issued it knows whose it is, and hosts tell the issuer of what they find. Remove it and push again: "git commit --amend"',
      'changes the last commit, "git rebase -i" earlier ones. If it was ever pushed elsewhere, revoke it.',
    ],
  },
  'others-name': {
    reason: 'the name of another author would become public',
    heading: 'The name or address of an author other than the newest commit’s would become public:',
    advice: REMOVE_NAMES,
  },
  id: {
    reason: 'original commit ids would become public',
    heading: 'The original id of a commit would become public:',
    advice: [
      'An original id was made from your name and the time, so anybody can use it to test a guess at who you are. And it leads',
      'nowhere, because the service gives your commits other ids. Remove it and push again.',
    ],
  },
  'change-id': {
    reason: 'a Change-Id would become public',
    heading: 'A Change-Id would become public:',
    advice: [
      'Gerrit’s hook makes a Change-Id from your name, your address, the time and your time zone, so anybody can use it to test',
      'a guess at who you are. Remove its line from the last commit with "git -c gerrit.createChangeId=false commit --amend",',
      'from earlier ones with "git -c gerrit.createChangeId=false rebase -i". Without that setting, the hook adds another one.',
      'Did "git cherry-pick" copy it from a commit of upstream? Then it is public already, and its line can be deleted safely.',
    ],
  },
  merge: {
    reason: 'names of your branches or remotes would become public',
    heading: 'The message of a merge shows what you call a branch, a remote or a folder:',
    advice: [],
    endsWithRebase: true,
  },
} as const satisfies Record<string, Leak>;

/** Headings of what is only likely, because it may mean something else. */
const LIKELY = {
  credentials:
    'This looks like a credential, by which its issuer knows you. Check it before it becomes public:',
  ids: 'These look like ids of commits that upstream does not have. An original id of yours would help to guess your name:',
  days: 'The day on which you made a commit would become public. Remove it from the message:',
  words: 'A name or login may become public. Check whether these lines name you:',
};

type What = keyof typeof LEAKS | keyof typeof LIKELY;

/**
 * The two checks. `names` is for everything by which the author can be known, `secrets` for
 * credentials.
 */
interface Looked {
  readonly names: boolean;
  readonly secrets: boolean;
}

/** Collects what a push would reveal of the person in its messages, texts and files. */
export class FoundLeaks {
  /** Paths of home folders in texts, with their places. */
  readonly homes = new Set<string>();
  readonly #names: SearchedNames;
  readonly #refusesAll: boolean;
  readonly #looksFor: Looked;
  readonly #lines = new Map<What, string[]>();

  /**
   * Starts to collect.
   * @param refusesAll makes a likely credential a leak, too.
   * @param looksFor says which checks are on.
   */
  constructor(names: SearchedNames, refusesAll = false, looksFor: Looked = { names: true, secrets: true }) {
    this.#names = names;
    this.#refusesAll = refusesAll;
    this.#looksFor = looksFor;
  }

  /**
   * Searches a text. Ids of the push's own commits in it do not count, because they are replaced.
   * @param where names the text in the words of the message.
   */
  addText(where: () => string, text: Uint8Array): void {
    this.#addChangeIds(where, text, latin1(text));
    this.#addNames(where, where, text);
  }

  #addChangeIds(where: () => string, text: Uint8Array, plain: string): void {
    for (const at of changeIdsIn(plain, this.#names.looks))
      if (!this.#add('change-id', where, () => lineAround(text, at + 1))) break;
  }

  /** @param place names the place of a path. */
  #addNames(where: () => string, place: () => string, text: Uint8Array): void {
    const addLine = (what: What, at: number) => this.#add(what, where, () => lineAround(text, at));
    const { name, word, credentials, homes } = this.#names.firstIn(text, this.#names.looks);
    for (const credential of credentials) this.#addCredential(where, credential, false);
    for (const path of homes) this.homes.add(`${place()}: ${path}`);
    if (name !== null) addLine(this.#leakOf(name.text), name.end - 1);
    if (word !== null) addLine('words', word.end - 1);
  }

  /**
   * Notes names of one word.
   * @param lines are of files.
   * @param paths are of files and folders.
   */
  addWords(lines: readonly string[], paths: readonly string[]): void {
    for (const words of lines) this.#add('words', 'a changed file', () => words);
    for (const path of paths) {
      if (this.#names.firstIn(utf8(path), this.#names.looks).word !== null)
        this.#add('words', 'name of a file', () => path);
    }
  }

  /** Searches a message for names and credentials. */
  addMessage(message: Uint8Array): void {
    this.#addNames(
      () => placeOfMessage(message),
      () => 'a message',
      message,
    );
  }

  /** Notes what programs have written into a message. Few messages match SAID_BY_PROGRAMS. */
  addSaidByPrograms(message: Uint8Array, privateIn: PrivateIn): void {
    const where = (): string => placeOfMessage(message);
    // Decode it once, because it can have megabytes.
    const text = latin1(message);
    this.#addChangeIds(where, message, text);
    for (const day of ownDaysIn(text, this.#names.looks)) if (!this.#add('days', where, () => day)) break;
    for (const sentence of privateIn(text)) if (!this.#add('merge', null, () => sentence)) break;
  }

  /** Notes commits that a message names and that are unknown, and their days. */
  addStrangers(
    { oids, likely }: Pick<NamedCommits, 'oids' | 'likely'>,
    publics: ReadonlyMap<string, unknown>,
    messages: Iterable<Uint8Array> = [],
  ): void {
    const strange = new Set(likely.filter((id) => !publics.has(id)));
    for (const message of strange.size === 0 ? [] : messages) {
      const days = ownDaysIn(latin1(message), this.#names.looks, (id) => strange.has(id));
      for (const day of days) if (!this.#add('days', 'a message', () => day)) break;
    }
    const where = 'a message names a commit that upstream does not have';
    for (const id of strange) this.#add('ids', 'a message', () => id);
    for (const oid of oids) if (!publics.has(oid)) this.#add('id', where, () => oid);
  }

  addHits(hits: readonly ContentHit[]): void {
    for (const { excerpt, kind, text, credential, paths } of hits) {
      const [path] = paths;
      const file = path === undefined ? 'a changed file' : shown(path);
      if (credential !== null) {
        // A file that is also in another folder is no example.
        const isExample = paths.every((each) => EXAMPLES.test(each));
        this.#addCredential(() => file, credential, isExample);
        continue;
      }
      const where = kind === 'name' ? 'name of a file' : file;
      const isId = this.#names.kindOf(text) === 'id';
      const whose = isId ? `${where}: the id of a commit of this push` : where;
      // In UTF-16, every other byte is NUL.
      const plain = () => Buffer.from(excerpt).toString().replaceAll('\0', '');
      this.#add(this.#leakOf(text), whose, plain);
    }
  }

  /** Returns the kinds of leaks that were found, the worst first. */
  get leaks(): readonly Leak[] {
    return this.#foundOf(LEAKS).map((kind) => LEAKS[kind]);
  }

  /** Returns the places of the leaks. */
  get lines(): readonly string[] {
    return this.#foundOf(LEAKS)
      .flatMap((kind) => this.#lines.get(kind) ?? [])
      .slice(0, MAX_FINDINGS);
  }

  /** Returns what is only likely. */
  get likely(): readonly Finding[] {
    return this.#foundOf(LIKELY).flatMap((kind) =>
      warn(kind, LIKELY[kind], ...(this.#lines.get(kind) ?? [])),
    );
  }

  #foundOf<T extends What>(kinds: Readonly<Record<T, unknown>>): T[] {
    return (Object.keys(kinds) as T[]).filter((kind) => this.#lines.has(kind));
  }

  /**
   * Notes a credential. Only its beginning is shown, because terminals and logs keep it.
   * @param isExample says that it may be an example.
   */
  #addCredential(where: () => string, { what, isProven, text }: Credential, isExample: boolean): void {
    const kind = (isProven && !isExample) || this.#refusesAll ? 'credential' : 'credentials';
    this.#add(kind, where, () => `${what} (${shown(text.slice(0, SHOWN_OF_CREDENTIAL))}…)`);
  }

  #leakOf(text: number): keyof typeof LEAKS {
    const kind = this.#names.kindOf(text);
    return kind === 'id' || kind === 'others-name' ? kind : 'name';
  }

  /**
   * Adds a line.
   * @param where null: the line itself says it.
   * @returns false if no more are shown.
   */
  #add(kind: What, where: string | (() => string) | null, describe: () => string): boolean {
    const isSecret = kind === 'credential' || kind === 'credentials';
    if (!(isSecret ? this.#looksFor.secrets : this.#looksFor.names)) return false;
    const lines = this.#lines.get(kind) ?? [];
    if (lines.length === 0) this.#lines.set(kind, lines);
    if (lines.length >= MAX_FINDINGS) return false;
    const place = where === null ? '' : `${typeof where === 'string' ? where : where()}: `;
    lines.push(`  ${place}${shown(describe())}`);
    return true;
  }
}

/** Names a message by its title, for the person. */
export function placeOfMessage(message: Uint8Array): string {
  const title = Buffer.from(message.subarray(0, 400)).toString().trimStart().split('\n')[0] ?? '';
  return `message of "${shown(title)}"`;
}

/**
 * Returns the part of a line that is shown. A line can have megabytes, and ten of them may be
 * shown.
 */
export function lineAround(text: Uint8Array, at: number): string {
  const from = Math.max(0, at - MAX_SHOWN_LENGTH);
  const near = text.subarray(from, at + MAX_SHOWN_BYTES);
  const start = near.lastIndexOf(LF, at - 1 - from) + 1;
  const end = near.indexOf(LF, at - from);
  return Buffer.from(near.subarray(start, end < 0 ? near.length : end)).toString();
}

/** Tells if a leak is of a credential, which has a check of its own. */
export function isOfSecret(leak: Leak): boolean {
  return leak === LEAKS.credential;
}

/**
 * The way on for whoever wants it. A form has no such option (routes/forms/change/form-push.ts).
 */
export const PUBLISH_ANYWAY = 'To publish it anyway, add: -o publish-names';

/**
 * Advises what to do about leaks, and how to publish them all the same.
 * @param rebase the command that rebases onto the base.
 */
export function adviceOf(leaks: readonly Leak[], rebase: string): string[] {
  const command = leaks.some((leak) => leak.endsWithRebase)
    ? ['Run this, and push again:', `  ${rebase}`]
    : [];
  return [...new Set(leaks.flatMap(({ advice }) => advice)), ...command, PUBLISH_ANYWAY];
}

export const NOBODY_SEARCHED =
  'The commits name nobody, so the service searched for no name. Check them yourself.';

/** The beginning of the sentence that says what was searched for. */
export const SEARCHED_FOR = 'The service searched for ';

/**
 * Says what was searched for: `The service searched for ada@example.org and Ada Lovelace. It did
 * not search for Max (one short word).`
 */
export function searchedLine({ terms, skipped }: SearchedNames['identities']): string {
  const others = Array.from(skipped, ([term, reason]) => `${shown(term)} (${reason})`);
  if (terms.size === 0) {
    if (others.length === 0) return NOBODY_SEARCHED;
    return `The commits name only ${listed(others)}, so the service searched for no name. Check them yourself.`;
  }
  const not = others.length === 0 ? '' : ` It did not search for ${listed(others)}.`;
  return `${SEARCHED_FOR}${listed([...terms].map(shown))}.${not}`;
}
