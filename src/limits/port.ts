/**
 * The limits of one request: what its client reads, tries and creates. Nothing below handlers and
 * pushes knows of one. What is read or tried counts in the client's window, one of many objects;
 * what is created at the account, one object, in one call: all or nothing. An isolate remembers who
 * is over a limit, so that more requests reach no object. Whatever is granted is stored first, so
 * nothing is granted while an object cannot store it.
 * Proved by test/routes/request/limits.test.ts and test/routes/request/refused-first.test.ts.
 */
import { type Clock, isAhead, systemClock } from '../isolate/clock.ts';
import { Recent } from '../isolate/recent.ts';
import type { Logger } from '../log.ts';
import { type Client, windowKey } from './client.ts';
import { FIXED_TRIES, isOfPrefix, isWidened, type OpenLimits, type TriedName } from './limits.ts';
import { hitBoth, hitBy, longestOf, NO_WAIT, waitOf } from './sliding-window.ts';
import type { ClientHits, Counter, Limit, TriedWait, Wait } from './sliding-window.ts';
import type { AccountWait, FullWindow, ReserveAnswer, WantedWindow, Wants } from './wants.ts';
import { wideningOf, windowName } from './wants.ts';

/** The object of the bot account. Calls of objects reject if they cannot be reached. */
interface AccountPort {
  reserve(wants: Wants): Promise<ReserveAnswer>;
  refusal(wants: Wants, isAttempt: boolean): Promise<AccountWait | null>;
  release(id: string): Promise<void>;
}

interface LimitsSetup {
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
  readonly account: () => AccountPort;
  /** Rejects if what is opened now could not be undone by a rollback. */
  readonly mayTrack: () => Promise<void>;
  /** There is no other isolate. */
  readonly isOneMachine: boolean;
  /** How long the host's calls are for those who have caused few; 0: for all. */
  readonly scarceMs: () => number;
  readonly logger: Logger;
}

/** Why something is not reserved. `unknown`: the account's object cannot be asked. */
export type Refused = { readonly kind: 'wait' } & (
  | (AccountWait & { readonly pauseMs: number })
  | (Wait & { readonly for: 'unknown'; readonly full: null; readonly error: unknown })
);

/** Something may be created, and counts from now on. */
export interface Grant {
  readonly kind: 'grant';
  /** How long the host is to be left alone; 0: it is not. */
  readonly pauseMs: number;
  /**
   * Whether it counts in a window by itself, and not only by an earlier attempt at the same push.
   */
  covers(window: WantedWindow): boolean;
  /**
   * Nothing was created. Never rejects. The second time, nothing happens; if it fails, the grant
   * expires.
   */
  release(): Promise<void>;
}

/** The host is told of so many calls at a time. */
const CALLS_BATCH = 20;
/** Of its calls, while few are left: ten networks must not spend all of them. */
const SCARCE_PART = 1 / 5;

/** `until` when, in milliseconds since 1970, by client and limit. */
const refused = new Recent<RefusedTry>({ most: 10_000 });
const calls: ClientHits = new Recent({ most: 10_000 });
const misses: ClientHits = new Recent({ most: 10_000 });
/** The operator's calls that no window could count. */
const uncounted: ClientHits = new Recent({ most: 10_000 });
/** By client: how many calls its window was not told of. */
const untold = new Recent<number>({ most: 10_000 });

/**
 * Full windows of networks, whose pushes reach no host. For a minute only: another isolate may
 * release room.
 */
const full = new Recent<KnownFull>({ most: 10_000, lifeMs: 60_000 });
interface KnownFull extends Ending, Omit<FullWindow, 'name'> {
  /** The account has refused a push for it. */
  readonly isTold: boolean;
}

const ending = ({ waitMs, withinMs }: Wait) => ({ until: Date.now() + waitMs, withinMs });
type Ending = Readonly<ReturnType<typeof ending>>;
type RefusedTry = Ending & Pick<TriedWait, 'wider'>;

/**
 * As `Limits.reserve`, for an object. What creates nothing goes on if the account cannot be asked.
 * A creation waits here for its turn, some seconds at most: the account's object has answered, and
 * serves others meanwhile.
 */
export async function reserve(
  account: AccountPort,
  wants: Wants,
  logger: Logger,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<Grant | Refused> {
  try {
    const answer = await account.reserve(wants);
    if (answer.kind === 'wait') {
      if (answer.full !== null) noteFull(answer.full, answer, wants.push);
      return answer;
    }
    const { id, windows, pauseMs, turnMs } = answer;
    // Whoever has been given the last room needs no call to be refused.
    for (const window of answer.full) noteFull(window, window);
    const failed = (error: unknown) => logger.warn('a grant could not be released', { error });
    const release = async (): Promise<void> => {
      if (id === null) return;
      await account.release(id).catch(failed);
      // Until the account has heard of it, it may have said that there is no room.
      for (const name of windows) full.delete(name);
    };
    if (turnMs > 0) await clock.sleep(turnMs);
    return { kind: 'grant', pauseMs, covers: (window) => windows.includes(windowName(window)), release };
  } catch (error) {
    if (wants.windows.length > 0) return unreserved(error);
    logger.warn('the account could not be asked', { error });
    return { kind: 'grant', pauseMs: 0, covers: () => false, release: async () => {} };
  }
}

export class Limits {
  readonly #setup: LimitsSetup;

  constructor(setup: LimitsSetup) {
    this.#setup = setup;
  }

  of(name: TriedName): readonly Limit[] {
    return { ...this.#setup.open, ...FIXED_TRIES }[name];
  }

  /**
   * Answers how long the client must wait.
   * @param isAttempt false: counts none. Rejects if nobody can tell.
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

  /** How long the client must wait, as far as this isolate knows. Counts nothing. */
  async known(name: TriedName): Promise<TriedWait> {
    const scarce = name === 'calls' ? await this.#scarceWait() : NO_WAIT;
    if (scarce.waitMs > 0 || refused.size === 0) return scarce;
    const wider = await this.#wider(name);
    const now = Date.now();
    for (const key of [await this.#key(name), ...(wider === null ? [] : [wider.key])]) {
      const found = refused.get(`${name} ${key}`);
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

  /** A client over a limit need not ask again before its time is over. Answers the wait. */
  async remember(name: TriedName, wait: TriedWait): Promise<TriedWait> {
    if (wait.waitMs === 0) return wait;
    const { wider } = wait;
    const key = wider === undefined ? await this.#key(name) : (await this.#wider(name))?.key;
    refused.set(`${name} ${key}`, { ...ending(wait), ...(wider && { wider }) });
    return wait;
  }

  /** Counts a look-up that found nothing, in memory: it must leave no row. Never rejects. */
  countMiss(): Promise<TriedWait> {
    return this.#orPass(async () => {
      const own = { key: await this.#key('lookUps'), limits: this.of('lookUps') };
      const wait = hitBoth(own, await this.#wider('lookUps'), misses, Date.now());
      return this.remember('lookUps', wait);
    });
  }

  /**
   * Charges a call of the code host to the client, in memory. Never rejects.
   * @returns a wait if the client has none left: this one is not counted.
   */
  async charge(): Promise<Wait> {
    return this.#orPass(async () => {
      const key = await this.#key('calls');
      untold.set(key, 1 + (untold.get(key) ?? 0));
      return this.remember('calls', hitBy(key, calls, this.of('calls'), Date.now()));
    });
  }

  /** Tells the client's window of its calls, every so often. Never rejects. */
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

  /**
   * Asked last, when nothing else refuses the write. Never rejects: if nobody can tell, or what is
   * opened in a repository could not be tracked, nothing is created. Comments need not be tracked
   * first: their pseudonym has stored the attempt.
   */
  async reserve(wants: Wants): Promise<Grant | Refused> {
    const { account, mayTrack, logger } = this.#setup;
    const opens = wants.windows.some(({ kind }) => kind === 'repository');
    const [reserved, untracked] = await Promise.all([
      reserve(account(), wants, logger),
      opens && mayTrack().then(() => null, unreserved),
    ]);
    if (reserved.kind === 'wait' || !untracked) return reserved;
    await reserved.release();
    return untracked;
  }

  /**
   * Why a pull request would be refused, as far as this isolate knows. Counts nothing. What counts
   * already goes on.
   */
  knownFull({ windows, push }: Wants) {
    const now = Date.now();
    for (const window of windows) {
      const known = full.get(windowName(window), now);
      if (known === null || known.until <= now || known.holders.includes(push?.key ?? '')) continue;
      const { isTold, until, withinMs } = known;
      return { for: window.kind, isTold, waitMs: until - now, withinMs };
    }
    return null;
  }

  /**
   * What `reserve` would refuse; null: nothing.
   * @param isAttempt counts it if it is refused. Never rejects.
   */
  async refusal(wants: Wants, isAttempt: boolean): Promise<Refused | null> {
    const known = isAttempt ? this.knownFull(wants) : null;
    if (known?.isTold) return { kind: 'wait', pauseMs: 0, full: null, ...known };
    try {
      const refusal = await this.#setup.account().refusal(wants, isAttempt);
      if (refusal?.full && isAttempt) noteFull(refusal.full, refusal, wants.push);
      return refusal && { kind: 'wait', pauseMs: 0, ...refusal };
    } catch (error) {
      return unreserved(error);
    }
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

  /** For what only reads: if a limit cannot be checked, the request passes. */
  async #orPass(counted: () => Promise<TriedWait>): Promise<TriedWait> {
    try {
      return await counted();
    } catch (error) {
      this.#setup.logger.warn('a limit could not be checked', { error });
      return NO_WAIT;
    }
  }
}

/** @param push the account has refused it for this; none: it was given the last room. */
function noteFull(window: FullWindow, wait: Wait, push?: Wants['push']): void {
  const isTold = push !== undefined;
  const known = (isTold ? full.get(window.name) : null) ?? window;
  // Whoever was answered before opens another one, which does not count there.
  const holders = push?.isAnother ? known.holders.filter((key) => key !== push.key) : known.holders;
  full.set(window.name, { ...ending(wait), holders, isTold });
}

/** Nobody can tell, or nothing can be stored. */
export function unreserved(error: unknown): Refused {
  return { kind: 'wait', for: 'unknown', full: null, error, waitMs: 60_000, withinMs: 60_000 };
}

function partOf(limits: readonly Limit[], part: number): readonly Limit[] {
  return limits.map(({ most, withinMs }) => ({ most: Math.ceil(most * part), withinMs }));
}
