/**
 * Lets other requests of an isolate go on while one searches what it was sent. An isolate is one
 * thread, so a second of work in one piece is a second in which nobody else is answered. Work is
 * counted in bytes, because on Cloudflare the clock stands still while code runs.
 */
import { type Clock, systemClock } from './clock.ts';
import { onForget, Recent } from './recent.ts';

/** Work between two turns. Inflating and searching so many bytes takes some ten milliseconds. */
export const TURN_BYTES = 1024 * 1024;

/**
 * Work that a request to the host counts as. A network with more than one a second falls behind.
 */
const REQUEST_BYTES = TURN_BYTES / 16;

/** Work that is charged at once: a push counts each of its thousands of commits several times. */
const CHARGED_BYTES = TURN_BYTES / 64;

/** Time after which half of a network's work counts. */
const HALF_LIFE_MS = 60_000;
/** Lead over another network up to which nobody waits. */
const AHEAD_BYTES = 8 * TURN_BYTES;
/**
 * Time for which a network counts as at work after a turn. Less work than a turn makes nobody wait,
 * or a few bytes now and then could.
 */
const AT_WORK_MS = 100;
const POLL_MS = 20;
/** Maximum number of polls for one request: ten seconds, as for memory. */
const MOST_POLLS = 500;

interface Done {
  readonly bytes: number;
  /** The time in milliseconds since 1970. */
  readonly at: number;
}

/**
 * The work that networks have made an isolate do lately. While several are at work, those that have
 * had much more wait a while for the others, as with creations (src/limits/fairness.ts). A network
 * alone waits for nobody.
 */
export class WorkOfNetworks {
  readonly #done = new Recent<Done>({ most: 10_000 });
  /** The time when each network has ended a turn, the most recent one last. */
  readonly #atWork = new Map<string, number>();

  constructor() {
    onForget(() => this.#atWork.clear());
  }

  charge(network: string, bytes: number, now: number): void {
    this.#done.set(network, { bytes: bytes + this.bytesOf(network, now), at: now });
  }

  /** Notes that one of a network's requests has ended a turn. */
  endTurn(network: string, now: number): void {
    this.#atWork.delete(network);
    this.#atWork.set(network, now);
  }

  bytesOf(network: string, now: number): number {
    const { bytes, at } = this.#done.get(network) ?? { bytes: 0, at: now };
    return bytes * 0.5 ** (Math.abs(now - at) / HALF_LIFE_MS);
  }

  /** Tells if another network goes first, in time linear in those that are at work. */
  mustWait(network: string, now: number): boolean {
    const most = this.bytesOf(network, now) - AHEAD_BYTES;
    for (const [other, at] of this.#atWork) {
      if (Math.abs(now - at) >= AT_WORK_MS) this.#atWork.delete(other);
      else if (other !== network && this.bytesOf(other, now) < most) return true;
    }
    return false;
  }
}

const isolateWork = new WorkOfNetworks();

/** Waits until everything has run that is ready to run. */
const nextTurn = (): Promise<void> => scheduler.wait(0);

interface WorkOptions {
  /** The network whose work it is, or null for the service's own work, which waits for nobody. */
  readonly network?: string | null;
  readonly clock?: Clock;
  readonly giveWay?: () => Promise<void>;
  readonly all?: WorkOfNetworks;
}

/** Counts the work of one request. */
export class SharedWork {
  /** Bytes that were inflated, decoded or searched so far. */
  bytes = 0;
  #chargedBytes = 0;
  #turnEndsAt = TURN_BYTES;
  #pollsLeft = MOST_POLLS;
  readonly #of: Required<WorkOptions>;

  constructor({
    network = null,
    clock = systemClock,
    giveWay = nextTurn,
    all = isolateWork,
  }: WorkOptions = {}) {
    this.#of = { network, clock, giveWay, all };
  }

  /**
   * Counts work that was done, and gives way to others after each mebibyte.
   * @param isShared says that others wait for the result, so that it waits for no other network.
   */
  async count(bytes: number, isShared = false): Promise<void> {
    const { network, clock, giveWay, all } = this.#of;
    this.bytes += bytes;
    if (this.bytes >= this.#chargedBytes + CHARGED_BYTES) this.charge();
    if (this.bytes < this.#turnEndsAt) return;
    this.#turnEndsAt = this.bytes + TURN_BYTES;
    if (network !== null) all.endTurn(network, clock.now());
    await giveWay();
    if (!isShared) await this.#letOthersFirst();
  }

  /** Charges the network with what it was not charged with yet. */
  charge(): void {
    const { network, clock, all } = this.#of;
    const bytes = this.bytes - this.#chargedBytes;
    if (network !== null && bytes > 0) all.charge(network, bytes, clock.now());
    this.#chargedBytes = this.bytes;
  }

  /** Counts a request to the host. It waits for networks that are at work and have had less. */
  async countRequest(): Promise<void> {
    await this.count(REQUEST_BYTES, true);
    await this.#letOthersFirst();
  }

  async #letOthersFirst(): Promise<void> {
    const { network, clock, all } = this.#of;
    if (network === null) return;
    for (; this.#pollsLeft > 0 && all.mustWait(network, clock.now()); this.#pollsLeft--)
      await clock.sleep(POLL_MS);
  }
}
