/**
 * What a push would reveal of the person, found in its messages, texts and files, and the refusal that says so. Only the
 * person is shown these lines.
 */
import { utf8 } from '../../../git/bytes.ts';
import type { Oid } from '../../../git/objects/oid.ts';
import type { Credential } from '../../../git/search/credentials.ts';
import type { ContentHit, PackFindings } from '../../../git/search/pack-search.ts';
import type { SearchedNames } from '../../../git/search/searched-names.ts';
import { Refusal } from '../../reply/refusal.ts';
import { changeIdsIn, type MergeSentences, type NamedCommits, ownDaysIn } from './messages.ts';
import { listed, MAX_SHOWN_LENGTH, shown } from './remarks.ts';

/** No more are shown. */
export const MAX_FINDINGS = 10;
const SHOWN_OF_CREDENTIAL = 12;
/** Folders and files of tests and examples, whose credentials are made up as a rule. */
const EXAMPLES =
  /(?:^|[/._-])(?:tests?|spec|specs|fixtures?|examples?|samples?|mocks?|testdata|e2e)(?:[/._-]|$)/i;

/** @property reason for the status table. @property heading before the places where it was found. */
interface Leak {
  readonly reason: string;
  readonly heading: string;
  readonly advice: readonly string[];
}

const NAMES: Leak = {
  reason: 'your name would become public',
  heading: 'Your name or address would become public:',
  advice: [
    'Remove it and push again: "git commit --amend" changes the last commit, "git rebase -i" earlier ones.',
  ],
};

const OTHERS_NAMES: Leak = {
  reason: 'the name of another author would become public',
  heading: 'The name or address of an author other than the newest commit’s would become public:',
  advice: NAMES.advice,
};

const ORIGINAL_IDS: Leak = {
  reason: 'original commit ids would become public',
  heading: 'The original id of a commit would become public:',
  advice: [
    'An original id was made from your name and the time, so anybody can use it to test a guess at who you are. And it leads',
    'nowhere, because the service gives your commits other ids. Remove it and push again.',
  ],
};

const CHANGE_IDS: Leak = {
  reason: 'a Change-Id would become public',
  heading: 'A Change-Id would become public:',
  advice: [
    'Gerrit’s hook makes a Change-Id from your name, your address, the time and your time zone, so anybody can use it to test',
    'a guess at who you are. Remove its line from the last commit with "git -c gerrit.createChangeId=false commit --amend",',
    'from earlier ones with "git -c gerrit.createChangeId=false rebase -i". Without that setting, the hook adds another one.',
    'Did "git cherry-pick" copy it from a commit of upstream? Then it is public already, and its line can be deleted safely.',
  ],
};

const MERGES: Leak = {
  reason: 'names of your branches or remotes would become public',
  heading: 'The message of a merge names something that upstream does not have:',
  advice: [
    'It may be a branch, a remote, a folder or an address of yours. "git rebase" onto upstream’s branch drops merges,',
    'and -o squash makes one commit of all. Or change the message: "git commit --amend", "git rebase -i --rebase-merges".',
  ],
};

const CREDENTIALS: Leak = {
  reason: 'a credential would become public',
  heading: 'A credential would become public:',
  advice: [
    'Whoever issued it knows whose it is, and hosts tell the issuer of what they find. Remove it and push again: "git commit --amend"',
    'changes the last commit, "git rebase -i" earlier ones. If it was ever pushed elsewhere, revoke it.',
  ],
};

/** The worst first. */
const LEAKS = [NAMES, CREDENTIALS, OTHERS_NAMES, ORIGINAL_IDS, CHANGE_IDS, MERGES];

/** Headings of what is likely only, as it may mean something else: no leak. */
const LIKELY =
  'This looks like a credential, by which its issuer knows you. Check it before it becomes public:';
const IDS =
  'These look like ids of commits that upstream does not have. An original id of yours would help to guess your name:';
const DAYS = 'The day on which you made a commit would become public. Remove it from the message:';
const WORDS = 'A name or login may become public. Check whether these lines name you:';

export class Findings {
  readonly #names: SearchedNames;
  readonly #refusesAll: boolean;
  readonly #lines = new Map<Leak | string, string[]>();

  /** @param refusesAll whether what only looks like a credential is a leak, too. */
  constructor(names: SearchedNames, refusesAll = false) {
    this.#names = names;
    this.#refusesAll = refusesAll;
  }

  /** Ids of own commits in it do not count, as they are replaced. @param where in the words of the message. */
  addText(where: () => string, text: Uint8Array): void {
    const addLine = (what: Leak | string, at: number) =>
      this.#add(what, () => line(where(), lineAround(text, at)));
    for (const at of changeIdsIn(text)) addLine(CHANGE_IDS, at + 1);
    const { name, word, credentials } = this.#names.firstIn(text);
    for (const credential of credentials) this.#addCredential(where(), credential, false);
    if (name !== null) addLine(this.#leakOf(name.text), name.end - 1);
    if (word !== null) addLine(WORDS, word.end - 1);
  }

  /** @param lines of files. @param paths of new files. */
  addWords(lines: readonly string[], paths: readonly string[]): void {
    for (const words of lines) this.#add(WORDS, () => line('a changed file', words));
    for (const path of paths) {
      if (this.#names.firstIn(utf8(path)).word !== null) this.#add(WORDS, () => line('name of a file', path));
    }
  }

  addMessages(messages: Iterable<Uint8Array>, merges: MergeSentences): void {
    for (const message of messages) {
      const where = (): string => `message of "${shown(subjectOf(message))}"`;
      this.addText(where, message);
      for (const day of ownDaysIn(message)) this.#add(DAYS, () => line(where(), day));
      for (const sentence of merges.privateIn(message)) {
        if (!this.#add(MERGES, () => line(where(), sentence))) break;
      }
    }
  }

  /** Commits that a message names and nobody has. @param likely may be something else. */
  addStrangers(oids: readonly Oid[], likely: readonly string[]): void {
    for (const id of likely) this.#add(IDS, () => `  a message: ${id}`);
    for (const oid of oids) {
      this.#add(ORIGINAL_IDS, () => `  a message names a commit that upstream does not have: ${oid}`);
    }
  }

  /** In files and folders. */
  addHits(hits: readonly ContentHit[]): void {
    for (const { excerpt, kind, text, credential, path } of hits) {
      if (credential !== null) {
        const isExample = path === null || EXAMPLES.test(path);
        this.#addCredential(path === null ? 'a changed file' : shown(path), credential, isExample);
        continue;
      }
      const words = shown(Buffer.from(excerpt).toString());
      const what = this.#names.kindOf(text) === 'id' ? `the id of a commit of this push: ${words}` : words;
      const where = kind === 'name' ? 'name of a file' : path === null ? 'a changed file' : shown(path);
      this.#add(this.#leakOf(text), () => `  ${where}: ${what}`);
    }
  }

  /** What was found, the worst first. */
  get leaks(): readonly Leak[] {
    return LEAKS.filter((leak) => this.#lines.has(leak));
  }

  /** Where. */
  get lines(): readonly string[] {
    return LEAKS.flatMap((leak) => this.#lines.get(leak) ?? []).slice(0, MAX_FINDINGS);
  }

  /** What is likely only, under headings. */
  get words(): readonly string[] {
    return [LIKELY, IDS, DAYS, WORDS].flatMap((heading) => {
      const lines = this.#lines.get(heading);
      return lines === undefined ? [] : [heading].concat(lines);
    });
  }

  /** Only its beginning is shown, because terminals and logs remember. @param isExample it may be. */
  #addCredential(where: string, { what, isProven, text }: Credential, isExample: boolean): void {
    const described = `  ${where}: ${what} (${shown(text.slice(0, SHOWN_OF_CREDENTIAL))}…)`;
    this.#add((isProven && !isExample) || this.#refusesAll ? CREDENTIALS : LIKELY, () => described);
  }

  #leakOf(text: number): Leak {
    const kind = this.#names.kindOf(text);
    if (kind === 'id') return ORIGINAL_IDS;
    return kind === 'others-name' ? OTHERS_NAMES : NAMES;
  }

  /** False if no more are shown. */
  #add(what: Leak | string, describe: () => string): boolean {
    const lines = this.#lines.get(what) ?? [];
    if (lines.length === 0) this.#lines.set(what, lines);
    return lines.length < MAX_FINDINGS && lines.push(describe()) > 0;
  }
}

function line(where: string, text: string): string {
  return `  ${where}: ${shown(text)}`;
}

function subjectOf(message: Uint8Array): string {
  return Buffer.from(message.subarray(0, 400)).toString().trimStart().split('\n')[0] ?? '';
}

function lineAround(text: Uint8Array, at: number): string {
  const start = Math.max(text.lastIndexOf(0x0a, at - 1) + 1, at - MAX_SHOWN_LENGTH);
  const end = text.indexOf(0x0a, at);
  return Buffer.from(text.subarray(start, end < 0 ? text.length : end)).toString();
}

/** @param leaks at least one, the worst first. @param lines where they are, and what was searched. */
export function wouldBePublic(leaks: readonly Leak[], lines: readonly string[]): Refusal {
  return new Refusal('names', leaks[0]?.reason ?? '', [
    ...lines,
    ...new Set(leaks.flatMap(({ advice }) => advice)),
    'To publish it anyway, add: -o publish-names',
  ]);
}

export function nothingFound({ hasNames, identities }: SearchedNames, gaps: readonly string[]): string[] {
  if (!hasNames) return [];
  if (identities.skipped.size > 0 || gaps.length > 0)
    return ['The service found none of the words that it searched for.'];
  return ['The service found no name or address of the commits’ authors in what would become public.'];
}

export const NOBODY_SEARCHED =
  'The commits name nobody, so the service searched for no name. Check them yourself.';

/** `The service searched for ada@example.org and Ada Lovelace. It did not search for Max (one short word).` */
export function searchedLine({ terms, skipped }: SearchedNames['identities']): string {
  const others = Array.from(skipped, ([term, reason]) => `${shown(term)} (${reason})`);
  if (terms.size === 0) {
    if (others.length === 0) return NOBODY_SEARCHED;
    return `The commits name only ${listed(others)}, so the service searched for no name. Check them yourself.`;
  }
  const not = others.length === 0 ? '' : ` It did not search for ${listed(others)}.`;
  return `The service searched for ${listed([...terms].map(shown))}.${not}`;
}

/** What was not searched, or cannot be told. */
export function gapsOf(
  names: SearchedNames,
  findings: Findings,
  strangers: NamedCommits,
  found: PackFindings,
): string[] {
  return [
    ...unlessAll(findings.lines.length < MAX_FINDINGS, 'The search ended here: there may be more.'),
    ...unlessAll(
      names.isComplete,
      'The commits name more people than the service can search for. It did not search for all of them in every form.',
    ),
    ...unlessAll(
      found.isComplete,
      'The service could not search all of the changed files for names. Check them for yours.',
    ),
    ...(strangers.areStrange ? [] : strangers.oids).map(
      (oid) => `A message names the commit ${oid}. Make sure that it is not one of yours.`,
    ),
    ...unlessAll(
      names.hasAllIds,
      'There are too many commits to search the files for the original ids of all of them.',
    ),
  ];
}

function unlessAll(isAll: boolean, gap: string): string[] {
  return isAll ? [] : [gap];
}
