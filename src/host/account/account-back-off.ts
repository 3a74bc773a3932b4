/**
 * Backs off for an account. In a pause, this isolate makes no call, and others make none as soon as
 * they ask the board.
 */
import { type Clock, isAhead, isWithin } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { count } from '../../metrics/tally.ts';
import { HostPause, limitOf, LONGEST_PAUSE_MS, type RefusedCall } from '../failure.ts';

/** The pause that all isolates know of. Both methods reject if the board cannot be reached. */
export interface PauseBoard {
  /** Returns how long the account has to pause from now on, in milliseconds. 0 means not at all. */
  hostPause(): Promise<number>;
  pauseHost(pauseMs: number): Promise<void>;
}

interface BackOffSettings {
  /** The name of the account, which is no secret. */
  readonly account: string;
  /** The host's name in messages. */
  readonly hostName: string;
  readonly board: PauseBoard;
  readonly clock: Clock;
  /** Takes work that nobody waits for. */
  readonly later: (work: Promise<unknown>) => void;
}

/** The part that callers of the host use. */
export type BackOff = Pick<AccountBackOff, 'throwIfPaused' | 'observe'>;

/** The pause if the host does not say how long. */
const LEAST_PAUSE_MS = 60_000;
/** Maximum age of an answer of the board. */
const FRESH_MS = 10_000;

/** The state of an account. Times are in milliseconds since 1970. */
interface Known {
  readonly pausedUntil: number;
  readonly askedAt: number;
  /** The last pause whose length the host has not named. */
  readonly byDefault: { readonly ms: number; readonly until: number };
}

const NOTHING: Known = { pausedUntil: -Infinity, askedAt: -Infinity, byDefault: { ms: 0, until: -Infinity } };

/** This isolate's copy of the board, by account. */
const known = new Recent<Known>({ most: 100 });

export class AccountBackOff {
  readonly #settings: BackOffSettings;

  constructor(settings: BackOffSettings) {
    this.#settings = settings;
  }

  /**
   * Returns how long the account has to pause, as far as this isolate knows, in milliseconds. 0
   * means not at all.
   */
  leftMs(): number {
    const { pausedUntil } = this.#known;
    const now = this.#settings.clock.now();
    return isAhead(pausedUntil, LONGEST_PAUSE_MS, now) ? pausedUntil - now : 0;
  }

  /**
   * Checks for a pause. Call it before each call of the account.
   * @throws HostPause while the host asks for a pause.
   */
  async throwIfPaused(): Promise<void> {
    const { board, clock, hostName } = this.#settings;
    if (this.leftMs() === 0 && !isWithin(this.#known.askedAt, FRESH_MS, clock.now())) {
      // Calls at the same time do not wait for the answer.
      this.#know({ askedAt: clock.now() });
      // If the board cannot be reached, calls go on: the host still says when it wants a pause.
      this.learn(await board.hostPause().catch(() => 0));
    }
    const leftMs = this.leftMs();
    if (leftMs > 0) throw new HostPause(hostName, leftMs);
  }

  /** Takes over a pause that the board has told another caller. */
  learn(leftMs: number): void {
    const now = this.#settings.clock.now();
    this.#know({ askedAt: now, ...(leftMs > 0 && { pausedUntil: now + leftMs }) });
  }

  /**
   * Reads the pause that a refused call asks for. Call it with each refused answer.
   * @returns null if it asks for none.
   */
  observe(answer: RefusedCall): HostPause | null {
    const { board, clock, hostName, later } = this.#settings;
    const now = clock.now();
    const limit = limitOf(answer, now);
    if (limit === null) return null;
    const { retryAfterMs } = limit;
    const byDefault = retryAfterMs === null ? this.#defaultPause(now) : this.#known.byDefault;
    const pauseMs = retryAfterMs ?? byDefault.until - now;
    this.#know({ pausedUntil: now + pauseMs, byDefault });
    count('gitveil_host_pauses_total', { status: String(answer.status) });
    // If the board cannot be reached, the host tells other isolates itself.
    later(board.pauseHost(pauseMs).catch(() => {}));
    return new HostPause(hostName, pauseMs, limit, answer.status);
  }

  /**
   * Returns a pause of a minute, or, soon after the last such pause, twice as long as that (GitHub,
   * "Rate limits for the REST API").
   */
  #defaultPause(now: number): Known['byDefault'] {
    const last = this.#known.byDefault;
    // The call was under way when the pause began.
    if (isAhead(last.until, last.ms, now)) return last;
    const ms = isWithin(last.until, last.ms, now) ? Math.min(LONGEST_PAUSE_MS, 2 * last.ms) : LEAST_PAUSE_MS;
    return { ms, until: now + ms };
  }

  get #known(): Known {
    return known.get(this.#settings.account) ?? NOTHING;
  }

  #know(news: Partial<Known>): void {
    const { account } = this.#settings;
    const before = this.#known;
    // A pause is never shortened: the board may not know it yet.
    const heldUntil = this.leftMs() > 0 ? before.pausedUntil : -Infinity;
    known.set(account, {
      ...before,
      ...news,
      pausedUntil: Math.max(heldUntil, news.pausedUntil ?? -Infinity),
    });
  }
}
