/**
 * Shares the memory of an isolate between its requests. One counter is for what grows with what a
 * client or the host sends (kept commits, rows of spools, listings of history, lists of refs, pages
 * of comments), another for texts that still arrive.
 *
 * A request is small, or it has the one large slot. Small requests share a pool. A request that
 * needs more than a small one may have, or than is left in the pool, takes the large slot. Its
 * bytes then no longer count in the pool, because the limits on a single request bound them. So a
 * request on an idle isolate never waits, nor does the one in the large slot, which therefore ends.
 * That is why requests that hold memory and wait for more cannot block each other. One client
 * cannot have all of the pool, and one that has had the large slot queues behind those who wait for
 * it.
 *
 * A request that has died releases nothing, so what it holds expires when it shows no sign of life.
 */
import type { Memory, MemoryClaim } from '../git/memory.ts';
import type { Clock } from './clock.ts';
import { SharedWork } from './shared-work.ts';
import { busy, waitUntil } from './waiting.ts';

const MiB = 1024 * 1024;

/**
 * Size of the pool: six pushes with spool rows. With the large slot (24 MiB of commits, 18 MiB of a
 * listing), it fits into 128 MB.
 */
const SHARED_BYTES = 16 * MiB;
/** Maximum for one small request: two rows and what the scanner needs, or some 3,500 commits. */
const SMALL_BYTES = 4 * MiB;
/** Share of the pool from which requests that can work with less should do so. */
const SHORT_FROM = 1 / 2;
/** Maximum wait for memory. A push within the pool takes a second or two. */
const MAX_WAIT_MS = 10_000;
/**
 * Time after which a request without a sign of life has died. It is longer than the host may take
 * for any step but the last, when nearly all is sent.
 */
const HOLD_LIFE_MS = 120_000;
/**
 * Time after which a waiting request without a sign of life has died. It is much longer than
 * between two of its looks, also if the isolate is busy.
 */
const QUEUED_LIFE_MS = 5_000;
/**
 * Maximum time for which a request may hold much memory while others wait, so that nobody blocks
 * the service by slowness.
 */
const LONGEST_BUSY_HOLD_MS = 60_000;
/** Size from which a request holds much. */
const MUCH_BYTES = MiB;
/** Share of the pool that the requests of one client may have. */
const MOST_OF_ONE_CLIENT = 3 / 4;

export class MemoryBudget {
  readonly #sharedBytes: number;
  readonly #smallBytes: number;
  /** The requests that hold something. */
  readonly #holds = new Set<MemoryHold>();
  /** The request in the large slot, whose bytes do not count in the pool. */
  #large: MemoryHold | null = null;
  /**
   * The client that had the large slot last, while others wait. It is null if there is none, or it
   * is not known.
   */
  #lastLarge: string | null = null;
  /** The requests that wait for the large slot, in their order. */
  #queue: readonly MemoryHold[] = [];

  constructor(sharedBytes = SHARED_BYTES, smallBytes = SMALL_BYTES) {
    this.#sharedBytes = sharedBytes;
    this.#smallBytes = smallBytes;
  }

  /**
   * Opens the account of a request, which holds nothing yet.
   * @param client is null for the service itself.
   * @param isPatient is false if the request never waits.
   */
  open(clock: Clock, client: string | null = null, isPatient = true): MemoryHold {
    return new MemoryHold(this, clock, client, isPatient);
  }

  get heldBytes(): number {
    return this.#sum(() => true);
  }

  get isShort(): boolean {
    return this.#sum((hold) => hold !== this.#large) > SHORT_FROM * this.#sharedBytes;
  }

  /**
   * Notes that a request is alive, and sets the number of bytes that it holds in all.
   * @returns false if it has to wait for them.
   */
  change(hold: MemoryHold, bytes: number): boolean {
    const now = (hold.seenAt = hold.clock.now());
    this.#dropDead(now);
    const isMore = bytes >= hold.bytes;
    const heldMuch = this.#holds.has(hold) && this.#holdsMuch(hold);
    if (this.#large !== hold && isMore && !this.#fits(hold, bytes)) {
      if (this.#large !== null || this.#nextAfter(hold) !== hold) return false;
      [this.#large, this.#lastLarge] = [hold, hold.client];
    } else if (this.#large === hold && !isMore && this.#fits(hold, bytes)) this.#leaveLarge();
    hold.bytes = bytes;
    if (bytes === 0) this.#holds.delete(hold);
    else if (isMore) this.#holds.add(hold);
    if (!heldMuch) hold.since = now;
    return true;
  }

  /**
   * Tries until it is the turn of a request.
   * @throws HostError `busy` after too long a wait.
   */
  async inTurn(hold: MemoryHold, attempt: () => boolean): Promise<void> {
    const attemptInQueue = (): boolean => {
      // It joins the queue at first, and again if it was taken for dead.
      if (!this.#queue.includes(hold)) this.#queue = [...this.#queue, hold];
      return attempt();
    };
    try {
      await waitUntil(attemptInQueue, MAX_WAIT_MS, hold.clock);
    } finally {
      this.#queue = this.#queue.filter((other) => other !== hold);
    }
  }

  /**
   * Notes that a request is alive.
   * @throws HostError `busy` if it has held much for long, and others wait.
   */
  checkPatience(hold: MemoryHold): void {
    const now = (hold.seenAt = hold.clock.now());
    if (!this.#holdsMuch(hold) || now - hold.since < LONGEST_BUSY_HOLD_MS) return;
    this.#dropDead(now);
    if (this.#queue.some((other) => other !== hold && isOfAnother(other, hold.client))) throw busy();
  }

  /** Releases all that a request holds. */
  drop(hold: MemoryHold): void {
    this.#holds.delete(hold);
    if (this.#large === hold) this.#leaveLarge();
  }

  /** Tells if there is room in the pool for a request with so many bytes. */
  #fits(hold: MemoryHold, bytes: number): boolean {
    const { client } = hold;
    const isOther = (other: MemoryHold) => other !== hold && other !== this.#large;
    if (bytes > this.#smallBytes || this.#sum(isOther) + bytes > this.#sharedBytes) return false;
    const ofClient = (other: MemoryHold) => isOther(other) && other.client === client;
    return client === null || this.#sum(ofClient) + bytes <= MOST_OF_ONE_CLIENT * this.#sharedBytes;
  }

  #holdsMuch(hold: MemoryHold): boolean {
    return this.#large === hold || hold.bytes > MUCH_BYTES;
  }

  #sum(counts: (hold: MemoryHold) => boolean): number {
    let bytes = 0;
    for (const hold of this.#holds) if (counts(hold)) bytes += hold.bytes;
    return bytes;
  }

  #leaveLarge(): void {
    this.#large = null;
    if (this.#queue.length === 0) this.#lastLarge = null;
  }

  /** Returns the request that gets the large slot next. Those that wait go before this one. */
  #nextAfter(hold: MemoryHold): MemoryHold {
    return this.#queue.find((other) => isOfAnother(other, this.#lastLarge)) ?? this.#queue[0] ?? hold;
  }

  #dropDead(now: number): void {
    for (const hold of this.#holds) if (now - hold.seenAt >= HOLD_LIFE_MS) this.drop(hold);
    this.#queue = this.#queue.filter(({ seenAt }) => now - seenAt < QUEUED_LIFE_MS);
  }
}

/** Tells if a request is another client's. Each of the service's own counts as another client's. */
const isOfAnother = (hold: MemoryHold, client: string | null): boolean =>
  hold.client === null || hold.client !== client;

/** The memory that one request holds, in claims. They throw HostError `busy`. */
export class MemoryHold implements Memory {
  bytes = 0;
  /** The last time at which it did not hold much, in milliseconds since 1970. */
  since = 0;
  seenAt = 0;
  #hasEnded = false;
  readonly clock: Clock;
  readonly client: string | null;
  readonly #budget: MemoryBudget;
  readonly #isPatient: boolean;
  readonly #work: SharedWork;
  /** How often everything was released: a claim from before counts nothing. */
  #releases = 0;

  constructor(budget: MemoryBudget, clock: Clock, client: string | null, isPatient: boolean) {
    this.#budget = budget;
    this.clock = clock;
    this.client = client;
    this.#isPatient = isPatient;
    this.#work = new SharedWork({ network: client, clock });
  }

  get isShort(): boolean {
    return this.#budget.isShort;
  }

  /** Returns the bytes that were inflated, decoded or searched for the request. */
  get workedBytes(): number {
    return this.#work.bytes;
  }

  worked(bytes: number, isShared = false): Promise<void> {
    return this.#work.count(bytes, isShared);
  }

  /** Counts a request to the host that a client has asked for, before it is sent. */
  asks(): Promise<void> {
    return this.#work.countRequest();
  }

  claim(): MemoryClaim {
    let [held, releases] = [0, this.#releases];
    const heldNow = (): number => {
      if (releases !== this.#releases) [held, releases] = [0, this.#releases];
      return held;
    };
    const trySet = (bytes: number): boolean => {
      if (!this.#change(bytes - heldNow())) return false;
      held = bytes;
      return true;
    };
    return {
      get bytes() {
        return heldNow();
      },
      set: async (bytes, onWait) => {
        this.#budget.checkPatience(this);
        if (trySet(bytes)) return;
        if (!this.#isPatient) throw busy();
        onWait?.();
        await this.#budget.inTurn(this, () => trySet(bytes));
      },
      setNow: (bytes) => {
        if (!trySet(bytes)) throw busy();
      },
    };
  }

  /** Releases everything that is claimed, because nothing of it is in memory any more. */
  release(): void {
    this.#releases += 1;
    this.bytes = 0;
    this.#budget.drop(this);
  }

  /**
   * Releases everything for good. It may be called more than once. Work of the request may go on
   * for a while (a listing whose push has failed), and nobody would release what that takes.
   */
  end(): void {
    this.#hasEnded = true;
    this.#work.charge();
    this.#budget.drop(this);
  }

  /** @throws HostError `busy` if it has ended, and wants more. */
  #change(more: number): boolean {
    if (this.#hasEnded && more > 0) throw busy();
    return this.#hasEnded || this.#budget.change(this, this.bytes + more);
  }
}

export const isolateMemory = new MemoryBudget();

/**
 * The memory of bodies that still arrive. A slow sender may keep others from sending a long text,
 * but nobody from pushing.
 */
export const bodiesMemory = new MemoryBudget(8 * MiB);
