/**
 * How much memory the requests of an isolate may hold together: one counter for everything that grows with what a
 * client or the host sends (kept commits, rows of spools, listings of history, lists of refs, pages of comments).
 *
 * A request is small, or it has the one large place. The small ones share a pool. A request that needs more than a
 * small one may have, or than the pool has left, takes the large place, and then its bytes no longer count in the pool:
 * what it may hold is bounded by the limits on a single request. So a request on an idle isolate never waits, and
 * neither does the one in the large place, whatever it needs: it comes to its end, and the next one gets the place.
 * That is why requests that hold something and wait for more cannot block each other.
 *
 * A client leaves a part of the pool to others, however many requests it makes; and a client that has had the large
 * place queues behind those who wait for it.
 *
 * A request that has died cannot give anything back, so what a request holds expires when it shows no sign of life.
 */
import type { Clock } from './clock.ts';
import type { Memory, MemoryShare } from '../git/memory.ts';
import { busy, waitUntil } from './waiting.ts';

const MiB = 1024 * 1024;

/**
 * Six pushes with rows in their spools. Together with the large place (24 MiB of commits, 18 MiB of a listing, some
 * more for rows and the search), this leaves room in an isolate of 128 MB.
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
const TICKET_LIFE_MS = 5_000;
/** While others wait, a request that holds much may not go on for longer, so that nobody blocks the service by being slow. */
const LONGEST_BUSY_HOLD_MS = 60_000;
/** Whoever holds less may take as long as it likes. */
const MUCH_BYTES = MiB;
/** Of the pool, for the requests of one client. */
const MOST_OF_ONE_CLIENT = 3 / 4;

interface Ticket {
  readonly client: string | null;
  seenAt: number;
}

export class MemoryBudget {
  readonly #sharedBytes: number;
  readonly #smallBytes: number;
  /** All requests that hold something, but for those that have expired. */
  readonly #holds = new Set<MemoryHold>();
  /** Whose bytes do not count in the pool. */
  #large: MemoryHold | null = null;
  /** Who has had the large place last, while others wait; null: nobody, or it is not known. */
  #lastLarge: string | null = null;
  /** Those that wait, the first one first. */
  #queue: readonly Ticket[] = [];

  constructor(sharedBytes = SHARED_BYTES, smallBytes = SMALL_BYTES) {
    this.#sharedBytes = sharedBytes;
    this.#smallBytes = smallBytes;
  }

  /**
   * What a request holds: nothing yet. It need not be ended before it holds something.
   * @param client on whose behalf; null: the service's own. @param isPatient false: it never waits for what others hold.
   */
  open(clock: Clock, client: string | null = null, isPatient = true): MemoryHold {
    return new MemoryHold(this, clock, client, isPatient);
  }

  /** All bytes that are held. */
  get heldBytes(): number {
    return this.#sum(() => true);
  }

  get isShort(): boolean {
    return this.#sum((hold) => hold !== this.#large) > SHORT_FROM * this.#sharedBytes;
  }

  /**
   * For a request: it is alive, and holds so many bytes in all. Answers false if it has to wait for them.
   * @param ticket null: it does not wait, so it may pass nobody who does.
   */
  change(hold: MemoryHold, bytes: number, ticket: Ticket | null): boolean {
    const now = hold.clock.now();
    this.#dropDead(now);
    const isMore = bytes >= hold.bytes;
    if (this.#large !== hold && isMore && !this.#fits(hold, bytes)) {
      if (this.#large !== null || this.#next() !== ticket) return false;
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
  async inTurn({ client, clock }: MemoryHold, attempt: (ticket: Ticket) => boolean): Promise<void> {
    const ticket: Ticket = { client, seenAt: clock.now() };
    const attemptInQueue = (): boolean => {
      ticket.seenAt = clock.now();
      // At first, and when it was taken for dead.
      if (!this.#queue.includes(ticket)) this.#queue = [...this.#queue, ticket];
      return attempt(ticket);
    };
    try {
      await waitUntil(attemptInQueue, MAX_WAIT_MS, clock);
    } finally {
      this.#queue = this.#queue.filter((other) => other !== ticket);
    }
  }

  /** For a request: @throws HostError `busy` if it has held much for long, and others wait. */
  checkPatience(hold: MemoryHold): void {
    const now = hold.clock.now();
    const holdsMuch = this.#large === hold || hold.bytes > MUCH_BYTES;
    if (!holdsMuch || now - hold.since < LONGEST_BUSY_HOLD_MS) return;
    this.#dropDead(now);
    if (this.#queue.some(({ client }) => client === null || client !== hold.client)) throw busy();
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

  /** Who gets the large place next; null: nobody waits. */
  #next(): Ticket | null {
    const isOther = ({ client }: Ticket) => client === null || client !== this.#lastLarge;
    return this.#queue.find(isOther) ?? this.#queue[0] ?? null;
  }

  #dropDead(now: number): void {
    for (const hold of this.#holds) if (now - hold.seenAt >= HOLD_LIFE_MS) this.drop(hold);
    this.#queue = this.#queue.filter(({ seenAt }) => now - seenAt < TICKET_LIFE_MS);
  }
}

/** What one request holds, in shares. They throw HostError `busy`. */
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

  constructor(budget: MemoryBudget, clock: Clock, client: string | null, isPatient: boolean) {
    this.#budget = budget;
    this.clock = clock;
    this.client = client;
    this.#isPatient = isPatient;
  }

  get isShort(): boolean {
    return this.#budget.isShort;
  }

  share(): MemoryShare {
    let held = 0;
    const trySet = (bytes: number, ticket: Ticket | null): boolean => {
      if (!this.#change(bytes - held, ticket)) return false;
      held = bytes;
      return true;
    };
    return {
      get bytes() {
        return held;
      },
      set: async (bytes, onWait) => {
        this.seenAt = this.clock.now();
        this.#budget.checkPatience(this);
        if (trySet(bytes, null)) return;
        if (!this.#isPatient) throw busy();
        onWait?.();
        await this.#budget.inTurn(this, (ticket) => trySet(bytes, ticket));
      },
      setNow: (bytes) => {
        if (!trySet(bytes, null)) throw busy();
      },
    };
  }

  /**
   * Gives everything back for good. What the request has begun may go on for a while (a listing whose push has failed
   * meanwhile), and nobody would give back what it takes then. May be called more than once.
   */
  end(): void {
    this.#hasEnded = true;
    this.#budget.drop(this);
  }

  /** @throws HostError `busy` if it has ended, and wants more. */
  #change(more: number, ticket: Ticket | null): boolean {
    if (this.#hasEnded && more > 0) throw busy();
    if (this.#hasEnded) return true;
    this.seenAt = this.clock.now();
    return this.#budget.change(this, this.bytes + more, ticket);
  }
}

/** The budget of the isolate that this code runs in. */
export const isolateMemory = new MemoryBudget();

/**
 * Of bodies that are still arriving, which may be as slow as their time allows. So whoever dawdles keeps others from
 * sending a long text, and nobody from pushing.
 */
export const bodiesMemory = new MemoryBudget(8 * MiB);
