/**
 * Prevents people from publishing their names by mistake. It takes the names and addresses in the headers of pushed
 * commits and tags, which the rewrite removes, and searches for them in everything else that becomes public.
 */
import type { NewCommit } from '../git/new-commits.ts';
import type { KeptObject } from '../git/pack/kept-objects.ts';
import { EntryWalker } from '../git/pack/entry-walker.ts';
import { PACK_HEADER_BYTES } from '../git/pack/pack-scanner.ts';
import { ByteSearch } from '../git/search/byte-search.ts';
import { type ContentHit, ContentSearch } from '../git/search/content-search.ts';
import { identityPatterns } from '../git/search/identity-patterns.ts';
import { IdentityCollector } from '../git/search/raw-identity.ts';
import { utf8 } from '../git/bytes.ts';
import { Refusal } from './refusal.ts';

/** The search stops after this many. */
const MAX_FINDINGS = 10;
const MAX_SHOWN_LENGTH = 100;
const LINE_END = Uint8Array.of(0x0a);

export class IdentityGuard {
  readonly #nobodys: ReadonlySet<string>;
  readonly #refuses: boolean;
  readonly #collector = new IdentityCollector();
  readonly #findings: string[] = [];
  #isComplete = true;
  /** Null: nothing to search for, or not known yet. */
  #search: ByteSearch | null = null;
  #contents: ContentSearch | null = null;
  #walker: EntryWalker | null = null;
  /** Bytes of the pack's header that have not arrived yet. */
  #headerLeft = PACK_HEADER_BYTES;

  /** @param nobodys names and addresses that are public anyway: the bot's. @param refuses false: only warns. */
  constructor(nobodys: readonly string[], refuses: boolean) {
    this.#refuses = refuses;
    this.#nobodys = new Set(nobodys.map((text) => text.toLowerCase()));
  }

  /** Learns whom to search for. Call it before any check. */
  learn(
    commits: readonly NewCommit[],
    contentOf: (commit: NewCommit) => Uint8Array | undefined,
    kept: Iterable<KeptObject>,
  ): void {
    for (const commit of commits) {
      const content = contentOf(commit);
      if (content !== undefined) this.#collector.add(content, commit.commit.encoding);
    }
    for (const { type, content } of kept) if (type === 'tag') this.#collector.add(content, null);
    const { patterns, isComplete } = identityPatterns(this.#collector.identities, this.#nobodys);
    this.#isComplete = isComplete;
    if (patterns.length === 0) return;
    this.#search = new ByteSearch(patterns);
    this.#contents = new ContentSearch(this.#search, MAX_FINDINGS);
    this.#walker = new EntryWalker(this.#contents);
  }

  /** @param where the place, in the words of the message. */
  checkText(where: string, text: string): void {
    this.#checkBytes(where, utf8(text));
  }

  checkMessages(messages: readonly Uint8Array[]): void {
    for (const message of messages) {
      this.#checkBytes(() => `message of "${shown(subjectOf(message))}"`, message);
    }
  }

  /** @param pieces of the outgoing pack, in order, beginning with its header. */
  checkPack(pieces: readonly Uint8Array[]): void {
    if (this.#walker === null) return;
    for (const piece of pieces) {
      const skipped = Math.min(this.#headerLeft, piece.length);
      this.#headerLeft -= skipped;
      this.#walker.walk(piece.subarray(skipped));
    }
  }

  /** @throws Refusal if anything checked so far names the author, and this is not allowed. */
  decide(): void {
    const { findings } = this;
    if (this.#refuses && findings.length > 0) throw namesWouldBePublic([...findings, ...this.gaps]);
  }

  /** Lines that say what was found and where; none if nothing was. */
  get findings(): readonly string[] {
    const contents = (this.#contents?.hits ?? []).map((hit) => this.#describe(hit));
    return [...this.#findings, ...contents].slice(0, MAX_FINDINGS);
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
    ];
  }

  /** Whether a folder of the push holds a submodule that the pack shows; it does not show every one. */
  get hasSeenSubmodules(): boolean {
    return this.#contents?.names.hasGitlinks ?? false;
  }

  #describe({ excerpt, kind, oid }: ContentHit): string {
    const line = shown(Buffer.from(excerpt).toString());
    if (kind === 'name') return `  name of a file: ${line}`;
    const name = oid === null ? undefined : this.#contents?.names.pathOf(oid);
    return `  ${name === undefined ? 'a changed file' : shown(name)}: ${line}`;
  }

  #checkBytes(where: string | (() => string), text: Uint8Array): void {
    const search = this.#search;
    if (search === null) return;
    search.reset();
    search.find(LINE_END, 0, 1);
    let at = search.find(text, 0, text.length);
    if (at < 0) at = search.find(LINE_END, 0, 1) < 0 ? -1 : text.length + 1;
    if (at < 0 || this.#findings.length >= MAX_FINDINGS) return;
    const place = typeof where === 'string' ? where : where();
    this.#findings.push(`  ${place}: ${shown(lineAround(text, at - 1))}`);
  }
}

function namesWouldBePublic(findings: readonly string[]): Refusal {
  return new Refusal('your name would become public', [
    'The name or address of a commit’s author would become public:',
    ...findings,
    'Remove it and push again: "git commit --amend" changes the last commit, "git rebase -i" earlier ones.',
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
