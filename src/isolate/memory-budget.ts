/**
 * How much memory the requests of an isolate may hold together: one counter for everything that grows with what a
 * client or the host sends (kept commits, rows of spools, listings of history, lists of refs, pages of comments).
 *
 * Most requests share a pool. A request that needs more than the pool has left takes the one large place, and then its
 * bytes no longer count in the pool: what it may hold is bounded by the limits on a single request. So a request on an
 * idle isolate never waits, and neither does the one in the large place, whatever it needs: it comes to its end, and
 * the next one gets the place. That is why requests that hold something and wait for more cannot block each other.
 *
 * A client leaves a part of the pool to others, however many requests it makes; and a client that has had the large
 * place queues behind those who wait for it.
 *
 * A request that has died cannot give anything back, so what a request holds expires when it shows no sign of life.
 */
import type { Clock } from './clock.ts';
import { busy, waitUntil } from './waiting.ts';

const MiB = 1024 * 1024;

/**
 * Seven large pushes, or one of 16,000 commits. Together with the large place (24 MiB of commits, 18 MiB of a listing,
 * some more for rows and the search), this leaves room in an isolate of 128 MB.
 */
const SHARED_BYTES = 16 * MiB;
/** A push within the pool takes a second or two. */
const MAX_WAIT_MS = 10_000;
/** Longer than the host may take for any one step but the last, when nearly all is sent. */
const HOLD_LIFE_MS = 120_000;
/** Much longer than between two looks of a request that waits, also if the isolate is busy. */
const TICKET_LIFE_MS = 5_000;
/**
 * While others wait, a request that holds much may not go on for longer, so that nobody blocks the service by being
 * slow.
 */
const LONGEST_BUSY_HOLD_MS = 60_000;
const MUCH_BYTES = 4 * MiB;
/** Of the pool, for the requests of one client. */
const MOST_OF_ONE_CLIENT = 3 / 4;

interface Account {
  bytes: number;
  readonly since: number;
  /** Milliseconds since 1970. */
  seenAt: number;
}

interface Ticket {
  readonly client: string | null;
  seenAt: number;
}

export class MemoryBudget {
  readonly #sharedBytes: number;
  #sharedUsed = 0;
  /** Of all holds that hold something. */
  readonly #accounts = new Map<MemoryHold, Account>();
  /** Whose bytes do not count in the pool. */
  #large: MemoryHold | null = null;
  /** Who has had the large place last, while others wait; null: nobody, or it is not known. */
  #lastLarge: string | null = null;
  /** Those that wait, the first one first. */
  #queue: readonly Ticket[] = [];

  constructor(sharedBytes = SHARED_BYTES) {
    this.#sharedBytes = sharedBytes;
  }

  /**
   * What a request holds: nothing yet. It need not be ended before it holds something.
   * @param client on whose behalf; null: the service's own.
   */
  open(clock: Clock, client: string | null = null): MemoryHold {
    return new MemoryHold(this, clock, client);
  }

  /** Bytes that a hold holds: none if it has expired. */
  heldBy(hold: MemoryHold): number {
    return this.#accounts.get(hold)?.bytes ?? 0;
  }

  /** All bytes that are held. */
  get heldBytes(): number {
    return this.#sharedUsed + (this.#large === null ? 0 : (this.#accounts.get(this.#large)?.bytes ?? 0));
  }

  /** For a hold: takes so many bytes if it need not wait for them. */
  tryTake(hold: MemoryHold, bytes: number, now: number): boolean {
    if (this.#grant(hold, bytes, now, null)) return true;
    this.#dropDead(now);
    return this.#grant(hold, bytes, now, null);
  }

  /** For a hold: takes so many bytes, after a wait if necessary. @throws HostError `busy` */
  async take(hold: MemoryHold, bytes: number, clock: Clock): Promise<void> {
    const ticket: Ticket = { client: hold.client, seenAt: clock.now() };
    this.#queue = [...this.#queue, ticket];
    try {
      await waitUntil(
        () => {
          const now = clock.now();
          ticket.seenAt = now;
          // It was taken for dead.
          if (!this.#queue.includes(ticket)) this.#queue = [...this.#queue, ticket];
          this.#dropDead(now);
          return this.#grant(hold, bytes, now, ticket);
        },
        MAX_WAIT_MS,
        clock,
      );
    } finally {
      this.#queue = this.#queue.filter((other) => other !== ticket);
    }
  }

  /** For a hold: gives so many bytes back, or all. */
  giveBack(hold: MemoryHold, bytes = Infinity): void {
    const account = this.#accounts.get(hold);
    // It has expired.
    if (account === undefined) return;
    const given = Math.min(bytes, account.bytes);
    account.bytes -= given;
    if (this.#large !== hold) this.#sharedUsed -= given;
    else if (this.#fits(hold, account.bytes)) {
      this.#large = null;
      if (this.#queue.length === 0) this.#lastLarge = null;
      this.#sharedUsed += account.bytes;
    }
    if (account.bytes === 0) this.#accounts.delete(hold);
  }

  /**
   * For a hold: shows that it is alive.
   * @throws HostError `busy` if it has held much, or the large place, for long, and others wait.
   */
  renew(hold: MemoryHold, now: number): void {
    const account = this.#accounts.get(hold);
    if (account === undefined) return;
    account.seenAt = now;
    const isMuch = account.bytes > MUCH_BYTES || this.#large === hold;
    if (!isMuch || now - account.since < LONGEST_BUSY_HOLD_MS) return;
    this.#dropDead(now);
    if (this.#queue.some(({ client }) => client === null || client !== hold.client)) throw busy();
  }

  /** @param ticket null: it does not wait, so it may pass nobody who does. */
  #grant(hold: MemoryHold, bytes: number, now: number, ticket: Ticket | null): boolean {
    const isLarge = this.#large === hold;
    if (!isLarge && !this.#fits(hold, bytes)) {
      if (this.#large !== null || this.#next() !== ticket) return false;
      this.#large = hold;
      this.#lastLarge = hold.client;
      this.#sharedUsed -= this.#accounts.get(hold)?.bytes ?? 0;
    } else if (!isLarge) this.#sharedUsed += bytes;
    const account = this.#accounts.get(hold) ?? { bytes: 0, since: now, seenAt: now };
    account.bytes += bytes;
    account.seenAt = now;
    this.#accounts.set(hold, account);
    return true;
  }

  /** Whether there is room in the pool for so many bytes more. */
  #fits({ client }: MemoryHold, bytes: number): boolean {
    if (this.#sharedUsed + bytes > this.#sharedBytes) return false;
    if (client === null) return true;
    let used = bytes;
    for (const [other, account] of this.#accounts) {
      if (other.client === client && other !== this.#large) used += account.bytes;
    }
    return used <= MOST_OF_ONE_CLIENT * this.#sharedBytes;
  }

  /** Who gets the large place next; null: nobody waits. */
  #next(): Ticket | null {
    const isOther = ({ client }: Ticket) => client === null || client !== this.#lastLarge;
    return this.#queue.find(isOther) ?? this.#queue[0] ?? null;
  }

  #dropDead(now: number): void {
    for (const [hold, { seenAt }] of this.#accounts) if (now - seenAt >= HOLD_LIFE_MS) this.giveBack(hold);
    this.#queue = this.#queue.filter(({ seenAt }) => now - seenAt < TICKET_LIFE_MS);
  }
}

/** What one request holds. */
export class MemoryHold {
  readonly #budget: MemoryBudget;
  readonly #clock: Clock;
  readonly client: string | null;
  #used = 0;
  #hasEnded = false;

  constructor(budget: MemoryBudget, clock: Clock, client: string | null) {
    this.#budget = budget;
    this.#clock = clock;
    this.client = client;
  }

  /**
   * Holds at least so many bytes more than are used, after a wait if necessary, and shows that the request is alive.
   * Call it before each piece of work that uses bytes.
   * @param onWait called if it has to wait, before it does: for giving back what others may wait for.
   * @throws HostError `busy`; always after `end`.
   */
  async makeRoom(bytes: number, onWait?: () => void): Promise<void> {
    this.#budget.renew(this, this.#clock.now());
    if (this.#tryHold(this.#used + bytes)) return;
    onWait?.();
    await this.#budget.take(this, this.#used + bytes - this.#budget.heldBy(this), this.#clock);
    if (!this.#hasEnded) return;
    this.#budget.giveBack(this);
    throw busy();
  }

  /**
   * Uses bytes at once, before they are allocated.
   * @throws HostError `busy` if more is needed than can be had at once; always after `end`.
   */
  use(bytes: number): void {
    if (!this.#tryHold(this.#used + bytes)) throw busy();
    this.#used += bytes;
  }

  /** So many bytes are no longer used. */
  free(bytes: number): void {
    // They may have been released before.
    this.#used = Math.max(0, this.#used - bytes);
    const unused = this.#budget.heldBy(this) - this.#used;
    if (unused > 0) this.#budget.giveBack(this, unused);
  }

  /** Gives everything back; it may use more later. */
  release(): void {
    this.#used = 0;
    this.#budget.giveBack(this);
  }

  /**
   * Gives everything back for good. What the request has begun may go on for a while (a listing whose push has failed
   * meanwhile), and nobody would give back what it takes then. May be called more than once.
   */
  end(): void {
    this.#hasEnded = true;
    this.release();
  }

  #tryHold(bytes: number): boolean {
    if (this.#hasEnded) throw busy();
    const missing = bytes - this.#budget.heldBy(this);
    return missing <= 0 || this.#budget.tryTake(this, missing, this.#clock.now());
  }
}

/** The budget of the isolate that this code runs in. */
export const isolateMemory = new MemoryBudget();
