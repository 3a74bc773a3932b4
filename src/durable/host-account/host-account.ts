/**
 * The bot account at one code host, for all isolates: what is created in its name, how long the
 * host wants to be left alone, what it still lets the account do, and which forms have posted what.
 * It is not the guard's, so that the panic switch does not depend on how busy the account is.
 *
 * A write asks it last, in one call: the network, the repository, the thread and the account allow
 * it together or not at all (src/limits/creations.ts). While it cannot be asked, nothing is
 * created. Such a write stores one row, a form two. The row is stored before the grant leaves (the
 * output gate), together with those of all other writes of that moment. The host's calls are in
 * memory, because its next answer tells of them. While there is anything to forget, an hourly alarm
 * deletes it without a trace.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import {
  CALLS_PER_WRITE,
  callsLeft,
  type CallsLeft,
  type KnownCalls,
  latestCalls,
  LONGEST_RESET_MS,
  type Points,
  pointsWaitMs,
  resetMs,
  spend,
} from '../../host/account/account-budget.ts';
import { LONGEST_PAUSE_MS } from '../../host/failure.ts';
import { isAhead, isWithin } from '../../isolate/clock.ts';
import { alertClaim, type Creation, Creations } from '../../limits/creations.ts';
import { type Claimant, fairWait, type Use, waitsFrom } from '../../limits/fairness.ts';
import { type Limit, NO_WAIT, type Wait } from '../../limits/sliding-window.ts';
import { type AccountDenied, type Reserved, windowName, writesNow } from '../../limits/claim.ts';
import type { AccountAnswer, Claim } from '../../limits/claim.ts';
import { keepOnly } from '../keep-only.ts';
import { type PostName, type PostResult, Posts, type PostStanding } from './posts.ts';
import { type NextTurn, CreationTurns } from './creation-turns.ts';

const HOUR_MS = 60 * 60_000;
const CREATION = 'creation ';
/**
 * The key of the time until which the account must not call its host. It is stored, because the
 * host's limit outlives the object.
 */
const PAUSE = 'pause';
const ACCOUNT = windowName({ kind: 'account', key: '' });
/**
 * The most writes that are counted in memory. Beyond it the oldest is forgotten, because writes are
 * not limited by themselves.
 */
const MOST_WRITES = 20_000;

interface AccountFigures {
  /** The host's calls; null: it has said nothing of them lately. */
  readonly calls: { readonly limit: number; readonly left: number } | null;
  /** The creations that each limit still allows. */
  readonly creationsLeft: readonly number[];
}

export class HostAccount extends DurableObject<Env> {
  readonly #creations: Creations;
  /** The writes of this hour by id, oldest first, with those that create nothing. */
  readonly #writes = new Map<string, Use>();
  #calls: KnownCalls | null = null;
  /** The ids of the writes since the host said how many calls are left. */
  #begun = new Set<string>();
  #hasAlarm = false;
  readonly #turns = new CreationTurns();
  readonly #posts: Posts;
  #points: Points = [];

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#posts = new Posts(ctx.storage.kv);
    const stored = ctx.storage.kv.list<Creation>({ prefix: CREATION });
    this.#creations = new Creations([...stored].map(([key, row]) => [key.slice(CREATION.length), row]));
    for (const [id, row] of this.#creations.rows) if (ACCOUNT in row.windows) this.#writes.set(id, row);
    // Do not postpone an alarm that is set: an object that sleeps often would never clean up.
    void ctx.blockConcurrencyWhile(async () => {
      this.#hasAlarm = (await ctx.storage.getAlarm()) !== null;
    });
  }

  /**
   * Decides whether a write may begin now. If so, it counts in the windows of `claim` until they
   * end or it is released.
   */
  reserve(claim: Claim): AccountAnswer {
    const now = Date.now();
    const pauseMs = this.hostPause();
    const denied = this.#creations.denial(claim, now);
    if (denied !== null) return { ...this.#counted(denied, now), pauseMs };
    if (!writesNow(claim)) return { kind: 'granted', pauseMs, turnMs: 0, ...this.#keep(claim, now) };
    this.#forgetWrites(now);
    const calls = callsWait(this.#calls, this.#writes, this.#begun.size, claim, now);
    if (calls.waitMs > 0) return { kind: 'denied', pauseMs, window: 'calls', full: null, ...calls };
    const { turnMs, waitMs } = claim.isSpaced ? this.#turnOf(claim.by, now) : { turnMs: 0, waitMs: 0 };
    if (waitMs > 0)
      return { kind: 'denied', pauseMs, window: 'account', full: null, waitMs, withinMs: waitMs };
    if (claim.isSpaced) this.#turns.take(claim.by, now + turnMs);
    const reserved = this.#keep(claim, now);
    // The same push again has been counted as a write, too.
    if (claim.windows.length === 0 || reserved.id !== null) {
      const id = reserved.id ?? crypto.randomUUID();
      this.#writes.set(id, { at: now, by: claim.by, repository: claim.repository });
      if (this.#calls !== null) this.#begun.add(id);
    }
    return { kind: 'granted', pauseMs, turnMs, ...reserved };
  }

  /** The next turn of a network. `waitMs` includes the wait for points that the host allows. */
  #turnOf(by: string, now: number): NextTurn {
    const { turnMs, waitMs } = this.#turns.next(by, now);
    return { turnMs, waitMs: Math.max(waitMs, pointsWaitMs(this.#points, false, now)) };
  }

  /**
   * Tells which window would deny a claim; null: none. Calls and turns are not looked at.
   * @param isAttempt counts it if it is denied.
   */
  denial(claim: Claim, isAttempt: boolean): AccountDenied | null {
    const now = Date.now();
    const denied = this.#creations.denial(claim, now);
    return denied !== null && isAttempt ? this.#counted(denied, now) : denied;
  }

  /**
   * Gives a grant back, because nothing was created. The second time, nothing happens.
   * @param id from `reserve`.
   */
  release(id: string): void {
    this.#begun.delete(id);
    if (this.#creations.release(id)) void this.ctx.storage.delete(CREATION + id, { allowUnconfirmed: true });
  }

  /** Decides whether a form or a request may post now. If so, `endPost` must follow. */
  beginPost(post: PostName): PostStanding {
    this.#wakeWithinAnHour();
    return this.#posts.begin(post, Date.now());
  }

  /** @param result `new`: nothing was posted, and it may be sent again. */
  endPost(name: string, result: PostResult): void {
    this.#posts.end(name, result);
  }

  /** The time for which the host must be left alone, in milliseconds; 0: none. */
  hostPause(): number {
    const now = Date.now();
    const until = this.ctx.storage.kv.get<number>(PAUSE) ?? 0;
    return isAhead(until, LONGEST_PAUSE_MS, now) ? until - now : 0;
  }

  /** Leaves the host alone, as it asks. A pause is never made shorter. */
  pauseHost(pauseMs: number): void {
    if (pauseMs > this.hostPause()) this.ctx.storage.kv.put(PAUSE, Date.now() + pauseMs);
  }

  /**
   * Takes what the host has just said of the account's calls.
   * @param points that an isolate's calls have cost since it told last.
   */
  callsSaid(said: CallsLeft, points = 0): void {
    const now = Date.now();
    if (points > 0) this.#points = spend(this.#points, points, now);
    const latest = latestCalls(this.#calls, { ...said, at: now });
    if (latest !== this.#calls) this.#begun.clear();
    this.#calls = latest;
  }

  figures(limits: readonly Limit[]): AccountFigures {
    const now = Date.now();
    const left = callsLeft(this.#calls, this.#begun.size, now);
    const calls = this.#calls === null || left === null ? null : { limit: this.#calls.limit, left };
    const created = this.#creations.uses([ACCOUNT], now);
    const creationsLeft = limits.map(({ most, withinMs }) =>
      Math.max(0, most - created.filter(({ at }) => isWithin(at, withinMs, now)).length),
    );
    return { calls, creationsLeft };
  }

  /** Forgets creations that count no more, and forms that are no longer valid. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    this.#creations.forgetOld(now);
    const creations = [...this.#creations.rows].map(([id, row]) => [CREATION + id, row] as const);
    const counted: (readonly [string, unknown])[] = [...creations, ...this.#posts.valid(now)];
    // No client's, so it stays.
    const pause = this.ctx.storage.kv.get(PAUSE);
    this.#hasAlarm = counted.length > 0;
    const kept = pause === undefined ? counted : [[PAUSE, pause] as const, ...counted];
    // Hourly, so that it does not run once for each of them.
    await keepOnly(this.ctx.storage, kept, this.#hasAlarm ? now + HOUR_MS : null);
  }

  #keep(claim: Claim, now: number): Reserved {
    const reserved = this.#creations.reserve(crypto.randomUUID(), claim, now);
    const { id } = reserved;
    if (id === null) return reserved;
    this.#wakeWithinAnHour();
    const surplus = this.#creations.forgetSurplus();
    if (surplus !== null) void this.ctx.storage.delete(CREATION + surplus, { allowUnconfirmed: true });
    // What is granted is stored first. That an alert is due may be forgotten.
    const allowUnconfirmed = claim.windows.every(({ kind }) => kind === 'alert');
    void this.ctx.storage.put(CREATION + id, this.#creations.rows.get(id), { allowUnconfirmed });
    return reserved;
  }

  #counted(denied: AccountDenied, now: number): AccountDenied {
    const { full } = denied;
    if (full === null) return denied;
    const alert = alertClaim(full.name);
    const isAlertDue = this.#creations.denial(alert, now) === null;
    if (isAlertDue) this.#keep(alert, now);
    const attempts = full.attempts + this.#creations.countRefused(full.name);
    return { ...denied, full: { ...full, attempts, isAlertDue } };
  }

  #forgetWrites(now: number): void {
    for (const [id, { at }] of this.#writes) {
      if (this.#writes.size < MOST_WRITES && isWithin(at, HOUR_MS, now)) break;
      this.#writes.delete(id);
    }
  }

  #wakeWithinAnHour(): void {
    if (this.#hasAlarm) return;
    this.#hasAlarm = true;
    void this.ctx.storage.setAlarm(Date.now() + HOUR_MS, { allowUnconfirmed: true });
  }
}

/**
 * Decides how long the claimant waits when the host has few calls left. The writes of this hour and
 * those that the calls left allow are a limit, of which networks have their parts (fairness.ts).
 * @param writes of this hour by id, oldest first.
 * @param begun how many of them since the host has said what is left.
 */
export function callsWait(
  calls: KnownCalls | null,
  writes: ReadonlyMap<string, Use>,
  begun: number,
  claimant: Claimant,
  now: number,
): Wait {
  const left = callsLeft(calls, begun, now);
  if (calls === null || left === null) return NO_WAIT;
  const most = writes.size + Math.floor(left / CALLS_PER_WRITE);
  if (left >= CALLS_PER_WRITE && writes.size < waitsFrom(most)) return NO_WAIT;
  const limit = { most, withinMs: LONGEST_RESET_MS };
  const fair = fairWait('calls', [...writes.values()], [limit], claimant, now);
  if (left >= CALLS_PER_WRITE && fair.waitMs === 0) return NO_WAIT;
  return { waitMs: resetMs(calls, now) ?? 0, withinMs: LONGEST_RESET_MS };
}
