/**
 * The names, addresses and other texts for which one push is searched, as the headers of its own
 * commits and tags say, and how often it was looked at closely.
 */
import type { Oid } from '../objects/oid.ts';
import { CREDENTIAL_TEXTS, type Credential, credentialAt, CREDENTIALS } from './credentials.ts';
import { excerptAt, type FoundSpan } from './excerpts.ts';
import { HOME_TEXTS, homeFoldersIn } from './home-folders.ts';
import { IdentityCollector } from './identity-collector.ts';
import { type IdentityTexts, identityTexts } from './identity-texts.ts';
import { Looks } from './looks.ts';
import {
  beginning,
  BOUNDARY,
  type ByteClass,
  byteClass,
  placesOf,
  type SearchedText,
  type Span,
  TEXT_ROOM,
  TextSearch,
} from './text-search.ts';

export interface HeaderSource {
  readonly content: Uint8Array;
  /** The encoding in its header, or null for UTF-8. */
  readonly encoding: string | null;
}

export interface Named {
  /**
   * The headers, the newest commit's first. If there are too many people, the last ones are left
   * out.
   */
  readonly headers: Iterable<HeaderSource>;
  /** The original ids of commits, except those that new commits keep. */
  readonly originalIds: Iterable<Oid>;
  /** The bot's names and addresses, which are public anyway. */
  readonly nobodys: readonly string[];
}

/** The mode of a submodule: a folder's entry for a commit of another repository. It is no name. */
const GITLINK = beginning(byteClass('1'), '60000 ');

/**
 * The shortest abbreviation that Git shows by default. A number of seven digits is common, so it
 * must stand alone.
 */
const SHORTEST = 7;
/** Bytes before an id. `git describe` writes `v1.0-3-g0123abc`. */
const BEFORE: ByteClass = [...BOUNDARY, ...byteClass('g')];

/**
 * Number of bytes that are searched for of the 20 by which a folder names a submodule's commit.
 * They follow a NUL.
 */
const RAW_BYTES = 6;
const BEFORE_RAW: ByteClass = [0];

/**
 * Maximum number of digits that a delta may copy. Ids in a list share a digit with their
 * neighbours, rarely two, and single digits are in most changes.
 */
const MAX_COPIED = 2;

/**
 * Makes the texts for original ids of the push's own commits in files: `.git-blame-ignore-revs`
 * names whole ids, changelogs abbreviations, a submodule an id. They are hashes over name, address
 * and second, so anybody can test a guess. In messages, ids are replaced, but files stay as they
 * are. There are three texts for each id: seven digits, eight or more, and its bytes in a folder.
 */
export function ownIdTexts(oids: readonly Oid[]): SearchedText[] {
  return oids.flatMap((oid) => {
    const digits = Array.from(oid.slice(0, SHORTEST + 1), (digit) => byteClass(digit + digit.toUpperCase()));
    const raw = Array.from(Buffer.from(oid.slice(0, 2 * RAW_BYTES), 'hex'), (byte: number) => [byte]);
    return [
      { before: BEFORE, letters: digits.slice(0, SHORTEST), after: BOUNDARY, maxCopied: MAX_COPIED },
      { before: BEFORE, letters: digits, after: null, maxCopied: MAX_COPIED },
      { before: BEFORE_RAW, letters: raw, after: null, maxCopied: MAX_COPIED },
    ];
  });
}

export const MAX_SEARCHED_IDS = Math.floor(
  TEXT_ROOM / ownIdTexts(['0'.repeat(40)]).reduce((sum, text) => sum + placesOf(text), 0),
);

/**
 * The kinds of texts. `name` is from the newest commit's header, so probably of the person who
 * pushes. `word` (a name or login of one word), `gitlink` and `home` are only noted. Of a
 * `credential`, only the beginning was found.
 */
type TextKind = 'name' | 'others-name' | 'word' | 'id' | 'gitlink' | 'home' | 'credential';

/** The kinds of places, as `Looks` counts them. */
export const HOMES = 'home folders';
export const WORDS = 'names and logins of one word';

/**
 * The common kinds that `Looks` counts. Each credential has a kind of its own, and all others are
 * found wherever they stand.
 */
const COMMON: Partial<Record<TextKind, string>> = { home: HOMES, word: WORDS };

/** Passes spans on in order, all or some of them, while `use` wants more. */
export type Choose = (spans: Iterable<Span>, use: (span: Span) => boolean) => void;

export const chooseAll: Choose = (spans, use) => {
  for (const span of spans) if (!use(span)) return;
};

const NOTED: ReadonlySet<TextKind> = new Set(['word', 'gitlink', 'home']);

export class SearchedNames {
  readonly search: TextSearch;
  /** The looks at messages and texts. All others of the push are created beside them. */
  readonly looks = new Looks();
  /** The part about names and addresses that the person may be told. */
  readonly identities: Pick<IdentityTexts, 'terms' | 'skipped'>;
  /** True if there is somebody to search for. Otherwise, finding nobody says nothing. */
  readonly hasNames: boolean;
  /** False if not all names and addresses can be searched for in all their forms. */
  readonly isComplete: boolean;
  /** False if there are more original ids than can be searched for. */
  readonly hasAllIds: boolean;
  readonly #kinds: readonly TextKind[];
  readonly #firstCredential: number;
  /** The looks for which texts are muted because they were found too often. */
  #mutedFor: Looks | null = null;

  /**
   * Collects the texts.
   * @throws RangeError if they take more room than there is.
   */
  constructor({ headers, originalIds, nobodys }: Named) {
    const collector = new IdentityCollector();
    let newest = 0;
    for (const { content, encoding } of headers) {
      if (!collector.isComplete) break;
      collector.add(content, encoding);
      newest ||= collector.identities.length;
    }
    const publics = new Set(nobodys.map((text) => text.toLowerCase()));
    const identities = identityTexts(collector.identities, publics);
    const { texts, owners, isComplete } = identities;
    const oids: Oid[] = [];
    for (const oid of originalIds) if (oids.push(oid) > MAX_SEARCHED_IDS) break;
    const ids = ownIdTexts(oids.slice(0, MAX_SEARCHED_IDS));
    this.search = new TextSearch([...texts, ...ids, GITLINK, ...HOME_TEXTS, ...CREDENTIAL_TEXTS]);
    this.#firstCredential = this.search.texts.length - CREDENTIAL_TEXTS.length;
    this.#kinds = [
      ...owners.map((owner, text): TextKind => {
        const kind = owner < newest ? 'name' : 'others-name';
        return texts[text]?.isMinor ? 'word' : kind;
      }),
      ...ids.map((): TextKind => 'id'),
      'gitlink',
      ...HOME_TEXTS.map((): TextKind => 'home'),
      ...CREDENTIAL_TEXTS.map((): TextKind => 'credential'),
    ];
    this.identities = identities;
    this.hasNames = texts.length > 0;
    this.isComplete = isComplete && collector.isComplete;
    this.hasAllIds = oids.length <= MAX_SEARCHED_IDS;
  }

  kindOf(text: number): TextKind {
    return this.#kinds[text]!;
  }

  /** Begins to search with these looks. Texts that were muted for others are searched for again. */
  beginWith(looks: Looks): void {
    if (this.#mutedFor !== looks) this.search.unmute();
    this.#mutedFor = looks;
  }

  /** Counts a common text that was found, and mutes it if that is too often. */
  passed(text: number, looks: Looks): void {
    const kind = this.#kinds[text]!;
    const common = kind === 'credential' ? CREDENTIALS[text - this.#firstCredential]!.what : COMMON[kind];
    if (common !== undefined && !looks.pass(common)) this.search.mute(text);
  }

  /**
   * Reads the credential that begins at a span.
   * @returns null if there is none, and `cut` if the bytes end before that can be told.
   */
  credentialAt(
    bytes: Uint8Array,
    { start, text }: Omit<Span, 'end'>,
    looks: Looks,
  ): Credential | 'cut' | null {
    const kind = text - this.#firstCredential;
    return kind < 0 ? null : credentialAt(bytes, start, kind, looks);
  }

  /**
   * Finds the first name or address, preferably of the newest commit's header, the first name of
   * one word, credentials, and paths of home folders.
   */
  firstIn(
    content: Uint8Array,
    looks = new Looks(),
  ): {
    readonly name: Span | null;
    readonly word: Span | null;
    readonly credentials: readonly Credential[];
    readonly homes: readonly string[];
  } {
    const first: Partial<Record<TextKind, Span>> = {};
    const credentials: Credential[] = [];
    const homes: string[] = [];
    this.beginWith(looks);
    for (const span of this.search.spans(content)) {
      const kind = this.kindOf(span.text);
      this.passed(span.text, looks);
      first[kind] ??= span;
      if (kind === 'home' && looks.take(HOMES))
        homes.push(...homeFoldersIn(Buffer.from(excerptAt(content, span.end - 1)).toString()));
      const credential = kind === 'credential' ? this.credentialAt(content, span, looks) : null;
      if (credential !== null && credential !== 'cut') credentials.push(credential);
    }
    const name = first.name ?? first['others-name'] ?? null;
    return { name, word: first.word ?? null, credentials, homes };
  }

  /**
   * Finds names, addresses, ids and credentials in a text or an object, in order.
   * @param choose selects what is looked at. By default, it is everything.
   * @param most ends the search when more names, addresses and ids are found.
   */
  spansIn(
    content: Uint8Array,
    { looks = new Looks(), choose = chooseAll, most = Infinity } = {},
  ): FoundSpan[] {
    const found: FoundSpan[] = [];
    let [named, ended] = [0, 0];
    this.beginWith(looks);
    choose(this.search.spans(content), (span) => {
      const kind = this.kindOf(span.text);
      this.passed(span.text, looks);
      if (NOTED.has(kind)) return true;
      if (kind !== 'credential') {
        found.push({ ...span, credential: null });
        named += 1;
        return named <= most;
      }
      // Skip credentials that begin within another one, because there could be thousands.
      const credential = span.start < ended ? null : this.credentialAt(content, span, looks);
      if (credential === null || credential === 'cut') return true;
      ended = span.start + credential.text.length;
      found.push({ ...span, credential });
      return true;
    });
    return found;
  }
}
