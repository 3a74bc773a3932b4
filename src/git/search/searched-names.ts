/** Whom and what one push is searched for, as the headers of its own commits and tags say it. */
import type { Oid } from '../objects/oid.ts';
import { identityTexts } from './identity-texts.ts';
import { MAX_SEARCHED_IDS, ownIdTexts } from './own-id-texts.ts';
import { IdentityCollector } from './raw-identity.ts';
import { type SearchedText, type Span, TextSearch } from './text-search.ts';

/** A commit or tag as it was pushed. */
export interface HeaderSource {
  readonly content: Uint8Array;
  /** As its header says; null: UTF-8. */
  readonly encoding: string | null;
}

export interface Named {
  /** The one who pushes first: if there are too many people, those who come last are left out. */
  readonly headers: Iterable<HeaderSource>;
  /** Ids that no new commit has. */
  readonly originalIds: Iterable<Oid>;
  /** Names and addresses that are public anyway: the bot's. */
  readonly nobodys: readonly string[];
}

const letter = (text: string) => Array.from(text, (sign) => [sign.charCodeAt(0)]);
/** Not a name: the mode by which a folder holds a commit of another repository (a submodule). */
const GITLINK: SearchedText = {
  before: letter('1')[0]!,
  letters: letter('60000 '),
  after: null,
  lack: { first: 0, last: 0 },
  tellingLack: { first: 0, last: 0 },
};

export class SearchedNames {
  readonly search: TextSearch;
  /** False if there are more names and addresses than can be searched for. */
  readonly isComplete: boolean;
  /** False if there are more original ids. */
  readonly hasAllIds: boolean;
  /** Texts from this one on are original ids. */
  readonly #firstId: number;
  readonly #gitlink: number;

  /** @throws RangeError if they take more room than there is. */
  constructor({ headers, originalIds, nobodys }: Named) {
    const collector = new IdentityCollector();
    for (const { content, encoding } of headers) {
      if (!collector.isComplete) break;
      collector.add(content, encoding);
    }
    const publics = new Set(nobodys.map((text) => text.toLowerCase()));
    const { texts, isComplete } = identityTexts(collector.identities, publics);
    const oids: Oid[] = [];
    let hasAllIds = true;
    for (const oid of originalIds) {
      hasAllIds = oids.length < MAX_SEARCHED_IDS;
      if (!hasAllIds) break;
      oids.push(oid);
    }
    const all = [...texts, ...ownIdTexts(oids)];
    this.search = new TextSearch([...all, GITLINK]);
    this.isComplete = isComplete && collector.isComplete;
    this.hasAllIds = hasAllIds;
    this.#firstId = texts.length;
    this.#gitlink = all.length;
  }

  /** Whether there is somebody to search for. Otherwise it is no news that nobody was found. */
  get hasNames(): boolean {
    return this.#firstId > 0;
  }

  /** @param text the index of a text. */
  isId(text: number): boolean {
    return text >= this.#firstId && text < this.#gitlink;
  }

  isGitlink(text: number): boolean {
    return text === this.#gitlink;
  }

  /** The first name or address. A text may hold hundreds of thousands. */
  firstNameIn(content: Uint8Array): Span | null {
    for (const span of this.search.spans(content))
      if (!this.isGitlink(span.text) && !this.isId(span.text)) return span;
    return null;
  }

  /** Names, addresses and ids in a text or an object, in order. */
  spansIn(content: Uint8Array): Span[] {
    return this.search.spansIn(content).filter(({ text }) => !this.isGitlink(text));
  }
}
