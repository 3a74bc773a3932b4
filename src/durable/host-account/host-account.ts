/**
 * The bot account at one code host, for all isolates: what is created in its name, how long the
 * host wants to be left alone, what it still lets the account do, and which forms have posted what.
 * Apart from the guard, so that the panic switch does not depend on how busy the account is. A
 * write asks it last, in one call: the network, the repository, the thread and the account allow it
 * together or not at all (src/limits/creations.ts). While it cannot be asked, nothing is created.
 * Cost: such a write stores one row, a form two. The row is stored before the grant leaves (the
 * output gate), together with those of all other writes of that moment. The host's calls are in
 * memory: its next answer tells of them. While there is anything to forget, an hourly alarm deletes
 * it without a trace.
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
import { type Claimant, fairWait, type Use } from '../../limits/fairness.ts';
import { type Limit, NO_WAIT, type Wait } from '../../limits/sliding-window.ts';
import { type AccountDenied, type Reserved, windowName, writesNow } from '../../limits/claim.ts';
import type { AccountAnswer, Claim } from '../../limits/claim.ts';
import { FORM_LIFE_MS } from '../../secret/form-token.ts';
import { keepOnly } from '../keep-only.ts';

const HOUR_MS = 60 * 60_000;
const CREATION = 'creation ';
const POST = 'post ';
/**
 * Until when the account must not call its host. Stored, because the host's limit outlives the
 * object.
 */
const PAUSE = 'pause';
const ACCOUNT = windowName({ kind: 'account', key: '' });
/**
 * With more of them, the oldest is forgotten: they are counted in memory, and are not limited by
 * themselves.
 */
const MOST_WRITES = 20_000;

/**
 * docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api, "Pause between
 * mutative requests".
 */
const SPACING_MS = 1_000;
/**
 * Nobody waits for a turn for longer, as a push holds memory: with more before it, a write is told
 * to come later.
 */
const LONGEST_QUEUE_MS = 10_000;
/** Of that, what a network leaves to others while something of it waits. */
const LEFT_QUEUE_MS = 3_000;

/** Longer than posting usually takes. One that is silent for longer has died with its request. */
const SENDING_MS = 60_000;

/** Keyed hashes: nothing of what was written can be found out from them. */
export interface PostName {
  /** Of the form, or of the request's key. */
  readonly name: string;
  /** Of what it posts. */
  readonly content: string;
}

interface Posted {
  readonly url: string;
  /** Of the thread. */
  readonly number: number;
  /** Of the author on that thread, after it. */
  readonly karma: number;
}

/**
 * `new`: it was not sent before, so the caller may post it now. `sending`: another request is
 * posting it. `unknown`: it was sent, and nobody knows whether the host has posted it. `other`:
 * something else was sent under this name.
 */
export type PostStanding = { readonly kind: 'new' | 'sending' | 'unknown' | 'other' } | PostedOnce;
export type PostResult = { readonly kind: 'new' | 'unknown' } | PostedOnce;
type PostedOnce = { readonly kind: 'posted'; readonly posted: Posted };

interface SentPost {
  readonly content: string;
  /** Milliseconds since 1970, as everywhere. */
  readonly until: number;
  readonly sendingUntil: number;
  readonly posted: Posted | null;
}

/** When a creation may begin. */
interface Turn {
  readonly at: number;
  /** Its network. */
  readonly by: string;
}

interface AccountFigures {
  /** Null: the host has said nothing of calls lately. */
  readonly calls: { readonly limit: number; readonly left: number } | null;
  /** By limit. */
  readonly creationsLeft: readonly number[];
}

export class HostAccount extends DurableObject<Env> {
  readonly #creations: Creations;
  /** By id, oldest first: of this hour, those that create nothing included. */
  readonly #writes = new Map<string, Use>();
  #calls: KnownCalls | null = null;
  /** The ids of those since the host said how many calls are left. */
  #begun = new Set<string>();
  #hasAlarm = false;
  /** In order, those of the last seconds included; in memory, as they are soon over. */
  #turns: readonly Turn[] = [];
  #points: Points = [];

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const stored = ctx.storage.kv.list<Creation>({ prefix: CREATION });
    this.#creations = new Creations([...stored].map(([key, row]) => [key.slice(CREATION.length), row]));
    for (const [id, row] of this.#creations.rows) if (ACCOUNT in row.windows) this.#writes.set(id, row);
    // Do not postpone an alarm that is set: an object that sleeps often would never clean up.
    void ctx.blockConcurrencyWhile(async () => {
      this.#hasAlarm = (await ctx.storage.getAlarm()) !== null;
    });
  }

  /**
   * Whether a write may begin now. If so, it counts in all windows of `claim`, until they end or it
   * is released.
   */
  reserve(claim: Claim): AccountAnswer {
    const now = Date.now();
    const pauseMs = this.hostPause();
    const denied = this.#creations.denial(claim, now);
    if (denied !== null) return { ...this.#counted(denied, now), pauseMs };
    if (!writesNow(claim)) return { kind: 'granted', pauseMs, turnMs: 0, ...this.#keep(claim, now) };
    this.#forgetWrites(now);
    const calls = callsWait(this.#calls, [...this.#writes.values()], this.#begun.size, claim, now);
    if (calls.waitMs > 0) return { kind: 'denied', pauseMs, window: 'calls', full: null, ...calls };
    const { turnMs, waitMs } = claim.isSpaced ? this.#turnOf(claim.by, now) : { turnMs: 0, waitMs: 0 };
    if (waitMs > 0)
      return { kind: 'denied', pauseMs, window: 'account', full: null, waitMs, withinMs: waitMs };
    if (claim.isSpaced) this.#turns = [...this.#turns, { at: now + turnMs, by: claim.by }];
    const reserved = this.#keep(claim, now);
    // The same push again has been counted as a write, too.
    if (claim.windows.length === 0 || reserved.id !== null) {
      const id = reserved.id ?? crypto.randomUUID();
      this.#writes.set(id, { at: now, by: claim.by, repository: claim.repository });
      if (this.#calls !== null) this.#begun.add(id);
    }
    return { kind: 'granted', pauseMs, turnMs, ...reserved };
  }

  /**
   * When a creation of this network may begin, and how much too late that is; 0: it may take that
   * turn.
   */
  #turnOf(by: string, now: number): { readonly turnMs: number; readonly waitMs: number } {
    const longestMs = LONGEST_QUEUE_MS + SPACING_MS;
    this.#turns = this.#turns.filter(({ at }) => isAhead(at + SPACING_MS, longestMs, now));
    const turnMs = Math.max(0, (this.#turns.at(-1)?.at ?? -Infinity) + SPACING_MS - now);
    const isWaiting = this.#turns.some((turn) => turn.by === by && turn.at > now);
    const mostMs = LONGEST_QUEUE_MS - (isWaiting ? LEFT_QUEUE_MS : 0);
    return { turnMs, waitMs: Math.max(0, turnMs - mostMs, pointsWaitMs(this.#points, false, now)) };
  }

  /**
   * What `reserve` would deny; null: nothing.
   * @param isAttempt counts it if it is denied.
   */
  denial(claim: Claim, isAttempt: boolean): AccountDenied | null {
    const now = Date.now();
    const denied = this.#creations.denial(claim, now);
    return denied !== null && isAttempt ? this.#counted(denied, now) : denied;
  }

  /** Nothing was created. @param id from `reserve`. The second time, nothing happens. */
  release(id: string): void {
    this.#begun.delete(id);
    if (this.#creations.release(id)) void this.ctx.storage.delete(CREATION + id, { allowUnconfirmed: true });
  }

  /**
   * Whether a form or a request may post now; if so, `endPost` must follow. One sent again, by a
   * double click or a program that got no answer, gets the first answer. Stored before the host is
   * asked, for as long as a form is valid.
   */
  beginPost({ name, content }: PostName): PostStanding {
    const { kv } = this.ctx.storage;
    const now = Date.now();
    this.#wakeWithinAnHour();
    const sent = kv.get<SentPost>(POST + name);
    if (sent === undefined) {
      const [until, sendingUntil] = [now + FORM_LIFE_MS, now + SENDING_MS];
      kv.put(POST + name, { content, until, sendingUntil, posted: null } satisfies SentPost);
      return { kind: 'new' };
    }
    const { posted, sendingUntil } = sent;
    if (sent.content !== content) return { kind: 'other' };
    if (posted !== null) return { kind: 'posted', posted };
    // After a clock was set back, nobody waits for longer either.
    return { kind: isAhead(sendingUntil, SENDING_MS, now) ? 'sending' : 'unknown' };
  }

  /** @param result `new`: nothing was posted, and it may be sent again. */
  endPost(name: string, result: PostResult): void {
    const { kv } = this.ctx.storage;
    const sent = kv.get<SentPost>(POST + name);
    if (sent === undefined) return;
    const posted = result.kind === 'posted' ? result.posted : null;
    if (result.kind === 'new') kv.delete(POST + name);
    else kv.put(POST + name, { ...sent, sendingUntil: 0, posted });
  }

  /** How long the host is to be left alone, in milliseconds; 0: it is not. */
  hostPause(): number {
    const now = Date.now();
    const until = this.ctx.storage.kv.get<number>(PAUSE) ?? 0;
    return isAhead(until, LONGEST_PAUSE_MS, now) ? until - now : 0;
  }

  /** The host asks to be left alone. A pause is never made shorter. */
  pauseHost(pauseMs: number): void {
    if (pauseMs > this.hostPause()) this.ctx.storage.kv.put(PAUSE, Date.now() + pauseMs);
  }

  /**
   * What the host has just said.
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

  /** Forgets what does not count any more, and forms that are not valid any more. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    this.#creations.forgetOld(now);
    const creations = [...this.#creations.rows].map(([id, row]) => [CREATION + id, row] as const);
    const { kv } = this.ctx.storage;
    const posts = [...kv.list<SentPost>({ prefix: POST })].filter(([, { until }]) => until > now);
    const counted: (readonly [string, unknown])[] = [...creations, ...posts];
    // No client's, so it stays.
    const pause = kv.get(PAUSE);
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
 * How long the claimant waits when the host has few calls left: first the networks that have
 * written most.
 * @param writes of this hour, oldest first: with the calls left, a window for all.
 * @param begun how many of them since the host has said what is left.
 */
export function callsWait(
  calls: KnownCalls | null,
  writes: readonly Use[],
  begun: number,
  claimant: Claimant,
  now: number,
): Wait {
  const left = callsLeft(calls, begun, now);
  if (calls === null || left === null) return NO_WAIT;
  const most = writes.length + Math.floor(left / CALLS_PER_WRITE);
  const limit = { most, withinMs: LONGEST_RESET_MS };
  const fair = fairWait('calls', writes, [limit], claimant, now);
  if (left >= CALLS_PER_WRITE && fair.waitMs === 0) return NO_WAIT;
  return { waitMs: resetMs(calls, now) ?? 0, withinMs: LONGEST_RESET_MS };
}
