/**
 * Rewrites a pack as it streams through: new commits in front, everything else behind them as it came.
 *
 *   scan() … scan()   entries wait in the delay line, commits and tags are kept
 *   start(commits)    the pushed history is complete: the outgoing header and commits are known
 *   take()            what may be sent now
 *   scan() … finish() further entries pass straight through; a commit that comes now is refused
 *
 * The outgoing object count stands in the header, so whatever is dropped (originals, tags, commits that upstream
 * has) must have been seen before `start`. Git, JGit and libgit2 write all commits first, then tags; packs of
 * other clients that mix them are small enough for the delay line, or are refused before anything is sent.
 */
import { createHash } from 'node:crypto';
import { ByteSlabs } from '../byte-slabs.ts';
import { concatBytes, utf8 } from '../bytes.ts';
import type { Oid } from '../oid.ts';
import { ProtocolError } from '../protocol-error.ts';
import { encodeEntryHeader, OBJ_COMMIT } from './entry-header.ts';
import { MAX_DELAY_LINE_BYTES, MAX_WAITING_REF_DELTAS, WAITING_PIECE_BYTES } from './limits.ts';
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

function notRewritable(message: string): ProtocolError {
  return new ProtocolError('not-rewritable', message);
}

/** A commit comes, or must still come, when files had to leave already. */
export function lateCommit(): ProtocolError {
  return notRewritable(
    'The pack holds commits behind its files, and some would keep your name. Push with an ordinary Git client.',
  );
}

export class PackRewriter implements PackListener {
  readonly #scanner: PackScanner = new PackScanner(this);
  readonly #isUpstreamCommit: (oid: Oid) => boolean;
  readonly #hash = createHash('sha1');
  #line: Uint8Array[] = [];
  /** What the line keeps in memory. */
  #lineBytes = 0;
  #started = false;
  /** Bases of the ref-deltas that wait: none of them may turn out to be a commit of this pack. */
  readonly #waitingBases = new Set<Oid>();

  /** @param isUpstreamCommit a ref-delta against such a commit would be a commit. */
  constructor(isUpstreamCommit: (oid: Oid) => boolean) {
    this.#isUpstreamCommit = isUpstreamCommit;
  }

  /** Commits kept so far, the same one twice counting twice; tags count too. */
  get keptCount(): number {
    return this.#scanner.kept.entryCount;
  }

  /** Nothing more can wait: history must be complete now. */
  get isFull(): boolean {
    return this.#lineBytes >= MAX_DELAY_LINE_BYTES || this.#waitingBases.size >= MAX_WAITING_REF_DELTAS;
  }

  /** Trees and blobs have begun to arrive, so all commits have if the client is an ordinary one. */
  get hasPassed(): boolean {
    return this.#line.length > 0;
  }

  findCommit(oid: Oid): Uint8Array | undefined {
    const kept = this.#scanner.kept.withOid(oid);
    return kept?.type === 'commit' ? kept.content : undefined;
  }

  /** @throws ProtocolError if the pack is not sound, or cannot be made anonymous. */
  scan(chunk: Uint8Array): void {
    const before = this.#line.length;
    this.#scanner.scan(chunk);
    // A piece keeps the whole chunk that it is a view of, however small it is.
    const added = this.#line.length - before;
    if (added > 0) this.#lineBytes += chunk.byteLength + added * WAITING_PIECE_BYTES;
  }

  /** @throws ProtocolError `truncated-pack` unless the whole pack has been scanned. */
  finish(): void {
    this.#scanner.finish();
  }

  /** @param commits contents of the new commits, each once. */
  start(commits: readonly Uint8Array[]): void {
    const header = new Uint8Array(12);
    header.set(utf8('PACK'));
    const view = new DataView(header.buffer);
    view.setUint32(4, 2);
    view.setUint32(8, this.#scanner.entryCount - this.keptCount + commits.length);
    const entries = new ByteSlabs();
    for (const content of commits) {
      const entryHeader = encodeEntryHeader(OBJ_COMMIT, content.byteLength);
      entries.take(entryHeader.byteLength).set(entryHeader);
      zlibStore(content, entries.take(zlibStoreBytes(content.byteLength)));
    }
    this.#line = [header, ...entries.pieces(), ...this.#line];
    this.#waitingBases.clear();
    this.#started = true;
  }

  /** What may be sent now, in order and in pieces that are worth a write. Only after `start`. */
  take(): readonly Uint8Array[] {
    const taken = joinSmall(this.#line);
    this.#line = [];
    this.#lineBytes = 0;
    for (const bytes of taken) this.#hash.update(bytes);
    return taken;
  }

  /** The checksum of all that was taken. Only after `finish` and the last `take`. */
  trailer(): Uint8Array {
    return this.#hash.digest();
  }

  kept(object: KeptObject): void {
    if (this.#started) throw lateCommit();
    if (this.#waitingBases.has(object.oid)) throw this.#hiddenCommit();
  }

  passed(bytes: Uint8Array): void {
    this.#line.push(bytes);
  }

  refDelta(base: Oid): void {
    if (this.#isUpstreamCommit(base)) throw this.#hiddenCommit();
    if (!this.#started) this.#waitingBases.add(base);
  }

  #hiddenCommit(): ProtocolError {
    return notRewritable(
      'The pack stores a commit in a way that cannot be read on the fly. Run "git repack -adf", then push again.',
    );
  }
}
