/**
 * What a push has sent, until it is judged: in memory up to a mebibyte, beyond it encrypted rows of the object `Spool`.
 * So the memory of a push does not grow with its size: one row that is filled, and one that is written. Where memory is
 * short, rows begin much earlier, so that a crowd of pushes that crawl leaves room for others.
 */
import type { Memory, MemoryShare } from '../git/memory.ts';
import type { Clock } from '../isolate/clock.ts';
import { busy } from '../isolate/waiting.ts';
import { type OpenRowStore, type SealedAttempt, SealedRows } from './sealed-rows.ts';
import { isolateSpools, type SpoolBudget, type SpoolShare } from './spool-budget.ts';

/** What stays in memory; the first row of what does not. */
export const MEMORY_BYTES = 1024 * 1024;
/**
 * Of each further row. One of an object may have 2 MB, but on its way it is copied several times: with 1 MiB, four pushes of
 * 95 MB at once took 87 MiB instead of 61.
 */
export const ROW_BYTES = 256 * 1024;
/** Of a row while memory is short, and of what stays in it. */
const SHORT_ROW_BYTES = 64 * 1024;
/** Most pushes have less. */
const FIRST_BYTES = 16 * 1024;

/** One call at a time, but for `discard`. */
export interface Spool {
  /**
   * Appends bytes. They are copied: when it resolves, more may be written, and the caller may reuse them.
   * @throws HostError `busy` if there are too many bytes in all, no memory, or the object fails.
   */
  write(pieces: readonly Uint8Array[]): Promise<void>;
  /** Stores what it need not keep; to be called before waiting for memory. @throws as `write`. */
  spill(): Promise<void>;
  /** No more follows. Waits until all is stored. @throws as `write`. */
  close(): Promise<void>;
  readonly byteLength: number;
  /** Whether everything lies in memory. */
  readonly isInMemory: boolean;
  /**
   * Bytes [start, end) in order, in pieces, which nobody may change. A piece is good until the next one is asked for:
   * then it becomes empty. Only after `close`; any number of times, also at once. At most one row is read ahead.
   * @throws HostError `busy` if there is no memory, or the object fails; LostRowError if a row is gone or was changed.
   */
  read(start?: number, end?: number): AsyncIterable<Uint8Array>;
  /**
   * Keeps it for a push that is published later: `readKept` reads it again. Then it is at its end here, and `discard`
   * removes nothing. Only after `close`; more may have been written since.
   * @param until milliseconds since 1970. @throws as `write`.
   */
  keep(until: number): Promise<KeptSpool>;
  /** Gives everything back and removes the rows. Never rejects. May be called more than once. */
  discard(): Promise<void>;
}

/** A spool that outlives its request. */
export interface KeptSpool extends SealedAttempt {
  /** Where each row ends. */
  readonly rowEnds: readonly number[];
}

export interface SpoolOptions {
  /** Usually `spoolOf`. */
  readonly open: OpenRowStore;
  /** What the request holds of the isolate's memory. */
  readonly memory: Memory;
  /** As its memory counts it. */
  readonly client: string | null;
  /** For all spools of the isolate. */
  readonly mostBytes: number;
  readonly clock: Clock;
  readonly budget?: SpoolBudget;
  /** For a row. */
  readonly patienceMs?: number;
}

/** Begins an empty one. The caller must discard it, whatever happens. */
export function openSpool(options: SpoolOptions): Spool {
  return new RowSpool(options);
}

class RowSpool implements Spool {
  readonly #options: SpoolOptions;
  readonly #budget: SpoolBudget;
  readonly #share: SpoolShare;
  readonly #rows: SealedRows;
  /** Where each row ends. */
  readonly #rowEnds: number[] = [];
  /** What comes after the rows; its first bytes are used. */
  #tail = new Uint8Array(0);
  #tailBytes = 0;
  #tailShare: MemoryShare;
  #byteLength = 0;
  /** The last row, while it is written. */
  #writing: Promise<void> = Promise.resolve();
  #discarding: Promise<void> | null = null;

  constructor(options: SpoolOptions) {
    const { client, clock, open, patienceMs } = options;
    this.#options = options;
    this.#tailShare = options.memory.share();
    this.#budget = options.budget ?? isolateSpools;
    this.#share = { client, bytes: 0, seenAt: clock.now() };
    this.#rows = new SealedRows(open, patienceMs);
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  get isInMemory(): boolean {
    return this.#rowEnds.length === 0;
  }

  get #rowBytes(): number {
    if (this.#options.memory.isShort) return SHORT_ROW_BYTES;
    return this.isInMemory ? MEMORY_BYTES : ROW_BYTES;
  }

  async spill(): Promise<void> {
    if (this.#tailBytes >= this.#rowBytes) await this.#writeRow();
  }

  async write(pieces: readonly Uint8Array[]): Promise<void> {
    for (const piece of pieces) {
      this.#take(piece.byteLength);
      for (let rest = piece; rest.byteLength > 0;) {
        await this.spill();
        await this.#growTail(rest.byteLength);
        const taken = rest.subarray(0, this.#tail.byteLength - this.#tailBytes);
        this.#tail.set(taken, this.#tailBytes);
        this.#tailBytes += taken.byteLength;
        this.#byteLength += taken.byteLength;
        rest = rest.subarray(taken.byteLength);
      }
    }
  }

  async close(): Promise<void> {
    if (this.isInMemory) return;
    if (this.#tailBytes > 0) await this.#writeRow();
    await this.#writing;
  }

  async *read(start = 0, end = this.#byteLength): AsyncGenerator<Uint8Array> {
    const to = Math.min(end, this.#byteLength);
    if (start >= to) return;
    this.#take(0);
    if (this.isInMemory) return yield this.#tail.subarray(start, to);
    yield* readRows(this.#rows, this.#rowEnds, start, to, this.#options.memory, () => this.#take(0));
  }

  async keep(until: number): Promise<KeptSpool> {
    if (this.#tailBytes > 0) await this.#writeRow();
    await this.#writing;
    const kept = await this.#rows.keep(until);
    return { ...kept, rowEnds: this.#rowEnds };
  }

  discard(): Promise<void> {
    return (this.#discarding ??= this.#giveBack());
  }

  async #giveBack(): Promise<void> {
    // A row that arrives after the others were removed would stay.
    await this.#writing.catch(() => {});
    this.#tailShare.setNow(0);
    // The collector would take its time.
    this.#tail.buffer.transfer(0);
    await this.#rows.remove().catch(() => {});
    this.#budget.release(this.#share);
  }

  /** Begins to write the tail, when the row before it is written. */
  async #writeRow(): Promise<void> {
    await this.#writing;
    this.#take(0);
    const row = this.#tail.subarray(0, this.#tailBytes);
    const share = this.#tailShare;
    [this.#tail, this.#tailBytes, this.#tailShare] = [new Uint8Array(0), 0, this.#options.memory.share()];
    const number = this.#rowEnds.push(this.#byteLength) - 1;
    this.#writing = this.#rows.write(number, row).finally(() => share.setNow(0));
    // The next row tells.
    this.#writing.catch(() => {});
  }

  /** Makes room for more bytes, or for as many as a row has: twice as much each time. */
  async #growTail(moreBytes: number): Promise<void> {
    const needed = Math.min(this.#rowBytes, this.#tailBytes + moreBytes);
    let bytes = Math.max(FIRST_BYTES, this.#tail.byteLength);
    while (bytes < needed) bytes *= 2;
    if (bytes === this.#tail.byteLength) return;
    await this.#tailShare.set(bytes);
    // It may have been discarded meanwhile.
    this.#take(0);
    this.#tail = new Uint8Array(this.#tail.buffer.transfer(bytes));
  }

  /** Takes bytes of the budget, or shows that the push is alive. */
  #take(bytes: number): void {
    if (this.#discarding !== null) throw busy();
    this.#budget.take(this.#share, bytes, this.#options.mostBytes, this.#options.clock);
  }
}

/**
 * Bytes [start, end) of a spool that was kept, as `Spool.read`.
 * @param memory where up to two rows are counted.
 */
export async function* readKept(
  kept: KeptSpool,
  open: OpenRowStore,
  memory: Memory,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  yield* readRows(await SealedRows.reopen(kept, open), kept.rowEnds, start, end, memory, () => {});
}

/** @param touch called for each row. */
async function* readRows(
  rows: SealedRows,
  rowEnds: readonly number[],
  start: number,
  end: number,
  memory: Memory,
  touch: () => void,
): AsyncGenerator<Uint8Array> {
  if (start >= end) return;
  const rowAt = (offset: number): number => rowEnds.findIndex((rowEnd) => rowEnd > offset);
  const startOf = (number: number): number => rowEnds[number - 1] ?? 0;
  const [first, last] = [rowAt(start), rowAt(end - 1)];
  const share = memory.share();
  try {
    let most = 0;
    for (let number = first; number <= last; number++) {
      most = Math.max(most, startOf(Math.min(number + 1, last) + 1) - startOf(number));
    }
    await share.set(most);
    let ahead = rows.read(first);
    for (let number = first; number <= last; number++) {
      const row = await ahead;
      touch();
      if (number < last) {
        ahead = rows.read(number + 1);
        // If nobody asks for it, nobody wants to know.
        ahead.catch(() => {});
      }
      const offset = startOf(number);
      yield row.subarray(Math.max(0, start - offset), end - offset);
      // The collector would let many of them come together.
      row.buffer.transfer(0);
    }
  } finally {
    share.setNow(0);
  }
}
