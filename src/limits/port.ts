/**
 * The port of what is created in the bot account's name: a claim is granted, or denied by one of
 * its windows. It counts in one object, in one call, all or nothing. Whatever is granted is stored
 * first, so nothing is created while the object cannot store it. An isolate remembers the networks
 * that have no room, so that few of their pushes reach an object.
 * Proved by test/limits/port.test.ts and test/routes/request/refused-first.test.ts.
 */
import { type Clock, systemClock } from '../isolate/clock.ts';
import { Recent } from '../isolate/recent.ts';
import type { Logger } from '../log.ts';
import { windowName } from './claim.ts';
import type { AccountAnswer, AccountDenied, Claim, ClaimedWindow, Denied, FullWindow } from './claim.ts';
import { ending, type WindowEnding, type Wait } from './sliding-window.ts';

/** The object of the bot account. Calls of objects reject if they cannot be reached. */
interface AccountPort {
  reserve(claim: Claim): Promise<AccountAnswer>;
  denial(claim: Claim, isAttempt: boolean): Promise<AccountDenied | null>;
  release(id: string): Promise<void>;
}

interface CreationLimitsSetup {
  readonly account: () => AccountPort;
  /** Rejects if what is opened now could not be undone by a rollback. */
  readonly mayTrack: () => Promise<void>;
  readonly logger: Logger;
}

/** Something may be created, and counts from now on. */
export interface Granted {
  readonly kind: 'granted';
  /** The time for which the host must be left alone; 0: none. */
  readonly pauseMs: number;
  /** False if only an earlier attempt at the same push counts in the window. */
  covers(window: ClaimedWindow): boolean;
  /**
   * Gives it back, because nothing was created. Never rejects: if it fails, the grant expires. The
   * second call does nothing.
   */
  release(): Promise<void>;
}

/**
 * Full windows of networks, whose pushes reach no host. They are forgotten after a minute, because
 * another isolate may release room.
 */
const full = new Recent<KnownFull>({ most: 10_000, lifeMs: 60_000 });
interface KnownFull extends WindowEnding, Omit<FullWindow, 'name'> {
  /** The account has denied a push for it; else it was given the last room. */
  readonly hasDenied: boolean;
}

type KnownDenial = AccountDenied & Pick<KnownFull, 'hasDenied'>;

/**
 * Reserves a claim. Objects call this function directly, because they do not ask the guard. What
 * creates nothing goes on if the account cannot be asked. A creation waits for its turn, ten
 * seconds at most: the account's object has answered, and serves others meanwhile.
 */
export async function reserveCreation(
  account: AccountPort,
  claim: Claim,
  logger: Logger,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<Granted | Denied> {
  try {
    const answer = await account.reserve(claim);
    if (answer.kind === 'denied') {
      if (answer.full !== null) noteFull(answer.full, answer, claim.push);
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
    return { kind: 'granted', pauseMs, covers: (window) => windows.includes(windowName(window)), release };
  } catch (error) {
    if (claim.windows.length > 0) return unknownDenial(error);
    logger.warn('the account could not be asked', { error });
    return { kind: 'granted', pauseMs: 0, covers: () => false, release: async () => {} };
  }
}

export class CreationLimits {
  readonly #setup: CreationLimitsSetup;

  constructor(setup: CreationLimitsSetup) {
    this.#setup = setup;
  }

  /**
   * Call it last, when nothing else refuses the write. Never rejects: if nobody can tell, or what
   * is opened in a repository could not be tracked, nothing is created. Comments need not be
   * tracked first, because their pseudonym has stored the attempt.
   */
  async reserve(claim: Claim): Promise<Granted | Denied> {
    const { account, mayTrack, logger } = this.#setup;
    const opens = claim.windows.some(({ kind }) => kind === 'repository');
    const [reserved, untracked] = await Promise.all([
      reserveCreation(account(), claim, logger),
      opens && mayTrack().then(() => null, unknownDenial),
    ]);
    if (reserved.kind === 'denied' || !untracked) return reserved;
    await reserved.release();
    return untracked;
  }

  /**
   * Tells why a pull request would be denied, as far as this isolate knows. Counts nothing. A push
   * that counts already is not denied.
   */
  knownFull({ windows, push }: Claim): KnownDenial | null {
    const now = Date.now();
    for (const window of windows) {
      const known = full.get(windowName(window), now);
      if (known === null || known.until <= now || known.holders.includes(push?.key ?? '')) continue;
      const { hasDenied, until, withinMs } = known;
      return { kind: 'denied', window: window.kind, full: null, hasDenied, waitMs: until - now, withinMs };
    }
    return null;
  }

  /**
   * Tells which window would deny a claim; null: none would. Never rejects.
   * @param isAttempt the account counts it if it denies it.
   */
  async denial(claim: Claim, isAttempt: boolean): Promise<Denied | null> {
    const known = isAttempt ? this.knownFull(claim) : null;
    if (known?.hasDenied) return known;
    try {
      const denied = await this.#setup.account().denial(claim, isAttempt);
      if (denied?.full && isAttempt) noteFull(denied.full, denied, claim.push);
      return denied;
    } catch (error) {
      return unknownDenial(error);
    }
  }
}

/**
 * Remembers a full window.
 * @param push the one that the account has denied for it; none: the last room was granted.
 */
function noteFull(window: FullWindow, wait: Wait, push?: Claim['push']): void {
  const hasDenied = push !== undefined;
  const known = (hasDenied ? full.get(window.name) : null) ?? window;
  // Whoever was answered before opens another one, which does not count there.
  const holders = push?.isAnother ? known.holders.filter((key) => key !== push.key) : known.holders;
  full.set(window.name, { ...ending(wait), holders, hasDenied });
}

/** Denies a claim because the account cannot be asked, or cannot store it. */
export function unknownDenial(error: unknown): Denied {
  return { kind: 'denied', window: 'unknown', full: null, error, waitMs: 60_000, withinMs: 60_000 };
}
