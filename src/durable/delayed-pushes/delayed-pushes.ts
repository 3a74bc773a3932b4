/**
 * The pushes that are published later: when each is due, who publishes it now, and how it ended.
 * One object for all. What is in a push lies encrypted in its spool, and the key in KV, with an
 * expiry: an object can be restored to any moment of 30 days, a key that is deleted or has expired
 * cannot. Only the holder of its lease may publish a push. It is stored, so a process that dies
 * keeps it until it expires; who has lost it can end nothing here. A clock may be wrong, and
 * corrected while a push waits. So nothing is due, or over, by the service's clock alone: the code
 * host's must say so, too.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import { randomMoment } from '../../isolate/clock.ts';
import { succeeds } from '../../isolate/within.ts';
import { guardOf } from '../../objects.ts';
import { isSameSecret } from '../../secret/keyed-hash.ts';
import { dueAgainAt, earliest, isDue } from '../due-rows.ts';
import { keepOnly } from '../keep-only.ts';
import type { PushIntent } from '../pending-push/pending-push.ts';
import { bytesOf, DAY_MS, DISCARD_REASONS, LEASE_MS, leaseOf, ROLLED_BACK, shred } from './delayed-push.ts';
import type { BegunPush, DelayedPush, DelayedView, KeepAnswer, LeasedPush } from './delayed-push.ts';
import type { DelayFailure, DiscardReason, DelayedLease, NewDelayedPush, SeenPush } from './delayed-push.ts';
import { DelayedRows, quotaOf } from './delayed-rows.ts';
import { pick, SPACING_MS } from './schedule.ts';

const MINUTE_MS = 60_000;
/** Ends of pushes that are written anew when none waits any more. */
const MOST_REWRITTEN = 1_000;
const LEASE_BYTES = 16;
/** Under which it is stored when the next push may be published that waits for a time. */
const SPACED_UNTIL = 'spaced-until';
/** Under which 1.0.0 stored the latest moment that it had seen. */
const SEEN_TIME = 'seen-time';
/** After this time over its end, a push ends by the service's clock alone: its key is gone. */
const REST_MS = 2 * DAY_MS;

const EXPIRED = [
  'It could not be published within the time for which the service keeps a push.',
  'Fetch, and push it again.',
];
const UNSEEN = [
  'The operator of this service did not review it in time, so it was discarded.',
  'You may push it again.',
];
const GIVEN_UP = ['You have given it up. Nothing of it was published.'];
/** Of one that somebody has begun to publish. */
const LEFT = 'Look at the code host first: part of it may be there already.';

type Ended = Exclude<DelayedPush['state'], 'waiting'>;

/**
 * What time it is at each code host, by its key; milliseconds since 1970. One that does not tell is
 * left out.
 */
export type HostTimes = Readonly<Record<string, number>>;

interface Claimed {
  /** What is to be published now. */
  readonly leases: readonly DelayedLease[];
  /** When to ask again; null: there is no need within the minute. */
  readonly nextAt: number | null;
  /** The hosts whose time decides whether more is due. */
  readonly hosts: readonly string[];
}

/**
 * `done`: it has ended, nothing was public. `busy`: somebody publishes it. `unknown`: it waits no
 * more.
 */
type EndedEarly = BegunPush | 'done' | 'busy' | 'unknown';

/** For /metrics, and for the operator. What the operator has approved waits for its time. */
interface DelayedCounts {
  readonly waiting: Readonly<Record<DelayedPush['reason'], number>>;
  readonly bytes: number;
  /** Since when the oldest one waits; null: there is none. */
  readonly oldestAt: number | null;
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
    if (row === undefined || row.isGivenUp) return 'unknown';
    if (isLeased(row, now)) return 'busy';
    if (row.dueAt === null) return 'review';
    const isEarly = wasTried(row) && !isDue(row.dueAt, now);
    const failures = isEarly ? Math.max(0, row.failures - 1) : row.failures;
    return leaseOf(this.#lease({ ...row, failures, dueAt: Math.min(row.dueAt, now) }));
  }

  /**
   * Its person wants it no more. One that somebody has begun to publish is leased, and ends with
   * `ended`.
   */
  async giveUp(name: string): Promise<EndedEarly> {
    return this.#endEarly(this.#waiting(name), 'given-up', GIVEN_UP);
  }

  /**
   * Leases what is to be published now, and ends what has waited for too long.
   * @param now milliseconds since 1970, by the service's clock.
   * @param times of the hosts that were asked; null: none was.
   */
  async claim(now: number, times: HostTimes | null = null): Promise<Claimed> {
    if (!this.#rows.isWaiting) return { leases: [], nextAt: null, hosts: [] };
    if (times !== null) await this.#endExpired(now, times);
    const waiting = this.#rows.select(`state = 'waiting'`);
    const running = waiting.filter((row) => isLeased(row, now));
    const idle = waiting.filter((row) => !isLeased(row, now));
    const ripe = idle.filter((row) => isRipe(row, now));
    const held = ripe.filter((row) => !isRipeThere(row, times));
    if (times !== null) this.#tellOfClock(held, times, now);
    const due = ripe.filter((row) => !held.includes(row));
    const spacedUntil = this.ctx.storage.kv.get<number>(SPACED_UNTIL) ?? 0;
    const picked = pick(due, { running, spacedUntil }, now);
    if (picked.some(({ reason }) => reason === 'delay')) {
      this.ctx.storage.kv.put(SPACED_UNTIL, now + SPACING_MS + randomMoment(0, SPACING_MS));
    }
    const later = waiting.flatMap(({ dueAt }) => (dueAt !== null && dueAt > now ? [dueAt] : []));
    const whenHostSays = held.flatMap(({ host, dueAt }) => {
      const there = times?.[host];
      return there === undefined || dueAt === null ? [] : [now + dueAt - there];
    });
    const isSpaced = due.length > 0 && spacedUntil > now;
    const asked = [...held, ...idle.filter(({ until }) => until <= now)].map(({ host }) => host);
    return {
      leases: picked.map((row) => leaseOf(this.#lease(row))),
      nextAt: earliest(...later, ...whenHostSays, isSpaced ? spacedUntil : null),
      hosts: times === null ? [...new Set(asked)] : [],
    };
  }

  /** Null if the lease is not good any more. */
  async open(lease: DelayedLease): Promise<LeasedPush | null> {
    return this.#leased(lease) ?? null;
  }

  /** It is still at work. False: it has lost the lease, and must stop. */
  async renew(lease: DelayedLease): Promise<boolean> {
    const row = this.#leased(lease);
    if (row === undefined) return false;
    this.#rows.put({ ...row, leaseUntil: Date.now() + LEASE_MS });
    return true;
  }

  /**
   * Before anything is public. Answers what the first attempt has decided; null: the lease is lost,
   * so stop.
   */
  async begin(lease: DelayedLease, intent: PushIntent): Promise<PushIntent | null> {
    return this.#leased(lease)?.intent ?? this.rebind(lease, intent);
  }

  /** Decides anew. @returns null: as for `begin`. */
  async rebind(lease: DelayedLease, intent: PushIntent): Promise<PushIntent | null> {
    const row = this.#leased(lease);
    if (row === undefined) return null;
    this.#rows.put({ ...row, intent });
    return intent;
  }

  /**
   * It is published, or what was to be removed is gone. False: the lease is lost, and somebody else
   * decides.
   */
  async ended(
    lease: DelayedLease,
    state: Ended,
    said: readonly string[],
    published: DelayedPush['published'] = null,
  ): Promise<boolean> {
    const row = this.#leased(lease);
    if (row === undefined) return false;
    await this.#end(row, state, said, published);
    return true;
  }

  /** @param now milliseconds since 1970, by the clock of whoever has tried. */
  async failed(lease: DelayedLease, failure: DelayFailure, now: number): Promise<void> {
    const row = this.#leased(lease);
    if (row === undefined) return;
    if (failure.kind === 'final') return this.#end(row, 'failed', [...failure.said, ...leftOf(row)]);
    if (failure.kind === 'review') return this.#stop([row]);
    const dueAt = dueAgainAt(row.failures, Math.max(now, Date.now()), failure.askedMs);
    this.#rows.put({
      ...row,
      said: failure.said,
      failures: row.failures + Number(failure.counts),
      dueAt: row.dueAt === null ? null : dueAt,
      lease: null,
    });
  }

  /**
   * What waits: first for the operator, then the oldest.
   * @param skip so many.
   * @returns `waiting`: how many in all.
   */
  async list(skip: number, most: number): Promise<{ pushes: readonly DelayedPush[]; waiting: number }> {
    const order = 'ORDER BY dueAt IS NOT NULL, keptAt, name LIMIT ? OFFSET ?';
    const pushes = this.#rows.select(`state = 'waiting' ${order}`, most, skip);
    return { pushes, waiting: this.#rows.countWaiting() };
  }

  /** Null: it does not wait. */
  async listed(name: string): Promise<DelayedPush | null> {
    return this.#waiting(name) ?? null;
  }

  /**
   * The operator has seen it: it is published when it would have been, or now. False: it does not
   * wait for that.
   */
  async approve({ name, attempt }: SeenPush): Promise<boolean> {
    const row = this.#waiting(name);
    if (row === undefined || row.spool.attempt !== attempt || row.dueAt !== null || row.isGivenUp)
      return false;
    const now = Date.now();
    const [from, to] = [Math.max(now, row.from), Math.max(now + MINUTE_MS, row.to)];
    const until = Math.max(row.until, to + DAY_MS);
    this.#rows.put({ ...row, dueAt: randomMoment(from, to), from, to, until, said: [], isApproved: true });
    return true;
  }

  /** The operator does not want it. Otherwise as `giveUp`. */
  async discard({ name, attempt }: SeenPush, reason: DiscardReason): Promise<EndedEarly> {
    const row = this.#waiting(name);
    const why = `The operator of this service has not published it. ${DISCARD_REASONS[reason]}`;
    return this.#endEarly(row?.spool.attempt === attempt ? row : undefined, 'discarded', [why]);
  }

  /**
   * A rollback: what was kept in the last hours goes, even while it is published: the lease is
   * lost. What may be public already waits for the operator, so that nobody publishes the rest.
   * @param since milliseconds since 1970.
   */
  async stopSince(since: number): Promise<void> {
    const rows = this.#keptSince(since);
    for (const row of rows) if (row.intent === null) await this.#end(row, 'discarded', ROLLED_BACK);
    this.#stop(rows.filter(({ intent, dueAt }) => intent !== null && dueAt !== null));
  }

  /**
   * The same. Answers what may be public already, leased, but for what somebody else removes
   * already.
   */
  async discardSince(since: number): Promise<readonly BegunPush[]> {
    await this.stopSince(since);
    const now = Date.now();
    const begun = this.#keptSince(since).filter((row) => row.intent !== null && !isLeased(row, now));
    return begun.map((row) => this.#lease(row) as BegunPush);
  }

  /** Before a downgrade: all that waits for a time is due now. Answers what still waits. */
  async drain(): Promise<DelayedCounts> {
    const now = Date.now();
    for (const row of this.#rows.select(`state = 'waiting' AND dueAt > ?`, now))
      this.#rows.put({ ...row, dueAt: now });
    return this.counts();
  }

  async counts(): Promise<DelayedCounts> {
    const rows = this.#rows.select(`state = 'waiting'`);
    const waiting = { delay: 0, busy: 0, review: 0 };
    for (const row of rows) {
      const reason = row.reason === 'review' ? 'delay' : row.reason;
      waiting[row.dueAt === null ? 'review' : reason] += 1;
    }
    const bytes = rows.reduce((sum, row) => sum + bytesOf(row), 0);
    return { waiting, bytes, oldestAt: earliest(...rows.map(({ keptAt }) => keptAt)) };
  }

  /** Forgets what was told for long enough. */
  override async alarm(): Promise<void> {
    await this.#wake();
  }

  /** Ends what has waited for too long, by both clocks. */
  async #endExpired(now: number, times: HostTimes): Promise<void> {
    for (const row of this.#rows.select(`state = 'waiting' AND until <= ?`, now)) {
      const there = times[row.host] ?? now - REST_MS;
      if (isLeased(row, now) || row.until > there) continue;
      const left = leftOf(row);
      if (row.isGivenUp) await this.#end(row, 'given-up', ['You have given it up.', ...left]);
      else if (row.dueAt === null) await this.#end(row, 'discarded', [...UNSEEN, ...left]);
      else await this.#end(row, 'failed', [...row.said, ...EXPIRED, ...left]);
    }
  }

  /** The operator hears of a clock that has held up a push for a day. */
  #tellOfClock(held: readonly DelayedPush[], times: HostTimes, now: number): void {
    const late = held.find(({ dueAt }) => dueAt !== null && dueAt + DAY_MS <= now);
    if (late === undefined) return;
    const there = times[late.host];
    const told = guardOf(this.env).clockApart(there === undefined ? null : there - now);
    this.ctx.waitUntil(succeeds(told));
  }

  /**
   * They wait for the operator, who is told of what did not before. Who holds a lease of them has
   * lost it.
   */
  #stop(rows: readonly DelayedPush[]): void {
    for (const row of rows) this.#rows.put({ ...row, dueAt: null, said: [], lease: null });
    if (rows.every(({ dueAt }) => dueAt === null)) return;
    const told = this.counts().then(({ waiting }) => guardOf(this.env).toReview(waiting.review));
    this.ctx.waitUntil(succeeds(told));
  }

  #keptSince(since: number): DelayedPush[] {
    return this.#rows.select(`state = 'waiting' AND keptAt >= ?`, since);
  }

  #waiting(name: string): DelayedPush | undefined {
    const row = this.#rows.get(name);
    return row?.state === 'waiting' ? row : undefined;
  }

  /** One that has expired is good until somebody else gets one. */
  #leased({ name, lease }: DelayedLease): LeasedPush | undefined {
    const row = this.#waiting(name);
    const isGood = row !== undefined && row.lease !== null && isSameSecret(row.lease, lease);
    return isGood ? { ...row, lease } : undefined;
  }

  /** A lease that is still there belongs to a process that died. */
  #lease(row: DelayedPush): LeasedPush {
    const lease = Buffer.from(crypto.getRandomValues(new Uint8Array(LEASE_BYTES))).toString('hex');
    const failures = row.failures + Number(row.lease !== null);
    const leased = { ...row, failures, lease, leaseUntil: Date.now() + LEASE_MS };
    this.#rows.put(leased);
    return leased;
  }

  /** @param row undefined: it does not wait. */
  async #endEarly(
    row: DelayedPush | undefined,
    state: 'given-up' | 'discarded',
    said: readonly string[],
  ): Promise<EndedEarly> {
    if (row === undefined) return 'unknown';
    if (isLeased(row, Date.now())) return 'busy';
    if (row.intent !== null) {
      // Whoever removes it may die: it must not be published then.
      const isGivenUp = row.isGivenUp || state === 'given-up';
      return this.#lease({ ...row, dueAt: null, said: [], isGivenUp }) as BegunPush;
    }
    await this.#end(row, state, said);
    return 'done';
  }

  async #end(
    row: DelayedPush,
    state: Ended,
    said: readonly string[],
    published: DelayedPush['published'] = null,
  ): Promise<void> {
    this.#rows.end(row, { state, said, published }, Date.now());
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

/**
 * While it waits for a time: whether the service has tried to publish it, so that the time is the
 * end of a pause.
 */
const wasTried = ({ said }: DelayedPush): boolean => said.length > 0;

const leftOf = ({ intent }: DelayedPush): string[] => (intent === null ? [] : [LEFT]);

/**
 * Whether it is due by the service's clock. The pause after a failure may be counted from a moment
 * of a wrong one.
 */
function isRipe(row: DelayedPush, now: number): boolean {
  const { dueAt } = row;
  return dueAt !== null && (dueAt <= now || (wasTried(row) && isDue(dueAt, now)));
}

/**
 * Whether the host's clock says so, too. What waits for room, or was due before, was promised no
 * time.
 */
function isRipeThere(row: DelayedPush, times: HostTimes | null): boolean {
  const { host, dueAt, reason } = row;
  if (reason === 'busy' || wasTried(row)) return true;
  const there = times?.[host];
  return there !== undefined && dueAt !== null && dueAt <= there;
}

/**
 * @param now by the clock of the object. A lease from a time to which that had jumped by mistake is
 * none.
 */
function isLeased({ lease, leaseUntil }: DelayedPush, now: number): boolean {
  return lease !== null && now < leaseUntil && leaseUntil <= now + LEASE_MS;
}

function viewOf(row: DelayedPush, now: number): DelayedView {
  const { name, reason, from, to, until, state, isGivenUp, said, published } = row;
  const waitsForReview = state === 'waiting' && row.dueAt === null;
  const told = { name, reason, from, to, until, state, isGivenUp, said, published };
  return { ...told, waitsForReview, isBeingPublished: isLeased(row, now), isBegun: row.intent !== null };
}
