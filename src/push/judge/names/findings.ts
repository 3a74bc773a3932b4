/**
 * What a push would reveal of the person: found in its messages, its texts and its files, and told in a few lines. Only
 * the person is shown these.
 */
import { utf8 } from '../../../git/bytes.ts';
import type { Oid } from '../../../git/objects/oid.ts';
import { changeIdsIn } from '../../../git/search/change-ids.ts';
import type { ContentHit } from '../../../git/search/pack-search.ts';
import type { SearchedNames } from '../../../git/search/searched-names.ts';
import { CHANGE_IDS, type Leak, MERGES, NAMES, ORIGINAL_IDS, OTHERS_NAMES } from './leaks.ts';
import type { MergeSentences } from './merge-sentences.ts';
import { MAX_SHOWN_LENGTH, shown } from './shown.ts';

/** No more are shown. */
export const MAX_FINDINGS = 10;

const WORDS = 'A name or login of one word would become public. Check whether these lines name you:';

export class Findings {
  readonly #names: SearchedNames;
  readonly #words: string[] = [];
  readonly #found = new Map<Leak, string[]>([
    [NAMES, []],
    [OTHERS_NAMES, []],
    [ORIGINAL_IDS, []],
    [CHANGE_IDS, []],
    [MERGES, []],
  ]);

  constructor(names: SearchedNames) {
    this.#names = names;
  }

  /** Ids of own commits in it do not count, as they are replaced. @param where in the words of the message. */
  addText(where: () => string, text: Uint8Array): void {
    for (const at of changeIdsIn(text)) this.#add(CHANGE_IDS, () => line(where(), lineAround(text, at + 1)));
    const { name, word } = this.#names.firstIn(text);
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
      for (const sentence of merges.privateIn(message)) {
        if (!this.#add(MERGES, () => line(where(), sentence))) break;
      }
    }
  }

  /** Commits that a message names and nobody has. */
  addStrangers(oids: readonly Oid[]): void {
    for (const oid of oids) {
      this.#add(ORIGINAL_IDS, () => `  a message names a commit that upstream does not have: ${oid}`);
    }
  }

  /** In files and folders. */
  addHits(hits: readonly ContentHit[]): void {
    for (const { excerpt, kind, text, path } of hits) {
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

  /** Where names and logins of one word stand, under a heading. They are no leak, as they may mean something else. */
  get words(): readonly string[] {
    return this.#words.length === 0 ? [] : [WORDS, ...this.#words];
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
