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

/** What one request holds. */
interface Account {
  readonly client: string | null;
  readonly clock: Clock;
  bytes: number;
  /** Since when it holds something; milliseconds since 1970. */
  since: number;
  seenAt: number;
  hasEnded: boolean;
}

interface Ticket {
  readonly client: string | null;
  seenAt: number;
}

export class MemoryBudget {
  readonly #sharedBytes: number;
  readonly #smallBytes: number;
  /** Of all requests that hold something, but for those that have expired. */
  readonly #accounts = new Set<Account>();
  /** Whose bytes do not count in the pool. */
  #large: Account | null = null;
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
    return new MemoryHold(this, isPatient, { client, clock, bytes: 0, since: 0, seenAt: 0, hasEnded: false });
  }

  /** All bytes that are held. */
  get heldBytes(): number {
    return this.#sum(() => true);
  }

  get isShort(): boolean {
    return this.#sum((account) => account !== this.#large) > SHORT_FROM * this.#sharedBytes;
  }

  /**
   * For a request: it is alive, and holds so many bytes more or fewer. Answers false if it has to wait for them.
   * @param ticket null: it does not wait, so it may pass nobody who does.
   * @throws HostError `busy` if it has ended, and wants more.
   */
  change(account: Account, more: number, ticket: Ticket | null): boolean {
    if (account.hasEnded && more > 0) throw busy();
    if (account.hasEnded) return true;
    const now = account.clock.now();
    account.seenAt = now;
    this.#dropDead(now);
    const bytes = account.bytes + more;
    const isLarge = this.#large === account;
    if (more >= 0 && !isLarge && !this.#fits(account, bytes)) {
      if (this.#large !== null || this.#next() !== ticket) return false;
      [this.#large, this.#lastLarge] = [account, account.client];
    }
    if (more < 0 && isLarge && this.#fits(account, bytes)) this.#leaveLarge();
    account.bytes = bytes;
    if (bytes === 0) this.#accounts.delete(account);
    else if (more >= 0 && !this.#accounts.has(account)) {
      account.since = now;
      this.#accounts.add(account);
    }
    return true;
  }

  /** For a request: tries until it is its turn. @throws HostError `busy` after too long a wait. */
  async inTurn({ client, clock }: Account, attempt: (ticket: Ticket) => boolean): Promise<void> {
    const ticket: Ticket = { client, seenAt: clock.now() };
    this.#queue = [...this.#queue, ticket];
    try {
      await waitUntil(
        () => {
          ticket.seenAt = clock.now();
          // It was taken for dead.
          if (!this.#queue.includes(ticket)) this.#queue = [...this.#queue, ticket];
          return attempt(ticket);
        },
        MAX_WAIT_MS,
        clock,
      );
    } finally {
      this.#queue = this.#queue.filter((other) => other !== ticket);
    }
  }

  /** For a request: @throws HostError `busy` if it has held much for long, and others wait. */
  checkPatience(account: Account): void {
    const now = account.clock.now();
    account.seenAt = now;
    const holdsMuch = this.#large === account || account.bytes > MUCH_BYTES;
    if (!holdsMuch || now - account.since < LONGEST_BUSY_HOLD_MS) return;
    this.#dropDead(now);
    if (this.#queue.some(({ client }) => client === null || client !== account.client)) throw busy();
  }

  /** Gives back all that a request holds. */
  drop(account: Account): void {
    this.#accounts.delete(account);
    if (this.#large === account) this.#leaveLarge();
  }

  /** Whether there is room in the pool for a request with so many bytes. */
  #fits(account: Account, bytes: number): boolean {
    const { client } = account;
    const isOther = (other: Account) => other !== account && other !== this.#large;
    if (bytes > this.#smallBytes || this.#sum(isOther) + bytes > this.#sharedBytes) return false;
    const ofClient = (other: Account) => isOther(other) && other.client === client;
    return client === null || this.#sum(ofClient) + bytes <= MOST_OF_ONE_CLIENT * this.#sharedBytes;
  }

  #sum(counts: (account: Account) => boolean): number {
    let bytes = 0;
    for (const account of this.#accounts) if (counts(account)) bytes += account.bytes;
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
    for (const account of this.#accounts) if (now - account.seenAt >= HOLD_LIFE_MS) this.drop(account);
    this.#queue = this.#queue.filter(({ seenAt }) => now - seenAt < TICKET_LIFE_MS);
  }
}

/** What one request holds, in shares. They throw HostError `busy`. */
export class MemoryHold implements Memory {
  readonly #budget: MemoryBudget;
  readonly #account: Account;
  readonly #isPatient: boolean;

  constructor(budget: MemoryBudget, isPatient: boolean, account: Account) {
    this.#budget = budget;
    this.#isPatient = isPatient;
    this.#account = account;
  }

  get client(): string | null {
    return this.#account.client;
  }

  get isShort(): boolean {
    return this.#budget.isShort;
  }

  share(): MemoryShare {
    const [budget, account, isPatient] = [this.#budget, this.#account, this.#isPatient];
    let held = 0;
    const trySet = (bytes: number, ticket: Ticket | null): boolean => {
      if (!budget.change(account, bytes - held, ticket)) return false;
      held = bytes;
      return true;
    };
    return {
      get bytes() {
        return held;
      },
      async set(bytes, onWait) {
        budget.checkPatience(account);
        if (trySet(bytes, null)) return;
        if (!isPatient) throw busy();
        onWait?.();
        await budget.inTurn(account, (ticket) => trySet(bytes, ticket));
      },
      setNow(bytes) {
        if (!trySet(bytes, null)) throw busy();
      },
    };
  }

  /**
   * Gives everything back for good. What the request has begun may go on for a while (a listing whose push has failed
   * meanwhile), and nobody would give back what it takes then. May be called more than once.
   */
  end(): void {
    this.#account.hasEnded = true;
    this.#budget.drop(this.#account);
  }
}

/** The budget of the isolate that this code runs in. */
export const isolateMemory = new MemoryBudget();

/**
 * Of bodies that are still arriving, which may be as slow as their time allows. So whoever dawdles keeps others from
 * sending a long text, and nobody from pushing.
 */
export const bodiesMemory = new MemoryBudget(8 * MiB);
