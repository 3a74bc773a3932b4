/**
 * The limits of one request: what its client reads and tries, and what it creates. A handler and a push get this port;
 * nothing below them knows of requests.
 *
 * What is read or tried counts in the client's window, one of many objects. What is created counts at the account, one
 * object, in one call: all or nothing. Neither waits for the other. Once a client is over a limit, this isolate
 * remembers until when, so that further requests reach no object.
 */
import { isAhead } from '../isolate/clock.ts';
import { onForget, Recent } from '../isolate/recent.ts';
import type { Logger } from '../log.ts';
import { ClientAttempts } from './client-attempts.ts';
import {
  isNobodyFull,
  type KnownFull,
  knownFull,
  noteFull,
  noteRefused,
  noteReleased,
} from './full-networks.ts';
import { ALL_CLIENTS, type Client, siteWindowKey, windowKey } from './client.ts';
import { type AccountWait, type ReserveAnswer, type WantedWindow, type Wants, windowName } from './wants.ts';
import { FIXED_TRIES, OPEN_LIMITS, type OpenLimitName, type OpenLimits } from './limits.ts';
import {
  type Hit,
  type Limit,
  longestOf,
  longestWait,
  NO_WAIT,
  type Wait,
  waitOf,
} from './sliding-window.ts';

export type TriedName = OpenLimitName | keyof typeof FIXED_TRIES;

/** An object of clients' windows. Calls of objects reject if they cannot be reached. */
export interface WindowsObject {
  hit(client: string, action: TriedName, limits: readonly Limit[], isAttempt?: boolean): Promise<Hit>;
}

/** The object of the bot account. */
export interface AccountObject {
  reserve(wants: Wants): Promise<ReserveAnswer>;
  refusal(wants: Wants, isAttempt: boolean): Promise<AccountWait | null>;
  release(id: string): Promise<void>;
}

export interface LimitsSetup {
  readonly client: () => Promise<Client>;
  readonly open: OpenLimits;
  readonly windows: (key: string) => WindowsObject;
  readonly account: () => AccountObject;
  /** How long the calls that the host still allows are for whoever has caused few; 0: they are not. */
  readonly scarceMs: () => number;
  readonly logger: Logger;
}

/** Why something is not reserved. `unknown`: the account's object cannot be asked. */
export type Refused =
  | ({ readonly kind: 'wait'; readonly pauseMs: number } & AccountWait)
  | ({ readonly kind: 'wait'; readonly for: 'unknown'; readonly full: null; readonly error: string } & Wait);

/** Something may be created, and counts from now on. */
export interface Grant {
  readonly kind: 'grant';
  /** How long the host is to be left alone; 0: it is not. */
  readonly pauseMs: number;
  /** Whether it counts in a window by itself, and not only by an earlier attempt at the same push. */
  covers(window: WantedWindow): boolean;
  /** Nothing was created. Never rejects. The second time, nothing happens; if it fails, the grant expires. */
  release(): Promise<void>;
}

/** The host is told of so many calls at a time. */
const CALLS_BATCH = 20;
/** Of its calls, what a client may have caused while few are left: ten networks must not spend all of them. */
const SCARCE_PART = 1 / 5;
const UNKNOWN: Wait = { waitMs: 60_000, withinMs: 60_000 };

/** By client and limit. `until` in milliseconds since 1970. */
const refusedUntil = new Recent<Wait & { readonly until: number }>({ most: 10_000 });
const misses = new ClientAttempts();
const calls = new ClientAttempts();
/** By client: calls that its window was not told of. Of a crowd, those who caused some last are kept. */
const untold = new Recent<number>({ most: 10_000 });
onForget(() => [misses, calls].forEach((attempts) => attempts.clear()));

/** As `Limits.reserve`, for an object. What creates nothing goes on if the account cannot be asked. */
export async function reserve(
  account: AccountObject,
  wants: Wants,
  logger: Logger,
): Promise<Grant | Refused> {
  try {
    const answer = await account.reserve(wants);
    if (answer.kind === 'granted') return granted(account, answer, logger);
    noteRefused(answer, wants);
    return answer;
  } catch (error) {
    if (wants.windows.length > 0) return unknown(error);
    logger.warn('the account could not be asked', { error });
    return { kind: 'grant', pauseMs: 0, covers: () => false, release: async () => {} };
  }
}

export class Limits {
  readonly #setup: LimitsSetup;

  constructor(setup: LimitsSetup) {
    this.#setup = setup;
  }

  /** The limits by a name. */
  of(name: TriedName): readonly Limit[] {
    return isFixed(name) ? [FIXED_TRIES[name]] : this.#setup.open[name];
  }

  /** Answers how long the client must wait. @param isAttempt false: counts none. Rejects if nobody can tell. */
  async count(name: TriedName, isAttempt = true): Promise<Wait> {
    const known = await this.known(name);
    if (known.waitMs > 0) return known;
    const key = await this.#key(name);
    const wait = await this.#setup.windows(key).hit(key, name, this.of(name), isAttempt);
    await this.remember(name, wait);
    return wait;
  }

  /** How long the client must wait, as far as this isolate knows. Counts nothing. */
  async known(name: TriedName): Promise<Wait> {
    const scarce = name === 'calls' ? await this.#scarceWait() : NO_WAIT;
    if (scarce.waitMs > 0 || refusedUntil.size === 0) return scarce;
    const key = `${name} ${await this.#key(name)}`;
    const found = refusedUntil.get(key);
    const now = Date.now();
    if (found !== null && isAhead(found.until, longestOf(this.of(name)), now))
      return { waitMs: found.until - now, withinMs: found.withinMs };
    refusedUntil.delete(key);
    return NO_WAIT;
  }

  async #scarceWait(): Promise<Wait> {
    const scarceMs = this.#setup.scarceMs();
    if (scarceMs === 0) return NO_WAIT;
    const { hits } = calls.of(await this.#key('calls'));
    const waits = partOf(this.of('calls'), SCARCE_PART).map((limit) => waitOf(hits, limit, Date.now()));
    const { waitMs, withinMs } = longestWait(waits);
    return { waitMs: Math.min(waitMs, scarceMs), withinMs };
  }

  /** A client over a limit need not ask again before its time is over. */
  async remember(name: TriedName, { waitMs, withinMs }: Wait): Promise<void> {
    if (waitMs === 0) return;
    refusedUntil.set(`${name} ${await this.#key(name)}`, { waitMs, withinMs, until: Date.now() + waitMs });
  }

  /** Counts a look-up that found nothing, in memory: it must leave nothing behind. Never rejects. */
  async countMiss(): Promise<Wait> {
    return this.#orPass(async () => {
      const wait = misses.hit(await this.#key('lookUps'), this.of('lookUps'), Date.now());
      await this.remember('lookUps', wait);
      return wait;
    });
  }

  /** Charges a call of the code host to the client, in memory. Its window is told every so often. Never rejects. */
  async charge(): Promise<void> {
    await this.#orPass(async () => {
      const key = await this.#key('calls');
      const limits = this.of('calls');
      await this.remember('calls', calls.hit(key, limits, Date.now()));
      const more = 1 + (untold.get(key) ?? 0);
      untold.set(key, more % CALLS_BATCH);
      if (more < CALLS_BATCH) return NO_WAIT;
      const told = await this.#setup.windows(key).hit(key, 'calls', partOf(limits, 1 / CALLS_BATCH));
      await this.remember('calls', told);
      return told;
    });
  }

  /** Asked last, when nothing else refuses the write. Never rejects: if nobody can tell, nothing is created. */
  reserve(wants: Wants): Promise<Grant | Refused> {
    return reserve(this.#setup.account(), wants, this.#setup.logger);
  }

  /** Why a pull request would be refused, as far as this isolate knows. Counts nothing. */
  async knownFull(wants: () => Promise<Wants>): Promise<KnownFull | null> {
    return isNobodyFull() ? null : knownFull(await wants());
  }

  /** What `reserve` would refuse; null: nothing. @param isAttempt counts it if it is refused. Never rejects. */
  async refusal(wants: Wants, isAttempt: boolean): Promise<Refused | null> {
    const known = isAttempt ? knownFull(wants) : null;
    if (known?.isTold) return { kind: 'wait', pauseMs: 0, full: null, ...known };
    try {
      const refusal = await this.#setup.account().refusal(wants, isAttempt);
      if (refusal !== null && isAttempt) noteRefused(refusal, wants);
      return refusal && { kind: 'wait', pauseMs: 0, ...refusal };
    } catch (error) {
      return unknown(error);
    }
  }

  /** Names the client, or those who are counted with it. */
  async #key(name: TriedName): Promise<string> {
    const countedFor = isFixed(name)
      ? name === 'siteAdmin'
        ? 'site'
        : 'client'
      : OPEN_LIMITS[name].countedFor;
    if (countedFor === 'all clients together') return ALL_CLIENTS;
    const client = await this.#setup.client();
    return countedFor === 'client' ? windowKey(client) : siteWindowKey(client);
  }

  /** For what only reads: if a limit cannot be checked, the request passes. */
  async #orPass(counted: () => Promise<Wait>): Promise<Wait> {
    try {
      return await counted();
    } catch (error) {
      this.#setup.logger.warn('a limit could not be checked', { error });
      return NO_WAIT;
    }
  }
}

function granted(
  account: AccountObject,
  { id, windows, full, pauseMs }: Extract<ReserveAnswer, { kind: 'granted' }>,
  logger: Logger,
): Grant {
  let left = id;
  for (const window of full) noteFull(window);
  return {
    kind: 'grant',
    pauseMs,
    covers: (window) => windows.includes(windowName(window)),
    async release() {
      const back = left;
      left = null;
      if (back === null) return;
      await account
        .release(back)
        .catch((error: unknown) => logger.warn('a grant could not be released', { error }));
      noteReleased(windows);
    },
  };
}

function unknown(error: unknown): Refused {
  return { kind: 'wait', for: 'unknown', full: null, error: String(error), ...UNKNOWN };
}

function partOf(limits: readonly Limit[], part: number): readonly Limit[] {
  return limits.map(({ most, withinMs }) => ({ most: Math.ceil(most * part), withinMs }));
}

const isFixed = (name: TriedName): name is keyof typeof FIXED_TRIES => name in FIXED_TRIES;
