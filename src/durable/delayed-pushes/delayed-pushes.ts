/**
 * The pushes that are published later: when each is due (due.ts, schedule.ts), who publishes it now
 * (stages.ts), and how it ended (endings.ts). One object for all. The content of a push lies
 * encrypted in its spool, and the key in KV, with an expiry: an object can be restored to any
 * moment of 30 days, a key that is deleted or has expired cannot. Only the holder of its lease may
 * publish a push. The lease is stored, so it outlives its holder until it expires. Whoever has lost
 * it can end nothing.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import { randomMoment } from '../../isolate/clock.ts';
import { succeeds } from '../../isolate/within.ts';
import { guardOf } from '../../objects.ts';
import { isSameSecret } from '../../secret/keyed-hash.ts';
import { dueAgainAt, isDue } from '../due-rows.ts';
import { LEASE_MS } from '../lease.ts';
import type { PushIntent } from '../pending-push/pending-push.ts';
import { DAY_MS, leaseOf, shred } from './delayed-push.ts';
import type { BegunPush, DelayedPush, DelayedView, KeepAnswer, LeasedPush } from './delayed-push.ts';
import type { DelayedLease, DelayFailure, NewDelayedPush, PublishedAs, SeenPush } from './delayed-push.ts';
import { DelayedRows, quotaOf } from './delayed-rows.ts';
import { choose, heldForADay, type HostTimes, isOver, type TimedPush, wasTried } from './due.ts';
import { discarded, expired, GIVEN_UP, ROLLED_BACK, unpublishable } from './endings.ts';
import type { DiscardReason, Told } from './endings.ts';
import { SPACING_MS } from './schedule.ts';
import { approved, begun, claimed, dueAtOf, leasedPush, postponed, stopped } from './stages.ts';
import { isAtWork, isBegun, isEnding, isHeld, isTimed, isUnwanted } from './stages.ts';
import { toRemove, withoutLostLease } from './stages.ts';
import type { BegunRow, Ending, HeldStage, StagedPush, StageEvent } from './stages.ts';
import { countsOf, type DelayedCounts, listedOf, viewOf } from './views.ts';

const MINUTE_MS = 60_000;
const LEASE_BYTES = 16;
/** The key of the time before which no other push may be published that waits for a time. */
const SPACED_UNTIL = 'spaced-until';
/** The key under which 1.0.0 stored the latest moment that it had seen. */
const SEEN_TIME = 'seen-time';

/**
 * The answer to whoever ends a push. A `BegunPush` has to be removed from the code host first.
 * `done`: it has ended, nothing was public. `busy`: somebody publishes or removes it. `unknown`: no
 * such push waits.
 */
type EndedEarly = BegunPush | 'done' | 'busy' | 'unknown';

interface Claimed {
  /** The pushes that are to be published now. */
  readonly leases: readonly DelayedLease[];
  /** The moment to ask again; null: none is known. */
  readonly nextAt: number | null;
  /** The hosts whose time decides whether more is due. */
  readonly hosts: readonly string[];
}

export class DelayedPushes extends DurableObject<Env> {
  readonly #rows: DelayedRows;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#rows = new DelayedRows(ctx.storage.sql);
  }

  /**
   * Finds the same push while it waits and nothing of it is public.
   * @param push as `NewDelayedPush` has it
   */
  async findWaiting(push: string): Promise<DelayedView | null> {
    const row = this.#rows.findWaiting(push);
    return row === undefined ? null : viewOf(row, Date.now());
  }

  /** Answers what its page may tell; null: there is none, or no more. */
  async view(name: string): Promise<DelayedView | null> {
    const row = this.#rows.get(name);
    return row === undefined ? null : viewOf(row, Date.now());
  }

  /**
   * Keeps a push. `found`: the same waits already. `full`: there is no room, in all or for its
   * client.
   * @param earlier names under which the client may have kept others
   * @param mostBytes that all clients may keep
   */
  async keep(push: NewDelayedPush, earlier: readonly string[], mostBytes: number): Promise<KeepAnswer> {
    const now = Date.now();
    // A form that is sent twice gives the same name twice.
    const same = this.#waiting(push.name) ?? this.#rows.findWaiting(push.push);
    if (same !== undefined) return { kind: 'found', view: viewOf(same, now) };
    if (!this.#rows.hasRoom(push, earlier, mostBytes))
      return { kind: 'full', clientBytes: quotaOf(mostBytes) };
    const row = this.#rows.add(push);
    await this.#wake();
    return { kind: 'kept', view: viewOf(row, now) };
  }

  /**
   * Makes it due, and leases it, also in the pause after a failed attempt. If it fails again, that
   * does not count: the next pause is no longer, and the push ends no sooner.
   */
  async publishNow(name: string): Promise<DelayedLease | 'busy' | 'review' | 'unknown'> {
    const [row, now] = [this.#waiting(name), Date.now()];
    if (row === undefined || isUnwanted(row)) return 'unknown';
    if (isAtWork(row, now)) return 'busy';
    if (!isTimed(row)) return 'review';
    const { stage } = row;
    const isEarly = wasTried(row) && !isDue(stage.dueAt, now);
    const failures = isEarly ? Math.max(0, row.failures - 1) : row.failures;
    return this.#claim({ ...row, failures, stage: { ...stage, dueAt: Math.min(stage.dueAt, now) } });
  }

  /**
   * Ends what its person wants no more. One that somebody has begun to publish is leased, and ends
   * with `ended`.
   */
  async giveUp(name: string): Promise<EndedEarly> {
    return this.#endEarly(this.#waiting(name), 'give up', GIVEN_UP);
  }

  /**
   * Leases what is to be published now. If hosts were asked for their time, ends what has waited
   * for too long.
   * @param now milliseconds since 1970, by the service's clock
   * @param times of the hosts that were asked; null: none was
   */
  async claim(now: number, times: HostTimes | null = null): Promise<Claimed> {
    if (!this.#rows.isWaiting) return { leases: [], nextAt: null, hosts: [] };
    if (times !== null) await this.#endExpired(now, times);
    const { kv } = this.ctx.storage;
    const spacedUntil = kv.get<number>(SPACED_UNTIL) ?? 0;
    const choice = choose(this.#rows.waiting(), { now, leaseNow: Date.now(), times, spacedUntil });
    if (times !== null) this.#tellOfClock(choice.held, times, now);
    if (choice.picked.some(({ reason }) => reason === 'delay'))
      kv.put(SPACED_UNTIL, now + SPACING_MS + randomMoment(0, SPACING_MS));
    const leases = choice.picked.map((row) => this.#claim(row));
    return { leases, nextAt: choice.nextAt, hosts: choice.hosts };
  }

  /** Reads the push for the holder of its lease; null: the lease is lost. */
  async open(lease: DelayedLease): Promise<LeasedPush | null> {
    const row = this.#held(lease);
    return row === undefined ? null : leasedPush(row);
  }

  /** Notes that the holder is still at work. False: it has lost the lease, and must stop. */
  async renew(lease: DelayedLease): Promise<boolean> {
    const row = this.#held(lease);
    if (row === undefined) return false;
    const { stage } = row;
    const renewed = { ...stage.lease, until: Date.now() + LEASE_MS };
    this.#rows.put({ ...row, stage: { ...stage, lease: renewed } });
    return true;
  }

  /**
   * Stores, before anything is public, what the holder has decided. Answers what the first attempt
   * has decided; null: the lease is lost, so stop.
   */
  async begin(lease: DelayedLease, intent: PushIntent): Promise<PushIntent | null> {
    const row = this.#held(lease);
    return row !== undefined && isBegun(row) ? row.stage.intent : this.rebind(lease, intent);
  }

  /** Stores another decision. Null: as for `begin`. */
  async rebind(lease: DelayedLease, intent: PushIntent): Promise<PushIntent | null> {
    const row = this.#held(lease);
    if (row === undefined) return null;
    this.#rows.put(begun(row, intent));
    return intent;
  }

  /**
   * Ends it: it is published, or what was to be removed is gone. False: the lease is lost, and
   * somebody else decides.
   */
  async ended(
    lease: DelayedLease,
    state: Exclude<Ending['kind'], 'failed'>,
    said: readonly string[],
    as: PublishedAs | null = null,
  ): Promise<boolean> {
    const row = this.#held(lease);
    if (row === undefined) return false;
    if (state !== 'published') await this.#end(row, 'remove', { end: { kind: state }, said });
    else if (as !== null) await this.#end(row, 'publish', { end: { kind: state, as }, said });
    return true;
  }

  /**
   * Notes that an attempt has failed.
   * @param now milliseconds since 1970, by the clock of whoever has tried
   */
  async failed(lease: DelayedLease, failure: DelayFailure, now: number): Promise<void> {
    const row = this.#held(lease);
    if (row === undefined) return;
    if (failure.kind === 'final') return this.#end(row, 'fail', unpublishable(row, failure.said));
    if (failure.kind === 'review') return this.#stop([row], 'ask the operator');
    const dueAt = dueAgainAt(row.failures, Math.max(now, Date.now()), failure.askedMs);
    const failures = row.failures + Number(failure.counts);
    this.#rows.put(postponed(row, dueAt, { said: failure.said, failures }));
  }

  /**
   * Lists the pushes that wait: first those that wait for the operator, then the oldest.
   * @returns `waiting`: how many there are in all
   */
  async list(skip: number, most: number): Promise<{ pushes: readonly DelayedPush[]; waiting: number }> {
    const pushes = this.#rows.waiting(
      'ORDER BY dueAt IS NOT NULL, keptAt, name LIMIT ? OFFSET ?',
      most,
      skip,
    );
    return { pushes: pushes.map(listedOf), waiting: this.#rows.countWaiting() };
  }

  /** Reads one that waits, for the operator; null: it does not wait. */
  async listed(name: string): Promise<DelayedPush | null> {
    const row = this.#waiting(name);
    return row === undefined ? null : listedOf(row);
  }

  /**
   * Lets it be published when it would have been, or now: the operator has seen it. False: it does
   * not wait for that.
   */
  async approve(seen: SeenPush): Promise<boolean> {
    const [row, now] = [this.#seen(seen), Date.now()];
    if (row?.stage.kind !== 'review' && row?.stage.kind !== 'stopped') return false;
    const [from, to] = [Math.max(now, row.from), Math.max(now + MINUTE_MS, row.to)];
    const until = Math.max(row.until, to + DAY_MS);
    this.#rows.put(approved(row, randomMoment(from, to), { from, to, until }));
    return true;
  }

  /** Ends what the operator does not want. Otherwise as `giveUp`. */
  async discard(seen: SeenPush, reason: DiscardReason): Promise<EndedEarly> {
    return this.#endEarly(this.#seen(seen), 'discard', discarded(reason));
  }

  /** Ends what its repository does not want. Otherwise as `giveUp`. @param said why */
  async refuse(seen: SeenPush, said: readonly string[]): Promise<EndedEarly> {
    return this.#endEarly(this.#seen(seen), 'discard', { end: { kind: 'discarded' }, said });
  }

  /**
   * Rolls back: discards what was kept since then, even while it is published, because the lease is
   * lost. Pushes that may already be public in part then wait for the operator.
   * @param since milliseconds since 1970
   */
  async stopSince(since: number): Promise<void> {
    const rows = this.#keptSince(since);
    const rolledBack = { end: { kind: 'discarded' }, said: ROLLED_BACK } as const;
    for (const row of rows) if (!isBegun(row)) await this.#end(row, 'roll back', rolledBack);
    this.#stop(
      rows.filter(({ stage: { kind } }) => kind === 'begun' || kind === 'publishing'),
      'roll back',
    );
  }

  /**
   * Does the same, and leases what may be public already to the caller, who removes it; but not
   * what somebody else removes already.
   */
  async discardSince(since: number): Promise<readonly BegunPush[]> {
    await this.stopSince(since);
    const now = Date.now();
    const left = this.#keptSince(since).filter((row) => !isAtWork(row, now));
    return left.filter(isBegun).map((row) => this.#toRemove(row, 'roll back'));
  }

  /** Makes all that waits for a time due now, before a downgrade. Answers what still waits. */
  async drain(): Promise<DelayedCounts> {
    const now = Date.now();
    for (const row of this.#rows.waiting('AND dueAt > ?', now).filter(isTimed))
      this.#rows.put({ ...row, stage: { ...row.stage, dueAt: now } });
    return this.counts();
  }

  async counts(): Promise<DelayedCounts> {
    return countsOf(this.#rows.waiting());
  }

  /** Forgets what was told for long enough. */
  override async alarm(): Promise<void> {
    await this.#wake();
  }

  /** Ends what has waited for too long, by both clocks. */
  async #endExpired(now: number, times: HostTimes): Promise<void> {
    for (const stored of this.#rows.waiting('AND until <= ?', now)) {
      if (isAtWork(stored, Date.now()) || !isOver(stored, now, times)) continue;
      const row = withoutLostLease(stored, Date.now());
      await this.#end(row, 'expire', expired(row));
    }
  }

  /** Tells the operator of a clock that has held up a push for a day. */
  #tellOfClock(held: readonly TimedPush[], times: HostTimes, now: number): void {
    const late = heldForADay(held, now);
    if (late === undefined) return;
    const there = times[late.host];
    const told = guardOf(this.env).clockApart(there === undefined ? null : there - now);
    this.ctx.waitUntil(succeeds(told));
  }

  /**
   * Lets them wait for the operator, who is told if one did not before. Whoever holds a lease of
   * one has lost it.
   */
  #stop(rows: readonly StagedPush[], event: 'ask the operator' | 'roll back'): void {
    for (const row of rows) this.#rows.put(stopped(row, event));
    if (rows.every((row) => dueAtOf(row) === null)) return;
    const told = this.counts().then(({ waiting }) => guardOf(this.env).toReview(waiting.review));
    this.ctx.waitUntil(succeeds(told));
  }

  #keptSince(since: number): StagedPush[] {
    return this.#rows.waiting('AND keptAt >= ?', since);
  }

  #waiting(name: string): StagedPush | undefined {
    const row = this.#rows.get(name);
    return row === undefined || isEnding(row.stage) ? undefined : withoutLostLease(row, Date.now());
  }

  #seen({ name, attempt }: SeenPush): StagedPush | undefined {
    const row = this.#waiting(name);
    return row?.spool.attempt === attempt ? row : undefined;
  }

  /** Finds the push of a lease. One that has expired is good until somebody else gets one. */
  #held({ name, lease }: DelayedLease): StagedPush<HeldStage> | undefined {
    const row = this.#rows.get(name);
    const isGood = row !== undefined && isHeld(row) && isSameSecret(row.stage.lease.token, lease);
    return isGood ? row : undefined;
  }

  #claim(row: TimedPush): DelayedLease {
    const leased = claimed(row, newLease());
    this.#rows.put(leased);
    return leaseOf(leasedPush(leased));
  }

  #toRemove(row: BegunRow, event: EarlyEvent | 'roll back'): BegunPush {
    const leased = toRemove(withoutLostLease(row, Date.now()) as BegunRow, event, newLease());
    this.#rows.put(leased);
    return { ...leasedPush(leased), intent: row.stage.intent };
  }

  /** @param row undefined: it does not wait */
  async #endEarly(row: StagedPush | undefined, event: EarlyEvent, told: Told): Promise<EndedEarly> {
    if (row === undefined) return 'unknown';
    if (isAtWork(row, Date.now())) return 'busy';
    if (isBegun(row)) return this.#toRemove(row, event);
    await this.#end(row, event, told);
    return 'done';
  }

  async #end(row: StagedPush, event: StageEvent, told: Told): Promise<void> {
    this.#rows.end(row, event, told, Date.now());
    // What stays after a failure here is not readable once the key has expired, and removed by its
    // own alarm.
    this.ctx.waitUntil(succeeds(shred(this.env, row.spool.attempt)));
    await this.#wake();
  }

  /** Forgets what has served, and sets the alarm for what comes next. */
  async #wake(): Promise<void> {
    const next = this.#rows.forget(Date.now());
    this.ctx.storage.kv.delete(SEEN_TIME);
    await this.#rows.erase(this.ctx.storage, SPACED_UNTIL);
    if (next !== null) await this.ctx.storage.setAlarm(Math.max(next, Date.now() + MINUTE_MS));
  }
}

type EarlyEvent = 'give up' | 'discard';

const newLease = () => ({
  token: Buffer.from(crypto.getRandomValues(new Uint8Array(LEASE_BYTES))).toString('hex'),
  until: Date.now() + LEASE_MS,
});
