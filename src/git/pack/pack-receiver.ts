/**
 * Takes a pack apart as it arrives: commits and tags are kept, everything else passes on as it will leave. Between the
 * entries that pass, there are no commits any more, so distances of ofs-deltas are corrected on the way.
 */
import { type Memory, UNCOUNTED } from '../memory.ts';
import type { Oid } from '../objects/oid.ts';
import { OidTable } from '../objects/oid-table.ts';
import { ProtocolError } from '../wire/protocol-error.ts';
import type { KeptObject, KeptObjects } from './kept-objects.ts';
import { MAX_NAMED_BASES } from './memory-limits.ts';
import { type PackListener, PackScanner } from './pack-scanner.ts';

/** A ref-delta against a commit is a commit, and its content cannot be known without that base. */
export function hiddenCommit(): ProtocolError {
  return new ProtocolError(
    'not-rewritable',
    'The pack stores a commit as a delta of one that it does not contain, or that is a delta of it in turn.',
  );
}

export class PackReceiver implements PackListener {
  readonly #scanner: PackScanner;
  readonly #namedBases = new OidTable();
  readonly #leftOutCount: number;
  #passed: Uint8Array[] = [];
  /** Whether a delta has passed whose base was kept later: it is a commit or a tag (late-deltas.ts). */
  hasLateBase = false;

  /** @param memory where kept commits are counted. @param leftOut as a PackScanner takes it. */
  constructor(memory: Memory = UNCOUNTED, leftOut: readonly number[] = []) {
    this.#leftOutCount = leftOut.length;
    this.#scanner = new PackScanner(this, { memory }, 'history', leftOut);
  }

  /** Commits and tags. */
  get kept(): KeptObjects {
    return this.#scanner.kept;
  }

  /** The bases that entries name by their ids, and that were not kept before. */
  get namedBases(): OidTable {
    return this.#namedBases;
  }

  /** Entries that have passed. Only after `finish`. */
  get passedCount(): number {
    return this.#scanner.entryCount - this.kept.entryCount - this.#leftOutCount;
  }

  /**
   * What passes on of the next bytes: views, valid until the chunk is reused.
   * @throws ProtocolError if the pack is invalid, or cannot be made anonymous.
   */
  scan(chunk: Uint8Array): readonly Uint8Array[] {
    this.#scanner.scan(chunk);
    const passed = this.#passed;
    this.#passed = [];
    return passed;
  }

  /** @throws ProtocolError `truncated-pack` unless the whole pack has been scanned. */
  finish(): void {
    this.#scanner.finish();
  }

  onKept({ oid }: KeptObject): void {
    this.hasLateBase ||= this.#namedBases.has(oid);
  }

  onPassed(bytes: Uint8Array): void {
    this.#passed.push(bytes);
  }

  onRefDelta(base: Oid): void {
    this.#namedBases.add(base);
    if (this.#namedBases.size > MAX_NAMED_BASES) {
      throw new ProtocolError('too-large', 'The push contains too many deltas. Push fewer commits at once.');
    }
  }
}
