/**
 * What a push has sent, until it is judged: up to a mebibyte in memory (or less), then in encrypted
 * rows.
 */
import type { Memory, MemoryClaim } from '../git/memory.ts';
import type { Clock } from '../isolate/clock.ts';
import { onForget } from '../isolate/recent.ts';
import { busy } from '../isolate/memory-budget.ts';
import { type OpenRowStore, type SealedAttempt, SealedRows } from './sealed-rows.ts';

export const MEMORY_BYTES = 1024 * 1024;
/**
 * Of a row. One of an object may have 2 MB, but it is copied several times on its way, and that
 * memory stays taken.
 */
export const ROW_BYTES = 256 * 1024;
/** Of a row while memory is short, and of what stays in it. */
const SHORT_ROW_BYTES = 64 * 1024;
/** Most pushes have less. */
const FIRST_BYTES = 16 * 1024;

/** A row before it is written; its first bytes are used. */
interface Chunk {
  bytes: Uint8Array<ArrayBuffer>;
  used: number;
  readonly claim: MemoryClaim;
}

/** A spool that outlives its request. */
export interface KeptSpool extends SealedAttempt {
  /** Where each row ends. */
  readonly rowEnds: readonly number[];
}

export interface SpoolOptions {
  readonly open: OpenRowStore;
  readonly memory: Memory;
  /** As its memory counts it. */
  readonly client: string | null;
  /** For all spools of the isolate. */
  readonly mostBytes: number;
  readonly clock: Clock;
  /** Default: that of the isolate. */
  readonly budget?: SpoolBudget;
  /** For a row. */
  readonly patienceMs?: number;
}

/** Of all bytes, for the spools of one client. */
const MOST_OF_ONE_CLIENT = 1 / 10;
/**
 * The platform may end a request so that it gives nothing back. Much longer than a living one needs
 * between calls.
 */
const CLAIM_LIFE_MS = 10 * 60 * 1000;

/** What one spool has taken. */
interface SpoolClaim {
  /** Null: it is not known, and they count as one. */
  readonly client: string | null;
  bytes: number;
  /** Its last sign of life; milliseconds since 1970. */
  seenAt: number;
}

/**
 * How many bytes an isolate's pushes may keep in their spools: in all, and for one client. On one
 * machine, this bounds its disk. On Cloudflare each isolate counts for itself: one object for all
 * would be asked with each megabyte.
 */
export class SpoolBudget {
  readonly #claims = new Set<SpoolClaim>();

  /**
   * Takes bytes, or none, and shows that the claim's request is alive.
   * @throws HostError `busy` over the limits.
   */
  take(claim: SpoolClaim, bytes: number, mostBytes: number, clock: Clock): void {
    const now = clock.now();
    claim.seenAt = now;
    this.#claims.add(claim);
    let all = bytes;
    let ofClient = bytes;
    for (const other of this.#claims) {
      if (now - other.seenAt >= CLAIM_LIFE_MS) this.#claims.delete(other);
      else {
        all += other.bytes;
        if (other.client === claim.client) ofClient += other.bytes;
      }
    }
    if (bytes === 0) return;
    if (all > mostBytes || ofClient > MOST_OF_ONE_CLIENT * mostBytes) throw busy();
    claim.bytes += bytes;
  }

  release(claim: SpoolClaim): void {
    claim.bytes = 0;
    this.#claims.delete(claim);
  }

  /** What all of them have taken. */
  get bytes(): number {
    return [...this.#claims].reduce((bytes, claim) => bytes + claim.bytes, 0);
  }
}

let isolateSpools = new SpoolBudget();
onForget(() => (isolateSpools = new SpoolBudget()));

/**
 * One call at a time, but for `discard`, which the caller must call in the end, whatever happens.
 */
export class PushSpool {
  readonly #options: SpoolOptions;
  readonly #budget: SpoolBudget;
  readonly #claim: SpoolClaim;
  readonly #rows: SealedRows;
  /** Where each row ends. */
  readonly #rowEnds: number[] = [];
  /** What comes after the rows. The last one is being filled. */
  #chunks: Chunk[] = [];
  #byteLength = 0;
  /** The last row, while it is written. */
  #writing: Promise<void> = Promise.resolve();
  #discarding: Promise<void> | null = null;

  constructor(options: SpoolOptions) {
    const { client, clock, open, patienceMs } = options;
    this.#options = options;
    this.#budget = options.budget ?? isolateSpools;
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

  /** Stores what it need not keep; to be called before waiting for memory. @throws as `write`. */
  async spill(): Promise<void> {
    const isToStay = this.isInMemory && !this.#options.memory.isShort;
    const bytes = this.#byteLength - (this.#rowEnds.at(-1) ?? 0);
    if (bytes >= (isToStay ? MEMORY_BYTES : this.#rowBytes)) await this.#writeRows();
  }

  /**
   * Appends copies of bytes.
   * @throws HostError `busy`: too many bytes in all, no memory, or the object fails.
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

  /** No more follows. Waits until all is stored. @throws as `write`. */
  async close(): Promise<void> {
    if (this.isInMemory) return;
    await this.#writeRows();
    await this.#writing;
  }

  /**
   * Bytes [start, end) in order, in pieces, which nobody may change. A piece is good until the next
   * one is asked for: then it becomes empty. Only after `close`; any number of times, also at once.
   * At most one row is read ahead.
   * @throws HostError `busy` if there is no memory, or the object fails; LostRowError if a row is
   * gone or was changed.
   */
  async *read(start = 0, end = this.#byteLength): AsyncGenerator<Uint8Array, void> {
    const to = Math.min(end, this.#byteLength);
    if (start >= to) return;
    this.#take(0);
    if (this.isInMemory) yield* this.#readChunks(start, to);
    else yield* readRows(this.#rows, this.#rowEnds, start, to, this.#options.memory, () => this.#take(0));
  }

  /**
   * Keeps it for a push that is published later, to be read with `readKept`; `discard` removes
   * nothing then. Only after `close`, even if more was written since.
   * @param until milliseconds since 1970.
   * @throws as `write`.
   */
  async keep(until: number): Promise<KeptSpool> {
    await this.#writeRows();
    await this.#writing;
    const kept = await this.#rows.keep(until);
    return { ...kept, rowEnds: this.#rowEnds };
  }

  /** Gives everything back and removes the rows. Never rejects. May be called more than once. */
  discard(): Promise<void> {
    return (this.#discarding ??= (async () => {
      // A row that arrives after the others were removed would stay.
      await this.#writing.catch(() => {});
      for (const { bytes, claim } of this.#chunks.splice(0)) {
        claim.setNow(0);
        // The collector would take its time.
        bytes.buffer.transfer(0);
      }
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

  /** Writes each chunk as a row; the last one is still being written when it resolves. */
  async #writeRows(): Promise<void> {
    while (this.#chunks.length > 0) {
      await this.#writing;
      this.#take(0);
      const { bytes, used, claim } = this.#chunks.shift() as Chunk;
      const number = this.#rowEnds.push((this.#rowEnds.at(-1) ?? 0) + used) - 1;
      this.#writing = this.#rows.write(number, bytes.subarray(0, used)).finally(() => claim.setNow(0));
      // The next row tells.
      this.#writing.catch(() => {});
    }
  }

  /**
   * The chunk that is filled next, with room for more bytes, or for as many as a row has: twice as
   * much each time.
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
    // It may have been discarded meanwhile.
    this.#take(0);
    chunk.bytes = new Uint8Array(chunk.bytes.buffer.transfer(bytes));
    return chunk;
  }

  /** Takes bytes of the budget, or shows that the push is alive. */
  #take(bytes: number): void {
    if (this.#discarding !== null) throw busy();
    this.#budget.take(this.#claim, bytes, this.#options.mostBytes, this.#options.clock);
  }
}

/** Bytes [start, end) of a kept spool, as `Spool.read`. */
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
  const rowAt = (offset: number) => rowEnds.findIndex((rowEnd) => rowEnd > offset);
  const first = rowAt(start);
  const last = rowAt(end - 1);
  const offsets = [0, ...rowEnds].slice(first, last + 2);
  // Of two rows at once, or of the only one.
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
        // If nobody asks for it, nobody wants to know.
        ahead.catch(() => {});
      }
      const offset = offsets[number - first]!;
      yield row.subarray(Math.max(0, start - offset), end - offset);
      // The collector would let many of them come together.
      row.buffer.transfer(0);
    }
  } finally {
    claim.setNow(0);
  }
}
