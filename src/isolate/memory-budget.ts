/**
 * What the requests of an isolate wait for: memory, and each other. Memory is one counter for all
 * that grows with what a client or the host sends (kept commits, rows of spools, listings of
 * history, lists of refs, pages of comments).
 *
 * A request is small, or it has the one large slot. The small ones share a pool. A request that
 * needs more than a small one may have, or than the pool has left, takes the large slot, and its
 * bytes no longer count in the pool: the limits on a single request bound them. So a request on an
 * idle isolate never waits, nor does the one in the large slot, which comes to its end. That is why
 * requests that hold something and wait for more cannot block each other. A client leaves a part of
 * the pool to others, and one that has had the large slot queues behind those who wait for it.
 *
 * A request that has died gives nothing back, so what it holds expires when it shows no sign of
 * life. Its promises never settle, so whoever waits looks again every few milliseconds.
 */
import { HostError } from '../words/host-error.ts';
import type { Memory, MemoryClaim } from '../git/memory.ts';
import type { Clock } from './clock.ts';
import { Recent } from './recent.ts';
import { SharedWork } from './shared-work.ts';

const MiB = 1024 * 1024;

/**
 * Six pushes with spool rows; with the large slot (24 MiB of commits, 18 MiB of a listing), it fits
 * into 128 MB.
 */
const SHARED_BYTES = 16 * MiB;
/** Of the pool, for one request: two rows and what the scanner needs, or some 3,500 commits. */
const SMALL_BYTES = 4 * MiB;
/** Of the pool: from here on, who can do with less should. */
const SHORT_FROM = 1 / 2;
/** A push within the pool takes a second or two. */
const MAX_WAIT_MS = 10_000;
/** Longer than the host may take for any one step but the last, when nearly all is sent. */
const HOLD_LIFE_MS = 120_000;
/** Much longer than between two looks of a request that waits, also if the isolate is busy. */
const QUEUED_LIFE_MS = 5_000;
/**
 * While others wait, a request that holds much may not go on for longer, so nobody blocks the
 * service by slowness.
 */
const LONGEST_BUSY_HOLD_MS = 60_000;
/** Whoever holds less may take as long as it likes. */
const MUCH_BYTES = MiB;
/** Of the pool, for the requests of one client. */
const MOST_OF_ONE_CLIENT = 3 / 4;

export class MemoryBudget {
  readonly #sharedBytes: number;
  readonly #smallBytes: number;
  /** All requests that hold something, but for those that have expired. */
  readonly #holds = new Set<MemoryHold>();
  /** Whose bytes do not count in the pool. */
  #large: MemoryHold | null = null;
  /** Who has had the large slot last, while others wait; null: nobody, or it is not known. */
  #lastLarge: string | null = null;
  /** Those that wait for the large slot, the first one first. */
  #queue: readonly MemoryHold[] = [];

  constructor(sharedBytes = SHARED_BYTES, smallBytes = SMALL_BYTES) {
    this.#sharedBytes = sharedBytes;
    this.#smallBytes = smallBytes;
  }

  /**
   * What a request holds: nothing yet.
   * @param client null: the service.
   * @param isPatient false: it never waits.
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
   * For a request: it is alive, and holds so many bytes in all. Answers false if it has to wait for
   * them.
   */
  change(hold: MemoryHold, bytes: number): boolean {
    const now = (hold.seenAt = hold.clock.now());
    this.#dropDead(now);
    const isMore = bytes >= hold.bytes;
    if (this.#large !== hold && isMore && !this.#fits(hold, bytes)) {
      if (this.#large !== null || this.#nextAfter(hold) !== hold) return false;
      [this.#large, this.#lastLarge] = [hold, hold.client];
    } else if (this.#large === hold && !isMore && this.#fits(hold, bytes)) this.#leaveLarge();
    hold.bytes = bytes;
    if (bytes === 0) this.#holds.delete(hold);
    else if (isMore && !this.#holds.has(hold)) {
      hold.since = now;
      this.#holds.add(hold);
    }
    return true;
  }

  /** For a request: tries until it is its turn. @throws HostError `busy` after too long a wait. */
  async inTurn(hold: MemoryHold, attempt: () => boolean): Promise<void> {
    const attemptInQueue = (): boolean => {
      // At first, and when it was taken for dead.
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
   * For a request, which is alive:
   * @throws HostError `busy` if it has held much for long, and others wait.
   */
  checkPatience(hold: MemoryHold): void {
    const now = (hold.seenAt = hold.clock.now());
    const holdsMuch = this.#large === hold || hold.bytes > MUCH_BYTES;
    if (!holdsMuch || now - hold.since < LONGEST_BUSY_HOLD_MS) return;
    this.#dropDead(now);
    if (this.#queue.some((other) => other !== hold && isOfAnother(other, hold.client))) throw busy();
  }

  /** Gives back all that a request holds. */
  drop(hold: MemoryHold): void {
    this.#holds.delete(hold);
    if (this.#large === hold) this.#leaveLarge();
  }

  /** Whether there is room in the pool for a request with so many bytes. */
  #fits(hold: MemoryHold, bytes: number): boolean {
    const { client } = hold;
    const isOther = (other: MemoryHold) => other !== hold && other !== this.#large;
    if (bytes > this.#smallBytes || this.#sum(isOther) + bytes > this.#sharedBytes) return false;
    const ofClient = (other: MemoryHold) => isOther(other) && other.client === client;
    return client === null || this.#sum(ofClient) + bytes <= MOST_OF_ONE_CLIENT * this.#sharedBytes;
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

  /** Who gets the large slot next: those that wait go before this one. */
  #nextAfter(hold: MemoryHold): MemoryHold {
    return this.#queue.find((other) => isOfAnother(other, this.#lastLarge)) ?? this.#queue[0] ?? hold;
  }

  #dropDead(now: number): void {
    for (const hold of this.#holds) if (now - hold.seenAt >= HOLD_LIFE_MS) this.drop(hold);
    this.#queue = this.#queue.filter(({ seenAt }) => now - seenAt < QUEUED_LIFE_MS);
  }
}

/** Requests of the service's own are each somebody else's. */
const isOfAnother = (hold: MemoryHold, client: string | null): boolean =>
  hold.client === null || hold.client !== client;

/** What one request holds, in claims, which throw HostError `busy`. */
export class MemoryHold implements Memory {
  bytes = 0;
  /** Since when it holds something; milliseconds since 1970. */
  since = 0;
  seenAt = 0;
  #hasEnded = false;
  readonly clock: Clock;
  readonly client: string | null;
  readonly #budget: MemoryBudget;
  readonly #isPatient: boolean;
  readonly #work: SharedWork;

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

  /** Bytes that were inflated, decoded or searched for the request. */
  get workedBytes(): number {
    return this.#work.bytes;
  }

  worked(bytes: number): Promise<void> {
    return this.#work.count(bytes);
  }

  claim(): MemoryClaim {
    let held = 0;
    const trySet = (bytes: number): boolean => {
      if (!this.#change(bytes - held)) return false;
      held = bytes;
      return true;
    };
    return {
      get bytes() {
        return held;
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

  /**
   * Gives everything back for good; may be called again. What the request has begun may go on for a
   * while (a listing whose push has failed), and nobody would give back what it takes then.
   */
  end(): void {
    this.#hasEnded = true;
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
 * Of bodies that still arrive: whoever dawdles keeps others from sending a long text, and nobody
 * from pushing.
 */
export const bodiesMemory = new MemoryBudget(8 * MiB);

/**
 * A turn is long enough for slow work, and short enough that a request that died with it blocks
 * nobody for long.
 */
const TURN_MS = 30_000;
/** A person gives up soon after that. */
const MAX_TURN_WAIT_MS = 40_000;
const MAX_TURNS = 1_000;

interface Turn {
  /** Whether another request may have done the work meanwhile. */
  readonly hasWaited: boolean;
  /** May be called more than once. */
  end(): void;
}

/**
 * Lets one request of this isolate at a time do a piece of work whose result all of them can use.
 */
export class Turns {
  readonly #taken = new Recent<object>({ lifeMs: TURN_MS, most: MAX_TURNS });

  /** Waits until nobody works on `key`. @throws HostError `busy` after too long a wait. */
  async take(key: string, clock: Clock): Promise<Turn> {
    const turn = {};
    const attempt = (): boolean => {
      if (this.#taken.get(key, clock.now()) !== null) return false;
      this.#taken.set(key, turn, clock.now());
      return true;
    };
    const hasWaited = await waitUntil(attempt, MAX_TURN_WAIT_MS, clock);
    const end = (): void => {
      if (this.#taken.get(key, clock.now()) === turn) this.#taken.delete(key);
    };
    return { hasWaited, end };
  }
}

const FIRST_POLL_MS = 10;
const MAX_POLL_MS = 160;
/** So nobody waits for a quarter longer than necessary. */
const POLL_GROWTH = 1.25;

/**
 * Tries until it succeeds, and answers whether it had to wait.
 * @throws HostError `busy` after too long a wait.
 */
async function waitUntil(attempt: () => boolean, maxWaitMs: number, clock: Clock): Promise<boolean> {
  const giveUpAt = clock.now() + maxWaitMs;
  let hasWaited = false;
  for (let pollMs = FIRST_POLL_MS; !attempt(); pollMs = Math.min(POLL_GROWTH * pollMs, MAX_POLL_MS)) {
    if (clock.now() >= giveUpAt) throw busy();
    await clock.sleep(pollMs);
    hasWaited = true;
  }
  return hasWaited;
}

/** Too many others want the same. */
export function busy(cause?: unknown): HostError {
  return new HostError('busy', 'The service is busy. Try again in a minute.', cause);
}
