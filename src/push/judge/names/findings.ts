/**
 * What a push would reveal of the person: found in its messages, its texts and its files, and told in a few lines. Only
 * the person is shown these.
 */
import { utf8 } from '../../../git/bytes.ts';
import type { Oid } from '../../../git/objects/oid.ts';
import { changeIdsIn } from '../../../git/search/change-ids.ts';
import type { Credential } from '../../../git/search/credentials.ts';
import type { ContentHit } from '../../../git/search/pack-search.ts';
import type { SearchedNames } from '../../../git/search/searched-names.ts';
import { CHANGE_IDS, CREDENTIALS, type Leak, MERGES, NAMES, ORIGINAL_IDS, OTHERS_NAMES } from './leaks.ts';
import type { MergeSentences } from './merge-sentences.ts';
import { ownDaysIn } from './named-commits.ts';
import { MAX_SHOWN_LENGTH, shown } from './shown.ts';

/** No more are shown. */
export const MAX_FINDINGS = 10;
const SHOWN_OF_CREDENTIAL = 12;

/** Folders and files of tests and examples, whose credentials are made up as a rule. */
const EXAMPLES =
  /(?:^|[/._-])(?:tests?|spec|specs|fixtures?|examples?|samples?|mocks?|testdata|e2e)(?:[/._-]|$)/i;
const LIKELY =
  'This looks like a credential, by which its issuer knows you. Check it before it becomes public:';
const IDS =
  'These look like ids of commits that upstream does not have. An original id of yours would help to guess your name:';
const DAYS = 'The day on which you made a commit would become public. Remove it from the message:';
const WORDS = 'A name or login may become public. Check whether these lines name you:';

export class Findings {
  readonly #names: SearchedNames;
  readonly #refusesAll: boolean;
  readonly #words: string[] = [];
  readonly #likely: string[] = [];
  readonly #ids: string[] = [];
  readonly #days: string[] = [];
  readonly #found = new Map<Leak, string[]>([
    [NAMES, []],
    [CREDENTIALS, []],
    [OTHERS_NAMES, []],
    [ORIGINAL_IDS, []],
    [CHANGE_IDS, []],
    [MERGES, []],
  ]);

  /** @param refusesAll whether what only looks like a credential is a leak, too. */
  constructor(names: SearchedNames, refusesAll = false) {
    this.#names = names;
    this.#refusesAll = refusesAll;
  }

  /** Ids of own commits in it do not count, as they are replaced. @param where in the words of the message. */
  addText(where: () => string, text: Uint8Array): void {
    for (const at of changeIdsIn(text)) this.#add(CHANGE_IDS, () => line(where(), lineAround(text, at + 1)));
    const { name, word, credentials } = this.#names.firstIn(text);
    for (const credential of credentials) this.#addCredential(where(), credential, false);
    if (name !== null)
      this.#add(this.#leakOf(name.text), () => line(where(), lineAround(text, name.end - 1)));
    if (word !== null) this.#addWord(() => line(where(), lineAround(text, word.end - 1)));
  }

  /** @param lines of files. @param paths of new files. */
  addWords(lines: readonly string[], paths: readonly string[]): void {
    for (const words of lines) this.#addWord(() => line('a changed file', words));
    for (const path of paths) {
      if (this.#names.firstIn(utf8(path)).word !== null) this.#addWord(() => line('name of a file', path));
    }
  }

  addMessages(messages: Iterable<Uint8Array>, merges: MergeSentences): void {
    for (const message of messages) {
      const where = (): string => `message of "${shown(subjectOf(message))}"`;
      this.addText(where, message);
      for (const day of ownDaysIn(message)) {
        if (this.#days.length < MAX_FINDINGS) this.#days.push(line(where(), day));
      }
      for (const sentence of merges.privateIn(message)) {
        if (!this.#add(MERGES, () => line(where(), sentence))) break;
      }
    }
  }

  /** Commits that a message names and nobody has. @param likely may be something else. */
  addStrangers(oids: readonly Oid[], likely: readonly string[]): void {
    this.#ids.push(...likely.slice(0, MAX_FINDINGS).map((id) => `  a message: ${id}`));
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
    return [...this.#found].filter(([, lines]) => lines.length > 0).map(([leak]) => leak);
  }

  /** Where. */
  get lines(): readonly string[] {
    return [...this.#found.values()].flat().slice(0, MAX_FINDINGS);
  }

  /** What is likely only, under headings. It is no leak, as it may mean something else. */
  get words(): readonly string[] {
    return [
      ...under(LIKELY, this.#likely),
      ...under(IDS, this.#ids),
      ...under(DAYS, this.#days),
      ...under(WORDS, this.#words),
    ];
  }

  /** Only its beginning is shown, because terminals and logs remember. @param isExample it may be. */
  #addCredential(where: string, { what, isProven, text }: Credential, isExample: boolean): void {
    const described = `  ${where}: ${what} (${shown(text.slice(0, SHOWN_OF_CREDENTIAL))}…)`;
    if ((isProven && !isExample) || this.#refusesAll) this.#add(CREDENTIALS, () => described);
    else if (this.#likely.length < MAX_FINDINGS) this.#likely.push(described);
  }

  #addWord(describe: () => string): void {
    if (this.#words.length < MAX_FINDINGS) this.#words.push(describe());
  }

  #leakOf(text: number): Leak {
    const kind = this.#names.kindOf(text);
    if (kind === 'id') return ORIGINAL_IDS;
    return kind === 'others-name' ? OTHERS_NAMES : NAMES;
  }

  /** False if no more are shown. */
  #add(leak: Leak, describe: () => string): boolean {
    const lines = this.#found.get(leak) as string[];
    return lines.length < MAX_FINDINGS && lines.push(describe()) > 0;
  }
}

function under(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [heading, ...lines];
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
