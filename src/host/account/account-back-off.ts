/**
 * One back-off for an account. In a pause, no call leaves this isolate, nor others as soon as they
 * ask the board.
 */
import { type Clock, isAhead, isWithin } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { count } from '../../metrics/tally.ts';
import { HostPause, limitOf, LONGEST_PAUSE_MS, type RefusedCall } from '../failure.ts';

/** What all isolates know about the account. Both methods reject if it cannot be reached. */
export interface PauseBoard {
  /** How long the account has to pause from now on, in milliseconds; 0: not at all. */
  hostPause(): Promise<number>;
  pauseHost(pauseMs: number): Promise<void>;
}

interface BackOffSettings {
  /** Names the account; no secret. */
  readonly account: string;
  /** As messages name the host. */
  readonly hostName: string;
  readonly board: PauseBoard;
  readonly clock: Clock;
  /** Work that nobody waits for. */
  readonly later: (work: Promise<unknown>) => void;
}

/** As callers of the host see it. */
export type BackOff = Pick<AccountBackOff, 'throwIfPaused' | 'observe'>;

/** Where the host does not say how long. */
const LEAST_PAUSE_MS = 60_000;
/** How old an answer of the board may be. */
const FRESH_MS = 10_000;

/** Moments are milliseconds since 1970. */
interface Known {
  readonly pausedUntil: number;
  readonly askedAt: number;
  /** The last pause for which the host has named no time. */
  readonly unnamed: { readonly ms: number; readonly until: number };
}

const NOTHING: Known = { pausedUntil: -Infinity, askedAt: -Infinity, unnamed: { ms: 0, until: -Infinity } };

/** By account; this isolate's copy of the board. */
const known = new Recent<Known>({ most: 100 });

export class AccountBackOff {
  readonly #settings: BackOffSettings;

  constructor(settings: BackOffSettings) {
    this.#settings = settings;
  }

  /**
   * How long the account has to pause, as far as this isolate knows, in milliseconds; 0: not at
   * all.
   */
  leftMs(): number {
    const { pausedUntil } = this.#known;
    const now = this.#settings.clock.now();
    return isAhead(pausedUntil, LONGEST_PAUSE_MS, now) ? pausedUntil - now : 0;
  }

  /**
   * To be called before each call of the account.
   * @throws HostPause while the host asks for a pause.
   */
  async throwIfPaused(): Promise<void> {
    const { board, clock, hostName } = this.#settings;
    if (this.leftMs() === 0 && !isWithin(this.#known.askedAt, FRESH_MS, clock.now())) {
      // Calls at the same time do not wait for the answer.
      this.#know({ askedAt: clock.now() });
      // A board out of reach is no reason to stop: the host still says what it wants.
      this.learn(await board.hostPause().catch(() => 0));
    }
    const leftMs = this.leftMs();
    if (leftMs > 0) throw new HostPause(hostName, leftMs);
  }

  /** Takes over what the board has told another caller. */
  learn(leftMs: number): void {
    const now = this.#settings.clock.now();
    this.#know({ askedAt: now, ...(leftMs > 0 && { pausedUntil: now + leftMs }) });
  }

  /** Call it with each refused answer to a call of the account. Null: it asks for no pause. */
  observe(answer: RefusedCall): HostPause | null {
    const { board, clock, hostName, later } = this.#settings;
    const now = clock.now();
    const limit = limitOf(answer, now);
    if (limit === null) return null;
    const { retryAfterMs } = limit;
    const unnamed = retryAfterMs === null ? this.#unnamedPause(now) : this.#known.unnamed;
    const pauseMs = retryAfterMs ?? unnamed.until - now;
    this.#know({ pausedUntil: now + pauseMs, unnamed });
    count('gitveil_host_pauses_total', { status: String(answer.status) });
    later(board.pauseHost(pauseMs).catch(() => {}));
    return new HostPause(hostName, pauseMs, limit, answer.status);
  }

  /**
   * A minute; soon after the last pause, twice as long as that (GitHub, "Rate limits for the REST
   * API").
   */
  #unnamedPause(now: number): Known['unnamed'] {
    const last = this.#known.unnamed;
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
    // A pause is never made shorter: one that the board does not know yet stays.
    const heldUntil = this.leftMs() > 0 ? before.pausedUntil : -Infinity;
    known.set(account, {
      ...before,
      ...news,
      pausedUntil: Math.max(heldUntil, news.pausedUntil ?? -Infinity),
    });
  }
}
