/** Secrets that must never reach the host, as byte strings to search for. */
import { ByteSearch } from './byte-search.ts';
import { listObjects, parseCommit, readObjects } from './objects.ts';
import { type Person, PERSON_ZONE } from './person.ts';
import { UPSTREAM_IDENTITY } from './upstream.ts';

export type SecretKind =
  | 'name'
  | 'email'
  | 'zone'
  | 'date'
  | 'id'
  | 'signature'
  | 'user-agent'
  | 'address'
  | 'header'
  /** Not a secret: a head that is not as it must be. */
  | 'head'
  /**
   * The word that is part of all that tells of a person: home folder, branch, and whatever is not
   * listed here.
   */
  | 'word';

export interface Secret {
  readonly kind: SecretKind;
  /** As a failure shows it. */
  readonly text: string;
}

/** Enough of an id to know it by, also where it is abbreviated. */
const ID_HEX_LENGTH = 16;
/** Git abbreviates ids to this length. */
const ABBREVIATION_LENGTH = 7;
/** Shorter numbers occur by chance. */
const MIN_DATE_LENGTH = 8;
const MIN_NAME_LENGTH = 5;

export class Secrets {
  readonly search = new ByteSearch<Secret>();
  readonly #abbreviations = new Set<string>();
  readonly #known = new Set<string>();

  constructor() {
    this.#add('zone', PERSON_ZONE);
    this.#add('signature', '-----BEGIN ');
  }

  addPerson(person: Person): void {
    this.#add('name', person.authorName);
    this.#add('name', person.committerName);
    this.#add('email', person.authorEmail);
    this.#add('email', person.committerEmail);
    this.#add('user-agent', person.userAgent);
    this.#add('address', person.address);
    for (const value of Object.values(person.headers))
      if (value !== person.address) this.#add('header', value);
    this.#add('word', person.word);
    for (const text of base64Cores(person.word)) this.#add('word', text);
  }

  /**
   * Adds what the commits and tags tell that a person has made: everything of theirs that is not
   * upstream's.
   * @param upstreamIds all commits and tags of all upstream repositories.
   */
  async addRepository(path: string, upstreamIds: ReadonlySet<string>): Promise<void> {
    const objects = await listObjects(path);
    const own = [...objects].flatMap(([oid, type]) =>
      (type === 'commit' || type === 'tag') && !upstreamIds.has(oid) && !this.#known.has(`object ${oid}`)
        ? [oid]
        : [],
    );
    for (const object of await readObjects(path, own)) {
      this.#known.add(`object ${object.oid}`);
      this.addId(object.oid);
      for (const [name, value] of parseCommit(object).headers) {
        if (['author', 'committer', 'tagger'].includes(name)) this.#addIdentity(value);
      }
    }
  }

  /** In hexadecimal and as the 20 bytes that a tree or an index holds. */
  addId(oid: string): void {
    const start = oid.slice(0, ID_HEX_LENGTH);
    this.#add('id', start);
    this.#abbreviations.add(oid.slice(0, ABBREVIATION_LENGTH));
    this.search.add({ kind: 'id', text: `${oid} (raw)` }, Buffer.from(start, 'hex'));
  }

  /**
   * Where even the first digits of an id could only come from it: in bytes that hold hardly any
   * others, but for whole ids, which `search` finds, and the random hashes of a verdict.
   */
  abbreviationsIn(bytes: Buffer): Secret[] {
    const text = bytes.toString('latin1').replaceAll(/\b[\da-f]{40}\b|"(?:push|pr)Hash":"[\da-f]+"/g, '');
    const digits = Array.from(text.matchAll(/(?=([\da-f]{7}))/gi), ([, found = '']) => found.toLowerCase());
    return digits
      .filter((found) => this.#abbreviations.has(found))
      .map((found) => ({ kind: 'id', text: found }));
  }

  /** `Name <mail> seconds zone`, bytes as Latin-1. */
  #addIdentity(value: string): void {
    const [, name = '', email = '', date = '', zone = ''] =
      /^(.*?) ?<(.*)> (\d+) ([+-]\d{4})$/.exec(value) ?? [];
    if (`${name} <${email}>` === UPSTREAM_IDENTITY) return;
    if (name.length >= MIN_NAME_LENGTH) this.#add('name', name, 'latin1');
    if (email.length >= MIN_NAME_LENGTH) this.#add('email', email, 'latin1');
    if (!['', '+0000', '+0200'].includes(zone)) this.#add('zone', zone);
    this.addDate(date);
  }

  addDate(seconds: string): void {
    if (seconds.length < MIN_DATE_LENGTH) {
      // With the sign of the zone: four bytes occur by chance in each run.
      if (seconds !== '') for (const sign of '+-') this.#add('date', `> ${seconds} ${sign}`);
      return;
    }
    this.#add('date', seconds);
    const date = new Date(Number(seconds) * 1000);
    if (Number.isNaN(date.getTime())) return;
    this.#add('date', date.toISOString().slice(0, 19));
    this.#add('date', date.toUTCString().slice(5));
  }

  #add(kind: SecretKind, text: string, encoding: BufferEncoding = 'utf8'): void {
    if (this.#known.has(text)) return;
    this.#known.add(text);
    this.search.add({ kind, text }, Buffer.from(text, encoding));
  }
}

/**
 * Encodes a text as Base64 would wherever it stands: the part that does not depend on its
 * neighbours.
 */
function base64Cores(text: string): string[] {
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.from(`${'\0'.repeat(shift)}${text}`)
      .toString('base64')
      .replace(/=+$/, '');
    return encoded.slice(Math.ceil((shift * 4) / 3) + 1, -2);
  });
}
