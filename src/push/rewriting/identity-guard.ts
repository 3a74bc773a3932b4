/**
 * Prevents people from publishing their names by mistake. It takes the names and addresses in the headers of pushed
 * commits and tags, which the rewrite removes, and searches for them in everything else that becomes public. In files,
 * it also searches for the original ids of the commits, from which a name can be guessed.
 */
import type { NewCommit, NewCommits } from '../../git/new-commits.ts';
import type { Memory } from '../../git/memory.ts';
import type { Oid } from '../../git/oid.ts';
import type { KeptObject } from '../../git/pack/kept-objects.ts';
import { type BytePattern, ByteSearch, mostBytesToBuild } from '../../git/search/byte-search.ts';
import type { ContentHit } from '../../git/search/content-search.ts';
import { identityPatterns, partialPatterns } from '../../git/search/identity-patterns.ts';
import { MAX_SEARCHED_IDS, ownIdPatterns } from '../../git/search/own-id-patterns.ts';
import { IdentityCollector } from '../../git/search/raw-identity.ts';
import { utf8 } from '../../git/bytes.ts';
import type { NamedCommits } from './named-commits.ts';
import { PackSearch, type ReadBases } from './pack-search.ts';
import { Refusal } from '../reply/refusal.ts';

/** The search stops after this many. */
const MAX_FINDINGS = 10;
const MAX_SHOWN_LENGTH = 100;
const LINE_END = Uint8Array.of(0x0a);

export class IdentityGuard {
  readonly #nobodys: ReadonlySet<string>;
  readonly #refuses: boolean;
  readonly #collector = new IdentityCollector();
  readonly #findings: string[] = [];
  readonly #idFindings: string[] = [];
  /** Commits that messages name, of which nobody can tell whose they are. */
  #unsureIds: readonly Oid[] = [];
  #isComplete = true;
  #hasAllIds = true;
  /** Patterns of contents from this one on are original ids. */
  #firstIdPattern = 0;
  /** For names, addresses and ids. Null: nothing to search for, or not known yet. */
  #search: ByteSearch | null = null;
  #pack: PackSearch | null = null;

  /** @param nobodys names and addresses that are public anyway: the bot's. @param refuses false: only warns. */
  constructor(nobodys: readonly string[], refuses: boolean) {
    this.#refuses = refuses;
    this.#nobodys = new Set(nobodys.map((text) => text.toLowerCase()));
  }

  /**
   * Learns whom to search for. Call it before any check.
   * @param memory where what it learns is counted; it stays counted.
   * @throws Refusal; what `memory` throws.
   */
  async learn(
    commits: NewCommits,
    contentOf: (commit: NewCommit) => Uint8Array | undefined,
    kept: Iterable<KeptObject>,
    originalIds: Iterable<Oid>,
    memory: Memory,
  ): Promise<void> {
    // The last one first: if there are too many people, it is more likely the one who pushes.
    for (let back = 1; back <= commits.length && this.#collector.isComplete; back++) {
      const commit = commits.at(-back) as NewCommit;
      const content = contentOf(commit);
      if (content !== undefined) this.#collector.add(content, commit.commit.encoding);
    }
    for (const { type, content } of kept) if (type === 'tag') this.#collector.add(content, null);
    const { patterns, isComplete } = identityPatterns(this.#collector.identities, this.#nobodys);
    this.#isComplete = isComplete && this.#collector.isComplete;
    this.#firstIdPattern = patterns.length;
    const all = [...patterns, ...this.#idPatterns(originalIds)];
    if (all.length === 0) return;
    const bytes = mostBytesToBuild(all);
    await memory.makeRoom(bytes);
    memory.use(bytes);
    this.#search = searchFor(all);
    memory.free(bytes - this.#search.bytes);
    const partial = () => partialPatterns(this.#collector.identities, this.#nobodys);
    this.#pack = new PackSearch(this.#search, partial, MAX_FINDINGS);
  }

  #idPatterns(originalIds: Iterable<Oid>): BytePattern[] {
    const searchedIds: Oid[] = [];
    for (const oid of originalIds) {
      this.#hasAllIds = searchedIds.length < MAX_SEARCHED_IDS;
      if (!this.#hasAllIds) break;
      searchedIds.push(oid);
    }
    return ownIdPatterns(searchedIds);
  }

  /** @param where the place, in the words of the message. */
  checkText(where: string, text: string): void {
    this.#checkBytes(where, utf8(text));
  }

  checkMessages(messages: Iterable<Uint8Array>): void {
    for (const message of messages) {
      this.#checkBytes(() => `message of "${shown(subjectOf(message))}"`, message);
    }
  }

  checkNamedCommits({ oids, areStrange }: NamedCommits): void {
    if (!areStrange) this.#unsureIds = oids;
    else
      this.#idFindings.push(
        ...oids.map((oid) => `  a message names a commit that upstream does not have: ${oid}`),
      );
  }

  /**
   * @param pieces of the outgoing pack, in order, beginning with its header. @param isWhole they are all of it, and
   * `checkDeltas` follows.
   */
  checkPack(pieces: readonly Uint8Array[], isWhole: boolean): void {
    this.#pack?.take(pieces, isWhole);
  }

  /**
   * Checks the files that deltas make. Only after `checkPack`.
   * @param pack all its pieces. @param memory where its files are counted while they are searched.
   * @throws what `memory` throws.
   */
  async checkDeltas(pack: readonly Uint8Array[], memory: Memory, readBases: ReadBases): Promise<void> {
    await this.#pack?.searchDeltas(pack, memory, readBases);
  }

  /** False: it only warns. */
  get refuses(): boolean {
    return this.#refuses;
  }

  /** @throws Refusal if anything checked so far names the author, and this is not allowed. */
  decide(): void {
    const { findings } = this;
    if (!this.#refuses || findings.length === 0) return;
    const lines = [this.heading, ...findings, ...this.gaps];
    throw this.#hasNames ? namesWouldBePublic(lines) : idsWouldBePublic(lines);
  }

  /** The line before the findings. */
  get heading(): string {
    return this.#hasNames
      ? 'The name or address of a commit’s author would become public:'
      : 'The original id of a commit would become public:';
  }

  /** Whether the commits name someone who can be searched for. Otherwise it is no news that nobody was found. */
  get searchesForNames(): boolean {
    return this.#firstIdPattern > 0;
  }

  get #hasNames(): boolean {
    const hits = this.#hits;
    return this.#findings.length > 0 || hits.some(({ pattern }) => pattern < this.#firstIdPattern);
  }

  /** Lines that say what was found and where; none if nothing was. */
  get findings(): readonly string[] {
    const contents = this.#hits.map((hit) => this.#describe(hit));
    return [...this.#findings, ...this.#idFindings, ...contents].slice(0, MAX_FINDINGS);
  }

  get #hits(): readonly ContentHit[] {
    return this.#pack?.hits ?? [];
  }

  /** Warns if not all names could be searched for. */
  get gaps(): readonly string[] {
    return [
      ...(this.findings.length < MAX_FINDINGS ? [] : ['The search ended here: there may be more.']),
      ...(this.#isComplete
        ? []
        : [
            'The commits name more people than the service can search for. It did not search for all of them.',
          ]),
      ...this.#unsureIds.map(
        (oid) => `A message names the commit ${oid}. Make sure that it is not one of yours.`,
      ),
      ...(this.#hasAllIds
        ? []
        : ['There are too many commits to search the files for the original ids of all of them.']),
    ];
  }

  /** The findings, if it does not refuse the push. */
  get warnings(): readonly string[] {
    return this.findings.length === 0 ? this.gaps : [this.heading, ...this.findings, ...this.gaps];
  }

  /** Whether a folder of the push holds a submodule that the pack shows; it does not show every one. */
  get hasSeenSubmodules(): boolean {
    return this.#pack?.names.hasGitlinks ?? false;
  }

  #describe({ excerpt, kind, oid, pattern }: ContentHit): string {
    const text = shown(Buffer.from(excerpt).toString());
    const line = pattern < this.#firstIdPattern ? text : `the id of a commit of this push: ${text}`;
    if (kind === 'name') return `  name of a file: ${line}`;
    const name = oid === null ? undefined : this.#pack?.names.pathOf(oid);
    return `  ${name === undefined ? 'a changed file' : shown(name)}: ${line}`;
  }

  #checkBytes(where: string | (() => string), text: Uint8Array): void {
    const search = this.#search;
    if (search === null) return;
    search.reset();
    search.find(LINE_END, 0, 1);
    const findName = (bytes: Uint8Array): number => {
      let at = search.find(bytes, 0, bytes.length);
      // Ids in messages and options are replaced.
      while (at >= 0 && search.found >= this.#firstIdPattern) at = search.find(bytes, at, bytes.length);
      return at;
    };
    let at = findName(text);
    if (at < 0) at = findName(LINE_END) < 0 ? -1 : text.length + 1;
    if (at < 0 || this.#findings.length >= MAX_FINDINGS) return;
    const place = typeof where === 'string' ? where : where();
    this.#findings.push(`  ${place}: ${shown(lineAround(text, at - 1))}`);
  }
}

function searchFor(patterns: readonly BytePattern[]): ByteSearch {
  try {
    return new ByteSearch(patterns);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Refusal('the authors’ names cannot be searched for', [
      'They are too long, or made of unusual characters. Change them ("git config user.name", "git rebase"), and push again.',
    ]);
  }
}

function namesWouldBePublic(lines: readonly string[]): Refusal {
  return new Refusal('your name would become public', [
    ...lines,
    'Remove it and push again: "git commit --amend" changes the last commit, "git rebase -i" earlier ones.',
    'To publish it anyway, add: -o publish-names',
  ]);
}

function idsWouldBePublic(lines: readonly string[]): Refusal {
  return new Refusal('original commit ids would become public', [
    ...lines,
    'It was made from your name and the time, so anybody can use it to test a guess at who you are. And it names nothing,',
    'because the service gives your commits other ids. Remove it and push again.',
    'To publish it anyway, add: -o publish-names',
  ]);
}

function subjectOf(message: Uint8Array): string {
  return Buffer.from(message.subarray(0, 400)).toString().trimStart().split('\n')[0] ?? '';
}

function lineAround(text: Uint8Array, at: number): string {
  const start = Math.max(text.lastIndexOf(0x0a, at - 1) + 1, at - MAX_SHOWN_LENGTH);
  const end = text.indexOf(0x0a, at);
  return Buffer.from(text.subarray(start, end < 0 ? text.length : end)).toString();
}

/** Fits on one line of a terminal. */
function shown(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]+/gu, ' ').trim();
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line;
}
