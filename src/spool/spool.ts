/**
 * Stores what a push has sent, except commits and tags, until the push ends, or longer if it is
 * delayed: up to a mebibyte in memory (less if memory is short), more in encrypted rows.
 */
import type { Memory, MemoryClaim } from '../git/memory.ts';
import type { Clock } from '../isolate/clock.ts';
import { busy } from '../isolate/waiting.ts';
import { type OpenRowStore, type SealedAttempt, SealedRows } from './sealed-rows.ts';
import { isolateSpools, type SpoolBudget, type SpoolClaim } from './spool-budget.ts';

export const MEMORY_BYTES = 1024 * 1024;
/**
 * Size of a row. An object takes rows of 2 MB, but a row is copied several times on its way, and
 * that memory stays allocated.
 */
export const ROW_BYTES = 256 * 1024;
/** Size of a row while memory is short, which is also what stays in memory then. */
const SHORT_ROW_BYTES = 64 * 1024;
/** Size of the first allocation. Most pushes need less. */
const FIRST_BYTES = 16 * 1024;

/** A row before it is written, of which `used` bytes are filled. */
interface Chunk {
  bytes: Uint8Array<ArrayBuffer>;
  used: number;
  readonly claim: MemoryClaim;
}

/** The address of a spool that outlives its request. */
export interface KeptSpool extends SealedAttempt {
  /** The offset in the spool at which each row ends. */
  readonly rowEnds: readonly number[];
}

export interface SpoolOptions {
  readonly open: OpenRowStore;
  readonly memory: Memory;
  /** The client that the spool counts for; null if it is not known. */
  readonly client: string | null;
  /** Maximum size of all spools of the isolate together. */
  readonly mostBytes: number;
  readonly clock: Clock;
  /** The budget to take from. By default, it is the isolate's. */
  readonly budget?: SpoolBudget;
  /** Maximum time for storing or reading a row. */
  readonly patienceMs?: number;
}

/**
 * A spool. Call one method at a time, except for `read` and `discard`. The caller must call
 * `discard` in the end, whatever happens.
 */
export class PushSpool {
  readonly #options: SpoolOptions;
  readonly #budget: SpoolBudget;
  readonly #claim: SpoolClaim;
  readonly #rows: SealedRows;
  /** The offset at which each row ends. */
  readonly #rowEnds: number[] = [];
  /** The bytes after the rows. The last chunk is being filled. */
  #chunks: Chunk[] = [];
  #byteLength = 0;
  /** The write of the last row. */
  #writing: Promise<void> = Promise.resolve();
  #discarding: Promise<void> | null = null;

  constructor(options: SpoolOptions) {
    const { client, clock, open, patienceMs } = options;
    this.#options = options;
    this.#budget = options.budget ?? isolateSpools();
    this.#claim = { client, bytes: 0, seenAt: clock.now() };
    this.#rows = new SealedRows(open, patienceMs);
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  get isInMemory(): boolean {
    return this.#rowEnds.length === 0;
  }

  get #rowBytes(): number {
    return this.#options.memory.isShort ? SHORT_ROW_BYTES : ROW_BYTES;
  }

  /**
   * Writes to rows what need not stay in memory. Call it before waiting for memory.
   * @throws as `write`.
   */
  async spill(): Promise<void> {
    const isToStay = this.isInMemory && !this.#options.memory.isShort;
    const bytes = this.#byteLength - (this.#rowEnds.at(-1) ?? 0);
    if (bytes >= (isToStay ? MEMORY_BYTES : this.#rowBytes)) await this.#writeRows();
  }

  /**
   * Appends copies of bytes.
   * @throws HostError `busy` for too many bytes in all or of one client, after `discard`, without
   * memory, or if the object fails.
   */
  async write(pieces: readonly Uint8Array[]): Promise<void> {
    for (const piece of pieces) {
      this.#take(piece.byteLength);
      for (let rest = piece; rest.byteLength > 0;) {
        await this.spill();
        const chunk = await this.#roomFor(rest.byteLength);
        const taken = rest.subarray(0, chunk.bytes.byteLength - chunk.used);
        chunk.bytes.set(taken, chunk.used);
        chunk.used += taken.byteLength;
        this.#byteLength += taken.byteLength;
        rest = rest.subarray(taken.byteLength);
      }
    }
  }

  /**
   * Ends writing, and waits until all is stored.
   * @throws as `write`.
   */
  async close(): Promise<void> {
    if (!this.isInMemory) await this.settle();
  }

  /**
   * Writes all to rows, so that it takes no memory, and waits until it is stored.
   * @throws as `write`.
   */
  async settle(): Promise<void> {
    await this.#writeRows();
    await this.#writing;
  }

  /**
   * Yields the bytes [start, end) in order, in pieces, which nobody may change. Each is valid until
   * the next one is asked for, and may then become empty. Call it only after `close`, any number of
   * times, also at once. It reads at most one row ahead.
   * @throws HostError `busy` if there is no memory, or if the object fails.
   * @throws LostRowError if a row is gone or was changed.
   */
  async *read(start = 0, end = this.#byteLength): AsyncGenerator<Uint8Array, void> {
    const to = Math.min(end, this.#byteLength);
    if (start >= to) return;
    this.#take(0);
    if (this.isInMemory) yield* this.#readChunks(start, to);
    else yield* readRows(this.#rows, this.#rowEnds, start, to, this.#options.memory, () => this.#take(0));
  }

  /**
   * Keeps the spool for a push that is published later, to be read with `readKept`. `discard` then
   * removes no rows. Call it only after `close`; what was written since is kept, too.
   * @param until is in milliseconds since 1970.
   * @throws as `write`.
   */
  async keep(until: number): Promise<KeptSpool> {
    await this.settle();
    const kept = await this.#rows.keep(until);
    return { ...kept, rowEnds: this.#rowEnds };
  }

  /**
   * Releases memory and budget, and removes the rows. Never rejects, and may be called more than
   * once.
   */
  discard(): Promise<void> {
    return (this.#discarding ??= (async () => {
      // Wait, because a row that arrives after the others were removed would stay. Its failure no
      // longer matters.
      await this.#writing.catch(() => {});
      for (const { bytes, claim } of this.#chunks.splice(0)) {
        claim.setNow(0);
        // Free the memory now, because the garbage collector is slow.
        bytes.buffer.transfer(0);
      }
      // If this fails, the alarm of the object removes the rows.
      await this.#rows.remove().catch(() => {});
      this.#budget.release(this.#claim);
    })());
  }

  *#readChunks(start: number, end: number): Generator<Uint8Array> {
    let offset = 0;
    for (const { bytes, used } of this.#chunks) {
      if (offset >= end) return;
      const piece = bytes.subarray(Math.max(0, start - offset), Math.min(used, end - offset));
      offset += used;
      if (piece.byteLength > 0) yield piece;
    }
  }

  /** Writes each chunk as a row. The last one is still being written when it resolves. */
  async #writeRows(): Promise<void> {
    while (this.#chunks.length > 0) {
      await this.#writing;
      this.#take(0);
      const { bytes, used, claim } = this.#chunks.shift() as Chunk;
      const number = this.#rowEnds.push((this.#rowEnds.at(-1) ?? 0) + used) - 1;
      this.#writing = this.#rows.write(number, bytes.subarray(0, used)).finally(() => claim.setNow(0));
      // A failure is reported by the next `await` of it.
      this.#writing.catch(() => {});
    }
  }

  /**
   * Returns the chunk that is filled next. Its size doubles until it has room for more bytes, up to
   * the size of a row.
   */
  async #roomFor(moreBytes: number): Promise<Chunk> {
    const last = this.#chunks.at(-1);
    const isFull = last === undefined || last.used >= this.#rowBytes;
    const chunk = isFull ? { bytes: new Uint8Array(0), used: 0, claim: this.#options.memory.claim() } : last;
    if (isFull) this.#chunks.push(chunk);
    const needed = Math.min(this.#rowBytes, chunk.used + moreBytes);
    let bytes = Math.max(FIRST_BYTES, chunk.bytes.byteLength);
    while (bytes < needed) bytes *= 2;
    if (bytes === chunk.bytes.byteLength) return chunk;
    await chunk.claim.set(bytes);
    // The spool may have been discarded meanwhile.
    this.#take(0);
    chunk.bytes = new Uint8Array(chunk.bytes.buffer.transfer(bytes));
    return chunk;
  }

  /**
   * Takes bytes of the budget, and shows that the push is alive.
   * @throws HostError `busy`
   */
  #take(bytes: number): void {
    if (this.#discarding !== null) throw busy();
    this.#budget.take(this.#claim, bytes, this.#options.mostBytes, this.#options.clock);
  }
}

/** Yields the bytes [start, end) of a kept spool, as `PushSpool.read` does. */
export async function* readKept(
  kept: KeptSpool,
  open: OpenRowStore,
  memory: Memory,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  yield* readRows(await SealedRows.reopen(kept, open), kept.rowEnds, start, end, memory, () => {});
}

/**
 * Yields bytes of rows.
 * @param touch is called for each row.
 */
async function* readRows(
  rows: SealedRows,
  rowEnds: readonly number[],
  start: number,
  end: number,
  memory: Memory,
  touch: () => void,
): AsyncGenerator<Uint8Array> {
  if (start >= end) return;
  const rowAt = (offset: number) => rowEnds.findIndex((rowEnd) => rowEnd > offset);
  const first = rowAt(start);
  const last = rowAt(end - 1);
  const offsets = [0, ...rowEnds].slice(first, last + 2);
  // The size of the two largest neighbours, or of the only row.
  const most = Math.max(...offsets.slice(1).map((rowEnd, at) => (offsets[at + 2] ?? rowEnd) - offsets[at]!));
  const claim = memory.claim();
  try {
    await claim.set(most);
    let ahead = rows.read(first);
    for (let number = first; number <= last; number++) {
      const row = await ahead;
      touch();
      if (number < last) {
        ahead = rows.read(number + 1);
        // A failure is reported by the next `await` of it, if the caller reads on.
        ahead.catch(() => {});
      }
      const offset = offsets[number - first]!;
      yield row.subarray(Math.max(0, start - offset), end - offset);
      // Free the memory now. The garbage collector would let many rows accumulate.
      row.buffer.transfer(0);
    }
  } finally {
    claim.setNow(0);
  }
}
