/**
 * Rewrites a pack as it streams through: first the new commits, then everything else unchanged.
 *
 *   scan() … scan()   entries wait in the delay line, commits and tags are kept
 *   start(commits)    the pushed history is complete: the new commits are known
 *   take()            what may be sent now; the first call sends the header
 *   scan() … finish() further entries pass straight through
 *
 * A pack may contain its commits anywhere as long as nothing has left, because the first `take` makes the header with
 * the object count. Git and JGit write all commits first, then tags; libgit2, go-git and isomorphic-git write files
 * before them. After the header has left, every entry that arrives must also leave. An upstream commit that arrives
 * then is sent at the end of the pack. Anything else that would have to be rewritten or dropped stops the push.
 */
import { createHash } from 'node:crypto';
import { ByteSlabs } from '../byte-slabs.ts';
import { concatBytes, utf8 } from '../bytes.ts';
import { type Memory, UNCOUNTED } from '../memory.ts';
import type { Oid } from '../oid.ts';
import { OidTable } from '../oid-table.ts';
import { ProtocolError } from '../protocol-error.ts';
import { encodeEntryHeader, OBJ_COMMIT } from './entry-header.ts';
import {
  MAX_DELAY_LINE_BYTES,
  MAX_WAITING_REF_DELTAS,
  WAITING_BASE_BYTES,
  WAITING_PIECE_BYTES,
} from './limits.ts';
import { type PackListener, PackScanner } from './pack-scanner.ts';
import type { KeptObject } from './kept-objects.ts';
import { zlibStore, zlibStoreBytes } from '../zlib/zlib-store.ts';

/** Pieces below this size are copied together: a write and a hash update cost more than the copy. */
const SMALL_BYTES = 16 * 1024;
const JOINED_BYTES = 64 * 1024;

function joinSmall(pieces: readonly Uint8Array[]): Uint8Array[] {
  const joined: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  let smallBytes = 0;
  const flush = (): void => {
    if (small.length > 0) joined.push(small.length === 1 ? (small[0] as Uint8Array) : concatBytes(small));
    small = [];
    smallBytes = 0;
  };
  for (const piece of pieces) {
    if (piece.byteLength >= SMALL_BYTES) {
      flush();
      joined.push(piece);
      continue;
    }
    small.push(piece);
    smallBytes += piece.byteLength;
    if (smallBytes >= JOINED_BYTES) flush();
  }
  flush();
  return joined;
}

/** Contents of objects, each once. */
export interface Contents extends Iterable<Uint8Array> {
  readonly length: number;
  /** Called when they are no longer needed. */
  free?(): void;
}

/** Undeltified entries, one behind the other. */
function encodeCommitEntries(contents: Iterable<Uint8Array>): readonly Uint8Array[] {
  const entries = new ByteSlabs();
  for (const content of contents) {
    const header = encodeEntryHeader(OBJ_COMMIT, content.byteLength);
    entries.take(header.byteLength).set(header);
    zlibStore(content, entries.take(zlibStoreBytes(content.byteLength)));
  }
  return entries.pieces();
}

/** A commit or tag arrived (or is still missing) after we had to start sending files. */
export function lateCommit(): ProtocolError {
  return new ProtocolError('not-rewritable', 'The pack contains too many files before its commits or tags.');
}

/** A ref-delta against a commit is a commit, and its content cannot be known without that base. */
export function hiddenCommit(): ProtocolError {
  return new ProtocolError(
    'not-rewritable',
    'The pack stores a commit as a delta of one that it does not contain.',
  );
}

export class PackRewriter implements PackListener {
  readonly #scanner: PackScanner;
  readonly #memory: Memory;
  readonly #isUpstreamCommit: (oid: Oid) => boolean;
  readonly #hash = createHash('sha1');
  #line: Uint8Array[] = [];
  /** Memory that the delay line uses. */
  #lineBytes = 0;
  /** Contents of the new commits; null before `start` and again once they have left. */
  #commits: Contents | null = null;
  #started = false;
  #hasHeaderLeft = false;
  /** Contents of upstream's commits that arrived after the header had left. */
  readonly #late: Uint8Array[] = [];
  /** Bases of the waiting ref-deltas. None of them may turn out to be a commit. */
  #waitingBases = new OidTable();

  /**
   * @param isUpstreamCommit whether a commit is upstream's, as far as is known at the time of the call.
   * @param memory where kept commits and waiting entries are counted.
   */
  constructor(isUpstreamCommit: (oid: Oid) => boolean, memory: Memory = UNCOUNTED) {
    this.#isUpstreamCommit = isUpstreamCommit;
    this.#memory = memory;
    this.#scanner = new PackScanner(this, { memory });
  }

  /** Commits kept so far, the same one twice counting twice; tags count too. */
  get keptCount(): number {
    return this.#scanner.kept.entryCount;
  }

  /** Commits and tags kept so far, each once. */
  get kept(): Iterable<KeptObject> {
    return this.#scanner.kept.objects();
  }

  /** True if no more entries can wait, so the history must be complete now. */
  get isFull(): boolean {
    return this.#lineBytes >= MAX_DELAY_LINE_BYTES || this.#waitingBases.size >= MAX_WAITING_REF_DELTAS;
  }

  /** Trees and blobs have begun to arrive. With most clients, all commits have arrived then. */
  get hasPassed(): boolean {
    return this.#line.length > 0;
  }

  /** Whether a waiting entry turns out to be a commit, now that more of upstream's history is known. */
  get hidesCommit(): boolean {
    for (const base of this.#waitingBases.oids()) if (this.#isUpstreamCommit(base)) return true;
    return false;
  }

  findCommit(oid: Oid): Uint8Array | undefined {
    const kept = this.#scanner.kept.withOid(oid);
    return kept?.type === 'commit' ? kept.content : undefined;
  }

  /** @throws ProtocolError if the pack is invalid, or cannot be made anonymous. */
  scan(chunk: Uint8Array): void {
    const before = this.#line.length;
    this.#scanner.scan(chunk);
    // Even a small piece keeps the whole chunk in memory that it is a view of.
    const added = this.#line.length - before;
    if (added > 0) this.#wait(chunk.byteLength + added * WAITING_PIECE_BYTES);
  }

  /** @throws ProtocolError `truncated-pack` unless the whole pack has been scanned. */
  finish(): void {
    this.#scanner.finish();
    this.#line.push(...encodeCommitEntries(this.#late.splice(0)));
  }

  /**
   * Drops everything else that was kept so far. Answers how many objects leave, as far as is known now.
   * @param commits contents of the new commits, each once.
   */
  start(commits: Contents): number {
    this.#commits = commits;
    this.#started = true;
    this.#waitingBases = new OidTable();
    return this.#countWith(commits);
  }

  /** The pieces that may be sent now, in order, each large enough for a write. Only after `start`. */
  take(): readonly Uint8Array[] {
    const front = this.#commits === null ? [] : this.#front(this.#commits);
    this.#commits = null;
    const taken = joinSmall([...front, ...this.#line]);
    this.#line = [];
    this.#memory.free(this.#lineBytes);
    this.#lineBytes = 0;
    for (const bytes of taken) this.#hash.update(bytes);
    return taken;
  }

  /** The checksum of everything that was taken. Only after `finish` and the last `take`. */
  trailer(): Uint8Array {
    return this.#hash.digest();
  }

  /** Gives the memory back at once. Nothing may be called afterwards. */
  free(): void {
    this.#scanner.kept.free();
    this.#commits?.free?.();
    this.#line = [];
  }

  onKept(object: KeptObject): void {
    if (this.#waitingBases.has(object.oid)) throw hiddenCommit();
    if (!this.#started) return;
    if (object.type !== 'commit' || !this.#isUpstreamCommit(object.oid)) throw lateCommit();
    if (this.#hasHeaderLeft) this.#late.push(object.content);
  }

  onPassed(bytes: Uint8Array): void {
    this.#line.push(bytes);
  }

  onRefDelta(base: Oid): void {
    if (this.#isUpstreamCommit(base)) throw hiddenCommit();
    if (this.#started) return;
    this.#waitingBases.add(base);
    this.#wait(WAITING_BASE_BYTES);
  }

  #wait(bytes: number): void {
    this.#memory.use(bytes);
    this.#lineBytes += bytes;
  }

  #countWith(commits: Contents): number {
    return this.#scanner.entryCount - this.keptCount + commits.length;
  }

  /** The pack's header and the new commits. */
  #front(commits: Contents): readonly Uint8Array[] {
    const header = new Uint8Array(12);
    header.set(utf8('PACK'));
    const view = new DataView(header.buffer);
    view.setUint32(4, 2);
    view.setUint32(8, this.#countWith(commits));
    this.#hasHeaderLeft = true;
    const entries = encodeCommitEntries(commits);
    commits.free?.();
    return [header, ...entries];
  }
}
