/**
 * The pushes that are published later: when each is due (due.ts, schedule.ts), who publishes it
 * now, and how it ended (stages.ts). One object for all. The content of a push lies encrypted in
 * its spool, and the key in KV, with an expiry: an object can be restored to any moment of 30 days,
 * a key that is deleted or has expired cannot. Only the holder of its lease may publish a push. It
 * is stored, so a process that dies keeps it until it expires. Who has lost it can end nothing.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import { randomMoment } from '../../isolate/clock.ts';
import { succeeds } from '../../isolate/within.ts';
import { guardOf } from '../../objects.ts';
import { isSameSecret } from '../../secret/keyed-hash.ts';
import { dueAgainAt, isDue } from '../due-rows.ts';
import { keepOnly } from '../keep-only.ts';
import type { PushIntent } from '../pending-push/pending-push.ts';
import { DAY_MS, DISCARD_REASONS, leaseOf, ROLLED_BACK, shred } from './delayed-push.ts';
import type { BegunPush, DelayedPush, DelayedView, KeepAnswer, LeasedPush } from './delayed-push.ts';
import type { DelayFailure, DelayedLease, DiscardReason, NewDelayedPush } from './delayed-push.ts';
import type { PublishedAs, SeenPush } from './delayed-push.ts';
import { DelayedRows, quotaOf } from './delayed-rows.ts';
import { choose, heldForADay, type HostTimes, isOver, type TimedPush, wasTried } from './due.ts';
import { SPACING_MS } from './schedule.ts';
import { approved, begun, claimed, dueAtOf, LEASE_MS, leasedPush, postponed, stopped } from './stages.ts';
import { isAtWork, isBegun, isEnding, isHeld, isTimed, isUnwanted } from './stages.ts';
import { toRemove, withoutLostLease } from './stages.ts';
import type { BegunRow, Ending, HeldStage, StagedPush, StageEvent } from './stages.ts';
import { countsOf, type DelayedCounts, listedOf, viewOf } from './views.ts';

const MINUTE_MS = 60_000;
/** Ends of pushes that are written anew when none waits any more. */
const MOST_REWRITTEN = 1_000;
const LEASE_BYTES = 16;
/** The key of the time before which no other push may be published that waits for a time. */
const SPACED_UNTIL = 'spaced-until';
/** The key under which 1.0.0 stored the latest moment that it had seen. */
const SEEN_TIME = 'seen-time';

const EXPIRED = [
  'It could not be published within the time for which the service keeps a push.',
  'Fetch, and push it again.',
];
const UNSEEN = [
  'The operator of this service did not review it in time, so it was discarded.',
  'You may push it again.',
];
const GIVEN_UP = ['You have given it up. Nothing of it was published.'];
/** Said of one that somebody has begun to publish. */
const LEFT = 'Look at the code host first: part of it may be there already.';

/**
 * `done`: it has ended, nothing was public. `busy`: somebody publishes it. `unknown`: it waits no
 * more.
 */
type EndedEarly = BegunPush | 'done' | 'busy' | 'unknown';

interface Claimed {
  /** What is to be published now. */
  readonly leases: readonly DelayedLease[];
  /** When to ask again; null: there is no need within the minute. */
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
   * @param push as `NewDelayedPush` has it.
   */
  async findWaiting(push: string): Promise<DelayedView | null> {
    const row = this.#rows.findWaiting(push);
    return row === undefined ? null : viewOf(row, Date.now());
  }

  /** Null: there is none (any more). */
  async view(name: string): Promise<DelayedView | null> {
    const row = this.#rows.get(name);
    return row === undefined ? null : viewOf(row, Date.now());
  }

  /**
   * Keeps it. `found`: the same waits already. `full`: there is no room, in all or for its client.
   * @param earlier under which names the client may have kept others.
   * @param mostBytes of all.
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
   * Its person wants it no more. One that somebody has begun to publish is leased, and ends with
   * `ended`.
   */
  async giveUp(name: string): Promise<EndedEarly> {
    return this.#endEarly(this.#waiting(name), 'give up', GIVEN_UP);
  }

  /**
   * Leases what is to be published now, and ends what has waited for too long.
   * @param now milliseconds since 1970, by the service's clock.
   * @param times of the hosts that were asked; null: none was.
   */
  async claim(now: number, times: HostTimes | null = null): Promise<Claimed> {
    if (!this.#rows.isWaiting) return { leases: [], nextAt: null, hosts: [] };
    if (times !== null) await this.#endExpired(now, times);
    const { kv } = this.ctx.storage;
    const spacedUntil = kv.get<number>(SPACED_UNTIL) ?? 0;
    const choice = choose(this.#rows.waiting(), { now, times, spacedUntil });
    if (times !== null) this.#tellOfClock(choice.held, times, now);
    if (choice.picked.some(({ reason }) => reason === 'delay'))
      kv.put(SPACED_UNTIL, now + SPACING_MS + randomMoment(0, SPACING_MS));
    const leases = choice.picked.map((row) => this.#claim(row));
    return { leases, nextAt: choice.nextAt, hosts: choice.hosts };
  }

  /** Null if the lease is not good any more. */
  async open(lease: DelayedLease): Promise<LeasedPush | null> {
    const row = this.#held(lease);
    return row === undefined ? null : leasedPush(row);
  }

  /** It is still at work. False: it has lost the lease, and must stop. */
  async renew(lease: DelayedLease): Promise<boolean> {
    const row = this.#held(lease);
    if (row === undefined) return false;
    const { stage } = row;
    const renewed = { ...stage.lease, until: Date.now() + LEASE_MS };
    this.#rows.put({ ...row, stage: { ...stage, lease: renewed } });
    return true;
  }

  /**
   * Before anything is public. Answers what the first attempt has decided; null: the lease is lost,
   * so stop.
   */
  async begin(lease: DelayedLease, intent: PushIntent): Promise<PushIntent | null> {
    const row = this.#held(lease);
    return row !== undefined && isBegun(row) ? row.stage.intent : this.rebind(lease, intent);
  }

  /** Decides anew. @returns null: as for `begin`. */
  async rebind(lease: DelayedLease, intent: PushIntent): Promise<PushIntent | null> {
    const row = this.#held(lease);
    if (row === undefined) return null;
    this.#rows.put(begun(row, intent));
    return intent;
  }

  /**
   * It is published, or what was to be removed is gone. False: the lease is lost, and somebody else
   * decides.
   */
  async ended(
    lease: DelayedLease,
    state: Exclude<Ending['kind'], 'failed'>,
    said: readonly string[],
    as: PublishedAs | null = null,
  ): Promise<boolean> {
    const row = this.#held(lease);
    if (row === undefined) return false;
    if (state !== 'published') await this.#end(row, 'remove', { kind: state }, said);
    else if (as !== null) await this.#end(row, 'publish', { kind: state, as }, said);
    return true;
  }

  /** @param now milliseconds since 1970, by the clock of whoever has tried. */
  async failed(lease: DelayedLease, failure: DelayFailure, now: number): Promise<void> {
    const row = this.#held(lease);
    if (row === undefined) return;
    if (failure.kind === 'final')
      return this.#end(row, 'fail', { kind: 'failed' }, [...failure.said, ...leftOf(row)]);
    if (failure.kind === 'review') return this.#stop([row], 'ask the operator');
    const dueAt = dueAgainAt(row.failures, Math.max(now, Date.now()), failure.askedMs);
    const failures = row.failures + Number(failure.counts);
    this.#rows.put(postponed(row, dueAt, { said: failure.said, failures }));
  }

  /**
   * What waits: first for the operator, then the oldest.
   * @param skip so many.
   * @returns `waiting`: how many in all.
   */
  async list(skip: number, most: number): Promise<{ pushes: readonly DelayedPush[]; waiting: number }> {
    const pushes = this.#rows.waiting(
      'ORDER BY dueAt IS NOT NULL, keptAt, name LIMIT ? OFFSET ?',
      most,
      skip,
    );
    return { pushes: pushes.map(listedOf), waiting: this.#rows.countWaiting() };
  }

  /** Null: it does not wait. */
  async listed(name: string): Promise<DelayedPush | null> {
    const row = this.#waiting(name);
    return row === undefined ? null : listedOf(row);
  }

  /**
   * The operator has seen it: it is published when it would have been, or now. False: it does not
   * wait for that.
   */
  async approve(seen: SeenPush): Promise<boolean> {
    const [row, now] = [this.#seen(seen), Date.now()];
    if (row?.stage.kind !== 'review' && row?.stage.kind !== 'stopped') return false;
    const [from, to] = [Math.max(now, row.from), Math.max(now + MINUTE_MS, row.to)];
    const until = Math.max(row.until, to + DAY_MS);
    this.#rows.put(approved(row, randomMoment(from, to), { from, to, until }));
    return true;
  }

  /** The operator does not want it. Otherwise as `giveUp`. */
  async discard(seen: SeenPush, reason: DiscardReason): Promise<EndedEarly> {
    const why = `The operator of this service has not published it. ${DISCARD_REASONS[reason]}`;
    return this.#endEarly(this.#seen(seen), 'discard', [why]);
  }

  /**
   * A rollback: what was kept in the last hours goes, even while it is published: the lease is
   * lost. What may be public already waits for the operator, so that nobody publishes the rest.
   * @param since milliseconds since 1970.
   */
  async stopSince(since: number): Promise<void> {
    const rows = this.#keptSince(since);
    for (const row of rows)
      if (!isBegun(row)) await this.#end(row, 'roll back', { kind: 'discarded' }, ROLLED_BACK);
    this.#stop(
      rows.filter(({ stage: { kind } }) => kind === 'begun' || kind === 'publishing'),
      'roll back',
    );
  }

  /**
   * The same. Answers what may be public already, leased, but for what somebody else removes
   * already.
   */
  async discardSince(since: number): Promise<readonly BegunPush[]> {
    await this.stopSince(since);
    const now = Date.now();
    const left = this.#keptSince(since).filter((row) => !isAtWork(row, now));
    return left.filter(isBegun).map((row) => this.#toRemove(row, 'roll back'));
  }

  /** Before a downgrade: all that waits for a time is due now. Answers what still waits. */
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
      if (isAtWork(stored, now) || !isOver(stored, now, times)) continue;
      const row = withoutLostLease(stored, now);
      const left = leftOf(row);
      if (isUnwanted(row))
        await this.#end(row, 'expire', { kind: 'given-up' }, ['You have given it up.', ...left]);
      else if (isTimed(row))
        await this.#end(row, 'expire', { kind: 'failed' }, [...row.said, ...EXPIRED, ...left]);
      else await this.#end(row, 'expire', { kind: 'discarded' }, [...UNSEEN, ...left]);
    }
  }

  /** The operator hears of a clock that has held up a push for a day. */
  #tellOfClock(held: readonly TimedPush[], times: HostTimes, now: number): void {
    const late = heldForADay(held, now);
    if (late === undefined) return;
    const there = times[late.host];
    const told = guardOf(this.env).clockApart(there === undefined ? null : there - now);
    this.ctx.waitUntil(succeeds(told));
  }

  /**
   * They wait for the operator, who is told of what did not before. Who holds a lease of them has
   * lost it.
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

  /** One that has expired is good until somebody else gets one. */
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

  /** @param row undefined: it does not wait. */
  async #endEarly(
    row: StagedPush | undefined,
    event: EarlyEvent,
    said: readonly string[],
  ): Promise<EndedEarly> {
    if (row === undefined) return 'unknown';
    if (isAtWork(row, Date.now())) return 'busy';
    if (isBegun(row)) return this.#toRemove(row, event);
    await this.#end(row, event, { kind: event === 'give up' ? 'given-up' : 'discarded' }, said);
    return 'done';
  }

  async #end(row: StagedPush, event: StageEvent, end: Ending, said: readonly string[]): Promise<void> {
    this.#rows.end(row, event, end, said, Date.now());
    // What stays after a failure here is not readable once the key has expired, and removed by its
    // own alarm.
    this.ctx.waitUntil(succeeds(shred(this.env, row.spool.attempt)));
    await this.#wake();
  }

  /** Forgets what has served, and sets the alarm for what comes next. */
  async #wake(): Promise<void> {
    const next = this.#rows.forget(Date.now());
    this.ctx.storage.kv.delete(SEEN_TIME);
    await this.#erase();
    if (next !== null) await this.ctx.storage.setAlarm(Math.max(next, Date.now() + MINUTE_MS));
  }

  /**
   * What a row has held can still be read in the file, as long as that is not written anew. While a
   * push waits, that is accepted: a machine that dies in this moment would lose it. The ends that
   * are told then are the lesser loss.
   */
  async #erase(): Promise<void> {
    if (this.#rows.isWaiting) return;
    const ended = this.#rows.select('true LIMIT ?', MOST_REWRITTEN + 1);
    if (ended.length > MOST_REWRITTEN) return;
    const { storage } = this.ctx;
    const spacedUntil = storage.kv.get(SPACED_UNTIL);
    const kept = spacedUntil === undefined ? [] : [[SPACED_UNTIL, spacedUntil] as const];
    const erased = keepOnly(storage, kept, null);
    this.#rows.create();
    for (const row of ended) this.#rows.put(row);
    await erased;
  }
}

type EarlyEvent = 'give up' | 'discard';

const newLease = () => ({
  token: Buffer.from(crypto.getRandomValues(new Uint8Array(LEASE_BYTES))).toString('hex'),
  until: Date.now() + LEASE_MS,
});

const leftOf = (row: StagedPush): string[] => (isBegun(row) ? [LEFT] : []);
