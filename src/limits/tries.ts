/**
 * The limits of what one client reads and tries. Most count in the client's windows, in one of many
 * objects; look-ups count in memory. An isolate remembers who is over a limit, so that further
 * requests reach no object.
 * Proved by test/limits/tries.test.ts and test/routes/request/limits.test.ts.
 */
import { isAhead } from '../isolate/clock.ts';
import { Recent } from '../isolate/recent.ts';
import type { Logger } from '../log.ts';
import { wideningOf } from './claim.ts';
import { type Client, windowKey } from './client.ts';
import { FIXED_TRIES, isOfPrefix, isWidened, type OpenLimits, type TriedName } from './limits.ts';
import {
  ending,
  type WindowEnding,
  hitBoth,
  hitBy,
  longestOf,
  NO_WAIT,
  partOf,
  waitOf,
} from './sliding-window.ts';
import type { ClientHits, Counter, Limit, TriedWait, Wait } from './sliding-window.ts';

interface TryLimitsSetup {
  readonly client: () => Promise<Client>;
  readonly open: OpenLimits;
  readonly windows: (key: string) => {
    hit(
      client: string,
      action: TriedName,
      limits: readonly Limit[],
      isAttempt?: boolean,
      wider?: Counter | null,
    ): Promise<TriedWait>;
  };
  /** True on one machine, which has no other isolate. */
  readonly isOneMachine: boolean;
  /** The time for which the host's calls are for those who have caused few; 0: for all. */
  readonly scarceMs: () => number;
  readonly logger: Logger;
}

/** The number of calls of which a client's window is told at once. */
const CALLS_BATCH = 20;
/** The part of its calls that a network has while the host allows few more. */
const SCARCE_PART = 1 / 5;

/** Clients over a limit, by the name of the limit and the client's key. */
const overLimit = new Recent<WindowEnding & Pick<TriedWait, 'wider'>>({ most: 10_000 });
const calls: ClientHits = new Recent({ most: 10_000 });
/** Look-ups that found nothing, by the limit in which they count. */
const misses: Readonly<Record<'lookUps' | 'foreignReads', ClientHits>> = {
  lookUps: new Recent({ most: 10_000 }),
  foreignReads: new Recent({ most: 10_000 }),
};
/** The operator's requests that no window could count. */
const uncounted: ClientHits = new Recent({ most: 10_000 });
/** The number of calls of each client that its window was not told of. */
const untold = new Recent<number>({ most: 10_000 });

export class TryLimits {
  readonly #setup: TryLimitsSetup;

  constructor(setup: TryLimitsSetup) {
    this.#setup = setup;
  }

  of(name: TriedName): readonly Limit[] {
    return { ...this.#setup.open, ...FIXED_TRIES }[name];
  }

  /**
   * Counts an attempt, and answers how long the client must wait. Rejects if nobody can tell.
   * @param isAttempt false: counts none.
   */
  async count(name: TriedName, isAttempt = true): Promise<TriedWait> {
    const known = await this.known(name);
    if (known.waitMs > 0) return known;
    const key = await this.#key(name);
    const wider = await this.#wider(name);
    // Both are rows of one object.
    const hit = this.#setup.windows(wider?.key ?? key).hit(key, name, this.of(name), isAttempt, wider);
    const wait = await hit.catch((error: unknown) => {
      // On a full disk, the operator needs the panic switch. Guessing the password stays as slow.
      if (!this.#setup.isOneMachine || !(name in FIXED_TRIES)) throw error;
      return hitBy(`${name} ${key}`, uncounted, this.of(name), Date.now(), isAttempt);
    });
    return this.remember(name, wait);
  }

  /** Answers how long the client must wait, as far as this isolate knows. Counts nothing. */
  async known(name: TriedName): Promise<TriedWait> {
    const scarce = name === 'calls' ? await this.#scarceWait() : NO_WAIT;
    if (scarce.waitMs > 0 || overLimit.size === 0) return scarce;
    const wider = await this.#wider(name);
    const now = Date.now();
    for (const key of [await this.#key(name), ...(wider === null ? [] : [wider.key])]) {
      const found = overLimit.get(`${name} ${key}`);
      if (found === null || !isAhead(found.until, longestOf(this.of(name)), now)) continue;
      const { until, ...wait } = found;
      return { waitMs: until - now, ...wait };
    }
    return NO_WAIT;
  }

  async #scarceWait(): Promise<Wait> {
    const scarceMs = this.#setup.scarceMs();
    if (scarceMs === 0) return NO_WAIT;
    const hits = calls.get(await this.#key('calls')) ?? [];
    const { waitMs, withinMs } = waitOf(hits, partOf(this.of('calls'), SCARCE_PART), Date.now());
    return { waitMs: Math.min(waitMs, scarceMs), withinMs };
  }

  /** Remembers the wait of a client, which need not ask again before. @returns that wait. */
  async remember(name: TriedName, wait: TriedWait): Promise<TriedWait> {
    if (wait.waitMs === 0) return wait;
    const { wider } = wait;
    const key = wider === undefined ? await this.#key(name) : (await this.#wider(name))?.key;
    overLimit.set(`${name} ${key}`, { ...ending(wait), ...(wider && { wider }) });
    return wait;
  }

  /** Counts a request that only reads: it passes if its limit cannot be checked. Never rejects. */
  countOrPass(name: TriedName): Promise<TriedWait> {
    return this.#orPass(() => this.count(name));
  }

  /** Counts a look-up that found nothing, in memory: it must leave no row. Never rejects. */
  countMiss(name: keyof typeof misses): Promise<TriedWait> {
    return this.#orPass(async () => {
      const own = { key: await this.#key(name), limits: this.of(name) };
      const wait = hitBoth(own, await this.#wider(name), misses[name], Date.now());
      return this.remember(name, wait);
    });
  }

  /**
   * Charges a call of the code host to the client, in memory. Never rejects.
   * @returns a wait if the client has none left.
   */
  async charge(): Promise<Wait> {
    return this.#orPass(async () => {
      const key = await this.#key('calls');
      untold.set(key, 1 + (untold.get(key) ?? 0));
      return this.remember('calls', hitBy(key, calls, this.of('calls'), Date.now()));
    });
  }

  /** Tells the client's window of its calls, once there are enough. Never rejects. */
  async tellCalls(): Promise<void> {
    await this.#orPass(async () => {
      const key = await this.#key('calls');
      const more = untold.get(key) ?? 0;
      if (more < CALLS_BATCH) return NO_WAIT;
      untold.set(key, more - CALLS_BATCH);
      const batches = partOf(this.of('calls'), 1 / CALLS_BATCH);
      return this.remember('calls', await this.#setup.windows(key).hit(key, 'calls', batches));
    });
  }

  /** The limits of all networks around the client together. Null: there are none. */
  async widened(name: TriedName): Promise<readonly Limit[] | null> {
    const client = await this.#setup.client();
    if (!isWidened(name) || client.prefix === client.network) return null;
    return partOf(this.of(name), wideningOf(client));
  }

  async #wider(name: TriedName): Promise<Counter | null> {
    const limits = await this.widened(name);
    return limits && { key: windowKey(await this.#setup.client(), true), limits };
  }

  /** Names the client, or all that are counted with it. */
  async #key(name: TriedName): Promise<string> {
    return windowKey(await this.#setup.client(), isOfPrefix(name));
  }

  /** Lets a request that only reads pass if a limit cannot be checked. */
  async #orPass(counted: () => Promise<TriedWait>): Promise<TriedWait> {
    try {
      return await counted();
    } catch (error) {
      this.#setup.logger.warn('a limit could not be checked', { error });
      return NO_WAIT;
    }
  }
}
