/**
 * The bot account at one code host, for all isolates: how long the host wants to be left alone, what it still lets
 * the account do, who has used how much of that, who may open something and where, and which forms have posted what. One
 * object for each account.
 *
 * It stands apart from the guard, so that the panic switch does not depend on how busy the account is. A write asks it
 * last, when nothing else refuses it, in one call: the places of its client, the repository, and the account allow it
 * together or not at all. While it cannot be asked, no pull request is opened, and each isolate creates a few comments
 * and issues alone: see src/routes/request/account-share.ts.
 *
 * Cost: a write that creates something stores one value, which its answer does not wait for; a form stores two, which
 * its answer waits for, and a pull request its places (openings.ts). Everything else is in memory. After a restart, the
 * clients' shares follow from what they have created; the host's calls are unknown until the next answer tells of them.
 * While there is anything to forget, an alarm runs every hour. It deletes what no longer counts, without a trace.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import {
  type AccountUse,
  callsLeft,
  callsWaitMs,
  type CallsLeft,
  creationsLeft,
  creationWaitMs,
  type KnownCalls,
  latestCalls,
} from '../../host/account/account-budget.ts';
import { ClientAttempts } from '../../limits/client-attempts.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import { keepOnly } from '../keep-only.ts';
import { Creations } from './creations.ts';
import {
  NO_PLACES_TAKEN,
  type Opening,
  type OpeningRefusal,
  Openings,
  type PlacesAnswer,
  type PlacesWait,
  type TakenPlaces,
  type WantedPlaces,
} from './openings.ts';
import { Pause, PAUSE_KEY } from './pause.ts';
import { type PostName, type PostResult, type PostStanding, SentPosts } from './sent-posts.ts';

const HOUR_MS = 60 * 60_000;
/** A client's writes are counted, and who has had less comes first; their number alone refuses none. */
const SHARE = [{ most: Infinity, withinMs: HOUR_MS }];

export interface AccountAdmittance extends TakenPlaces {
  /** How long the host is to be left alone; 0: it is not. */
  readonly pauseMs: number;
  /** How long this client must wait before it writes; 0: not at all. */
  readonly waitMs: number;
  /** What `giveBack` takes if nothing is created; null: nothing was taken. */
  readonly taken: string | null;
  /** Why nothing may be opened there, or by this client; null: it may. Then nothing was taken. */
  readonly refusal: OpeningRefusal | null;
}

/** What was taken for something that was not opened. */
export interface Returned {
  /** Of the push. */
  readonly key: string;
  /** Whose places. */
  readonly clients: readonly string[];
  /** The repository; null: it did not count there. */
  readonly target: string | null;
}

/** What the account may still do. */
export interface AccountFigures {
  /** Null: the host has said nothing of calls lately. */
  readonly calls: { readonly limit: number; readonly left: number } | null;
  /** By limit. */
  readonly creationsLeft: readonly number[];
}

export class HostAccount extends DurableObject<Env> {
  readonly #pause: Pause;
  readonly #creations: Creations;
  readonly #openings: Openings;
  readonly #sentPosts: SentPosts;
  readonly #shares = new ClientAttempts();
  #calls: KnownCalls | null = null;
  /** Writes since the host said how many calls are left. */
  #begun = new Set<string>();
  #hasAlarm = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#pause = new Pause(ctx.storage.kv);
    this.#creations = new Creations(ctx.storage);
    this.#openings = new Openings(ctx.storage.kv);
    this.#sentPosts = new SentPosts(ctx.storage.kv);
    for (const { client, at } of this.#creations.all(Date.now())) this.#shares.hit(client, SHARE, at);
    // Do not postpone an alarm that is set: an object that sleeps often would never clean up.
    void ctx.blockConcurrencyWhile(async () => {
      this.#hasAlarm = (await ctx.storage.getAlarm()) !== null;
    });
  }

  /**
   * Whether a client may write now. If so, that counts as a write of its share.
   * @param client as a keyed hash. @param creates takes one of the things that the account may create.
   * @param limits of what it may create. @param opening null: it opens neither a pull request nor an issue.
   */
  admit(
    client: string,
    creates: boolean,
    limits: readonly Limit[],
    opening: Opening | null = null,
  ): AccountAdmittance {
    const now = Date.now();
    const pauseMs = this.#pause.left(now);
    const nothing = { pauseMs, waitMs: 0, taken: null, refusal: null, ...NO_PLACES_TAKEN };
    const refusal = opening === null ? null : this.#openings.refusal(opening, now);
    if (refusal !== null) return { ...nothing, refusal };
    const had = this.#shares.count(client, HOUR_MS, now);
    const use = this.#use(limits, now);
    const waitMs = Math.max(callsWaitMs(use, had, now), creates ? creationWaitMs(use, had, now) : 0);
    if (waitMs > 0) return { ...nothing, waitMs };
    this.#shares.hit(client, SHARE, now);
    const taken = creates ? this.#take(client, now) : null;
    const { own, full } = opening === null ? NO_PLACES_TAKEN : this.#openings.open(opening, now);
    if (this.#calls !== null) this.#begun.add(taken ?? crypto.randomUUID());
    return { ...nothing, taken, own, full };
  }

  /**
   * Only the places, for a pull request that is opened later, or for another one of the same push.
   * @param isAnother the push was answered before, and opens another pull request.
   */
  reservePlaces(wanted: WantedPlaces, isAnother: boolean): PlacesAnswer {
    this.#wakeWithinAnHour();
    return this.#openings.reserve(wanted, isAnother, Date.now());
  }

  /** Counts a push that was refused because its client has no place left. Null: it has one after all, which is not taken. */
  refusePlaces(wanted: WantedPlaces): Extract<PlacesAnswer, { kind: 'full' }> | null {
    return this.#openings.refuse(wanted, Date.now());
  }

  /** Which places would refuse the push now; null: none. Takes and counts nothing. */
  placesWait(wanted: WantedPlaces): PlacesWait | null {
    return this.#openings.wait(wanted, Date.now());
  }

  /** Nothing was created. @param taken what `admit` has answered. */
  giveBack(taken: string | null, opening: Returned | null = null): void {
    if (taken !== null) {
      this.#begun.delete(taken);
      this.#creations.giveBack(taken);
    }
    if (opening === null) return;
    this.#openings.giveBack(opening.key, opening.clients, opening.target, Date.now());
  }

  /** Whether a form or a request may post now. If so, `endPost` must follow. */
  beginPost(name: PostName): PostStanding {
    this.#wakeWithinAnHour();
    return this.#sentPosts.begin(name, Date.now());
  }

  endPost(name: string, result: PostResult): void {
    this.#sentPosts.end(name, result);
  }

  /** How long the host is to be left alone, in milliseconds; 0: it is not. */
  hostPause(): number {
    return this.#pause.left(Date.now());
  }

  /** The host asks to be left alone. */
  pauseHost(pauseMs: number): void {
    this.#pause.begin(pauseMs, Date.now());
  }

  /** What the host has just said. */
  callsSaid(said: CallsLeft): void {
    const latest = latestCalls(this.#calls, { ...said, at: Date.now() });
    if (latest !== this.#calls) this.#begun.clear();
    this.#calls = latest;
  }

  figures(limits: readonly Limit[]): AccountFigures {
    const now = Date.now();
    const use = this.#use(limits, now);
    const left = callsLeft(use, now);
    const calls = this.#calls === null || left === null ? null : { limit: this.#calls.limit, left };
    return { calls, creationsLeft: creationsLeft(use, now) };
  }

  /** Forgets what was created more than an hour ago, and for whom; and forms that are not valid any more. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    const counted = [
      ...this.#creations.forgetOld(now),
      ...this.#openings.forgetOld(now),
      ...this.#sentPosts.forgetOld(now),
    ];
    // No client's, so it stays.
    const pause = this.ctx.storage.kv.get(PAUSE_KEY);
    this.#hasAlarm = counted.length > 0 || !this.#openings.isEmpty;
    const kept = pause === undefined ? counted : [[PAUSE_KEY, pause] as const, ...counted];
    // Hourly, so that it does not run once for each of them.
    await keepOnly(this.ctx.storage, kept, this.#hasAlarm ? now + HOUR_MS : null);
  }

  #use(limits: readonly Limit[], now: number): AccountUse {
    const createdAt = this.#creations.all(now).map(({ at }) => at);
    return { createdAt, limits, calls: this.#calls, begun: this.#begun.size };
  }

  #take(client: string, now: number): string {
    this.#wakeWithinAnHour();
    return this.#creations.add(client, now);
  }

  #wakeWithinAnHour(): void {
    if (this.#hasAlarm) return;
    this.#hasAlarm = true;
    void this.ctx.storage.setAlarm(Date.now() + HOUR_MS, { allowUnconfirmed: true });
  }
}
