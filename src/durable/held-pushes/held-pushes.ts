/**
 * The pushes that were accepted and are published later: when each is due, who publishes it now, and how it ended. One
 * object for the whole service.
 *
 * What is in a push lies encrypted in its spool, and the key in KV, with an expiry: an object can be restored to any
 * moment of 30 days, a key that has expired cannot. When a push was published, its row is deleted, and with the last
 * row the file's content, so that nothing shows when it was held.
 *
 * Only the holder of its lease may publish a push. The lease is stored, so a process that dies keeps it until it
 * expires; it has to be renewed, and a holder that has lost it can end nothing here.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../../env.ts';
import { randomMoment } from '../../secret/random-moment.ts';
import { isSameSecret } from '../../secret/same-secret.ts';
import { backOffMs } from '../due-rows.ts';
import { keepOnly } from '../keep-only.ts';
import {
  DISCARD_REASONS,
  type DiscardReason,
  type HeldSpool,
  type HeldView,
  type HoldFailure,
  type HoldReason,
  type HoldState,
  type HoldToReview,
  type LeasedHold,
  type NewHold,
  type SeenHold,
} from './held-push-record.ts';
import { pick, SPACING_MS, type Waiting } from './schedule.ts';
import { shred } from './shred.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Of those that end otherwise than in a pull request: how long their pages tell it. */
const TOLD_MS = 14 * DAY_MS;
/** A step of publishing may take this long without a sign of life. */
export const LEASE_MS = 5 * MINUTE_MS;
const LEASE_BYTES = 16;
/** Of all bytes, for the pushes of one client. */
const MOST_OF_ONE_CLIENT = 1 / 10;
/** How many are held; and of how many that have ended the pages stay for a while. */
const MOST_ROWS = 10_000;
const LONGEST_PAUSE_MS = 60 * MINUTE_MS;
/** Waits for the operator. */
const TO_REVIEW = `state = 'held' AND due_at IS NULL`;
/** Under which it is stored when the next push may be published that waits for a time. */
const SPACED_UNTIL = 'spaced-until';

const EXPIRED = [
  'It could not be published within the time for which the service holds a push.',
  'Fetch, and push it again.',
];
const UNSEEN = [
  'The operator of this service did not review it in time, so it was discarded.',
  'You may push it again.',
];

/** As a query answers it. */
type Row = Omit<NewHold, 'isUpdate' | 'isBegun' | 'spool'> & {
  state: HoldState;
  said: string;
  isUpdate: number;
  attempt: string;
  rowEnds: string;
  bytes: number;
  failures: number;
  lease: string | null;
  leaseUntil: number;
};

const COLUMNS = `pr_hash AS prHash, host, reason, state, said, push, same, client, is_update AS isUpdate, attempt,
  row_ends AS rowEnds, entry_bytes AS entryBytes, bytes, commits, held_at AS heldAt, from_at AS "from", to_at AS "to",
  due_at AS dueAt, until, failures, lease, lease_until AS leaseUntil`;

export interface Lease {
  readonly prHash: string;
  readonly lease: string;
}

/** For /metrics, and for the operator. */
export interface HeldCounts {
  readonly held: Readonly<Record<HoldReason, number>>;
  readonly bytes: number;
  /** Since when the oldest one is held; null: there is none. */
  readonly oldestAt: number | null;
}

export class HeldPushes extends DurableObject<Env> {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#createTable();
  }

  #createTable(): void {
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS held (
      pr_hash TEXT PRIMARY KEY, host TEXT NOT NULL, reason TEXT NOT NULL, state TEXT NOT NULL, said TEXT NOT NULL,
      push TEXT NOT NULL, same TEXT NOT NULL, client TEXT NOT NULL, is_update INTEGER NOT NULL,
      attempt TEXT NOT NULL, row_ends TEXT NOT NULL, entry_bytes INTEGER NOT NULL, bytes INTEGER NOT NULL,
      commits INTEGER NOT NULL, held_at INTEGER NOT NULL, from_at INTEGER NOT NULL, to_at INTEGER NOT NULL,
      due_at INTEGER, until INTEGER NOT NULL, failures INTEGER NOT NULL, lease TEXT, lease_until INTEGER NOT NULL)`);
  }

  /**
   * Keeps a push. An older one of the same pull request is gone then.
   * @param mostBytes of all that are held. @param lease what `take` has given for the older one.
   * @returns false: there is no room, or the older one is being published. Nothing is kept then.
   */
  async hold(hold: NewHold, mostBytes: number, lease: string | null): Promise<boolean> {
    const before = this.#row(hold.prHash);
    const bytes = hold.spool.rowEnds.at(-1) ?? 0;
    if (!this.#hasRoom(hold, bytes, mostBytes)) return false;
    if (before !== undefined && this.#isLeased(before, Date.now()) && before.lease !== lease) return false;
    const wasBegun =
      before?.state === 'held' && isBegun({ ...before, lease: before.lease === lease ? null : before.lease });
    this.#sql.exec(
      `INSERT OR REPLACE INTO held VALUES (?, ?, ?, 'held', '[]', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 0)`,
      hold.prHash,
      hold.host,
      hold.reason,
      hold.push,
      hold.same,
      hold.client,
      Number(hold.isUpdate),
      hold.spool.attempt,
      JSON.stringify(hold.spool.rowEnds),
      hold.entryBytes,
      bytes,
      hold.commits,
      hold.heldAt,
      hold.from,
      hold.to,
      hold.dueAt,
      hold.until,
      Number(hold.isBegun || wasBegun),
    );
    if (before !== undefined) this.#shred(before);
    await this.#wake();
    return true;
  }

  /** Null: nothing is known of it. */
  async find(prHash: string): Promise<HeldView | null> {
    const row = this.#row(prHash);
    return row === undefined ? null : viewOf(row, this.#isLeased(row, Date.now()));
  }

  /**
   * The same of one that is held, and updates nothing. @param client its random name. @param push as `NewHold` has it.
   */
  async findPush(client: string, push: string): Promise<HeldView | null> {
    const isIt = `client = ? AND push = ? AND state = 'held' AND is_update = 0 LIMIT 1`;
    const [row] = this.#rows(isIt, client, push);
    return row === undefined ? null : viewOf(row, this.#isLeased(row, Date.now()));
  }

  /**
   * Gives up a push that its person wants no more. @returns `begun`: it was tried to publish it, and nobody knows how
   * far that came.
   */
  async cancel(prHash: string, said: readonly string[]): Promise<'cancelled' | 'begun' | 'unknown' | 'busy'> {
    const row = this.#row(prHash);
    if (row === undefined || row.state !== 'held') return 'unknown';
    if (this.#isLeased(row, Date.now())) return 'busy';
    await this.#end(row, 'cancelled', said);
    return isBegun(row) ? 'begun' : 'cancelled';
  }

  /**
   * A lease for a live push that publishes it in its own way: nobody else does meanwhile. Ends with `published` or
   * `giveBack`. Null: it is being published, or held no more.
   */
  async take(prHash: string): Promise<string | null> {
    const row = this.#row(prHash);
    if (row === undefined || row.state !== 'held' || this.#isLeased(row, Date.now())) return null;
    return this.#lease(prHash, Date.now());
  }

  /**
   * What is to be published now, each with a lease.
   * @param triggeredAt milliseconds since 1970, by the clock of the cron trigger. Leases go by this object's clock: a
   *   late run must not mistake a lease that was given meanwhile for one from before the clock was set back.
   */
  async claim(triggeredAt: number): Promise<Lease[]> {
    const now = Math.max(triggeredAt, Date.now());
    this.#limitTimes(now);
    const rows = this.#rows(`state = 'held' AND (lease IS NOT NULL OR due_at <= ${now})`);
    const running = rows.filter((row) => this.#isLeased(row, now));
    const due = rows.filter(
      (row): row is Row & Waiting => !running.includes(row) && row.dueAt !== null && row.dueAt <= now,
    );
    const spacedUntil = this.ctx.storage.kv.get<number>(SPACED_UNTIL) ?? 0;
    const picked = pick(due, { running, spacedUntil }, now);
    if (picked.some(({ reason }) => reason === 'delay')) {
      this.ctx.storage.kv.put(SPACED_UNTIL, now + SPACING_MS + randomMoment(0, SPACING_MS));
    }
    return picked.map(({ prHash }) => ({ prHash, lease: this.#lease(prHash, now) }));
  }

  /** Null if the lease is not good any more. */
  async open({ prHash, lease }: Lease): Promise<LeasedHold | null> {
    const row = this.#leased({ prHash, lease });
    if (row === undefined) return null;
    const { host, client, reason, entryBytes, failures, isUpdate } = row;
    const spool = spoolIn(row);
    return { prHash, host, client, reason, spool, entryBytes, failures, isUpdate: isUpdate === 1 };
  }

  /** It is still at work. False: it has lost the lease, and must stop. */
  async renew(lease: Lease): Promise<boolean> {
    if (this.#leased(lease) === undefined) return false;
    const until = Date.now() + LEASE_MS;
    this.#sql.exec(
      'UPDATE held SET lease_until = max(lease_until, ?) WHERE pr_hash = ?',
      until,
      lease.prHash,
    );
    return true;
  }

  /** It is a pull request now: nothing of it is left here. */
  async published(lease: Lease): Promise<void> {
    const row = this.#leased(lease);
    if (row === undefined) return;
    this.#sql.exec('DELETE FROM held WHERE pr_hash = ?', row.prHash);
    await this.#eraseIfEmpty();
    this.#shred(row);
    await this.#wake();
  }

  /** @param now milliseconds since 1970, by the clock of the cron trigger. */
  async failed(lease: Lease, failure: HoldFailure, now: number): Promise<void> {
    const row = this.#leased(lease);
    if (row === undefined) return;
    if (failure.kind === 'final') return this.#end(row, 'failed', failure.said);
    const pauseMs = Math.max(backOffMs(row.failures, LONGEST_PAUSE_MS), failure.askedMs);
    this.#sql.exec(
      'UPDATE held SET said = ?, failures = failures + ?, due_at = ?, lease = NULL WHERE pr_hash = ?',
      JSON.stringify(failure.said),
      Number(failure.counts),
      now + pauseMs,
      row.prHash,
    );
  }

  /** Returns a push that was taken and not published. @param isUnknown nobody knows how far publishing came. */
  async giveBack(lease: Lease, isUnknown = false): Promise<void> {
    if (this.#leased(lease) === undefined) return;
    this.#sql.exec(
      'UPDATE held SET failures = max(failures, ?), lease = NULL WHERE pr_hash = ?',
      Number(isUnknown),
      lease.prHash,
    );
  }

  /**
   * Those that the operator is to see, oldest first.
   * @param skip how many to leave out. @returns `waiting`: how many there are in all.
   */
  async toReview(
    skip: number,
    most: number,
  ): Promise<{ readonly holds: readonly HoldToReview[]; readonly waiting: number }> {
    const rows = this.#rows(`${TO_REVIEW} ORDER BY held_at, pr_hash`);
    return { holds: rows.slice(skip, skip + most).map(toReviewOf), waiting: rows.length };
  }

  /** Null: it does not wait for the operator. */
  async findToReview(prHash: string): Promise<HoldToReview | null> {
    const row = this.#row(prHash);
    return row?.state === 'held' && row.dueAt === null ? toReviewOf(row) : null;
  }

  /**
   * The operator has seen it: it is published when it would have been. False: it does not wait for that any more, or
   * its author has replaced it.
   */
  async approve(seen: SeenHold): Promise<boolean> {
    const row = this.#seen(seen);
    if (row === undefined) return false;
    const now = Date.now();
    const dueAt = randomMoment(Math.max(now, row.from), Math.max(now, row.to));
    this.#sql.exec('UPDATE held SET due_at = ? WHERE pr_hash = ?', dueAt, row.prHash);
    return true;
  }

  /** False: as for `approve`. */
  async discard(seen: SeenHold, reason: DiscardReason): Promise<boolean> {
    const row = this.#seen(seen);
    if (row === undefined) return false;
    const why = DISCARD_REASONS[reason];
    await this.#end(row, 'discarded', [`The operator of this service has not published it. ${why}`]);
    return true;
  }

  /** A rollback: those of the last hours go, too. @param since milliseconds since 1970. Answers how many. */
  async discardSince(since: number): Promise<number> {
    const rows = this.#rows(`state = 'held' AND held_at >= ${since}`);
    const why = 'It came with a burst of pushes, which the operator has rolled back. You may push it again.';
    for (const row of rows) await this.#end(row, 'discarded', [why]);
    return rows.length;
  }

  /** Before a downgrade: all that waits for a time is due now. Answers what is still held. */
  async drain(): Promise<HeldCounts> {
    this.#sql.exec(`UPDATE held SET due_at = min(due_at, ?) WHERE state = 'held'`, Date.now());
    return this.counts();
  }

  async counts(): Promise<HeldCounts> {
    const held = { delay: 0, busy: 0, review: 0 };
    let [bytes, oldestAt]: [number, number | null] = [0, null];
    for (const row of this.#rows(`state = 'held'`)) {
      held[row.dueAt === null ? 'review' : row.reason] += 1;
      bytes += row.bytes;
      oldestAt = Math.min(oldestAt ?? row.heldAt, row.heldAt);
    }
    return { held, bytes, oldestAt };
  }

  /** Ends what has been held for too long, and forgets what was told for long enough. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    for (const row of this.#rows(`until <= ${now}`)) {
      if (row.state !== 'held') this.#sql.exec('DELETE FROM held WHERE pr_hash = ?', row.prHash);
      else if (row.dueAt === null) await this.#end(row, 'discarded', UNSEEN);
      else if (!this.#isLeased(row, now))
        await this.#end(row, 'failed', [...JSON.parse(row.said), ...EXPIRED]);
    }
    await this.#eraseIfEmpty();
    await this.#wake();
  }

  /**
   * Rows that are only deleted can still be read in the file. While others wait, that is accepted: a machine that dies
   * while everything is written again would lose them.
   */
  async #eraseIfEmpty(): Promise<void> {
    if (this.#rows('true LIMIT 1').length > 0) return;
    const spacedUntil = this.ctx.storage.kv.get<number>(SPACED_UNTIL);
    const erased = keepOnly(
      this.ctx.storage,
      spacedUntil === undefined ? [] : [[SPACED_UNTIL, spacedUntil]],
      null,
    );
    this.#createTable();
    await erased;
  }

  #row(prHash: string): Row | undefined {
    return this.#rows('pr_hash = ?', prHash)[0];
  }

  #rows(condition: string, ...values: readonly string[]): Row[] {
    return this.#sql.exec<Row>(`SELECT ${COLUMNS} FROM held WHERE ${condition}`, ...values).toArray();
  }

  #seen({ prHash, attempt }: SeenHold): Row | undefined {
    const row = this.#row(prHash);
    return row?.state === 'held' && row.dueAt === null && row.attempt === attempt ? row : undefined;
  }

  /** What has ended takes no room: see `#forgetOldest`. */
  #hasRoom({ prHash, client }: NewHold, bytes: number, mostBytes: number): boolean {
    const { rows, all, ownRows, own } = this.#sql
      .exec<Record<'rows' | 'all' | 'ownRows' | 'own', number>>(
        `SELECT count(*) AS rows, total(bytes) AS "all", count(*) FILTER (WHERE client = ?2) AS ownRows,
        total(bytes) FILTER (WHERE client = ?2) AS own FROM held WHERE pr_hash <> ?1 AND state = 'held'`,
        prHash,
        client,
      )
      .one();
    const isWithin = all + bytes <= mostBytes && rows < MOST_ROWS;
    const isFair =
      own + bytes <= shareOf(mostBytes, all - own) && ownRows < shareOf(MOST_ROWS, rows - ownRows);
    return isWithin && isFair;
  }

  /** A clock that was set back: nothing waits for longer than it was to. */
  #limitTimes(now: number): void {
    this.#sql.exec(
      `UPDATE held SET from_at = from_at - held_at + ?1, to_at = to_at - held_at + ?1, due_at = due_at - held_at + ?1,
      until = until - held_at + ?1, held_at = ?1 WHERE held_at > ?1 AND state = 'held'`,
      now,
    );
  }

  /** A lease that was neither ended nor given back belongs to a process that died. */
  #lease(prHash: string, now: number): string {
    const lease = Buffer.from(crypto.getRandomValues(new Uint8Array(LEASE_BYTES))).toString('hex');
    const until = now + LEASE_MS;
    this.#sql.exec(
      `UPDATE held SET failures = failures + (lease IS NOT NULL), lease = ?, lease_until = ? WHERE pr_hash = ?`,
      lease,
      until,
      prHash,
    );
    return lease;
  }

  /** If the clock was set back, a lease lasts no longer either. */
  #isLeased({ lease, leaseUntil: until }: Row, now: number): boolean {
    return lease !== null && now < until && until <= now + LEASE_MS;
  }

  /** One that has expired is good until somebody else gets one. */
  #leased({ prHash, lease }: Lease): Row | undefined {
    const row = this.#row(prHash);
    const isHolder = row !== undefined && row.lease !== null && isSameSecret(row.lease, lease);
    return isHolder && row.state === 'held' ? row : undefined;
  }

  async #end(row: Row, state: HoldState, said: readonly string[]): Promise<void> {
    this.#sql.exec(
      `UPDATE held SET state = ?, said = ?, lease = NULL, bytes = 0, until = ? WHERE pr_hash = ?`,
      state,
      JSON.stringify(said),
      Date.now() + TOLD_MS,
      row.prHash,
    );
    this.#forgetOldest();
    this.#shred(row);
    await this.#wake();
  }

  /** Of those that have ended. */
  #forgetOldest(): void {
    const ended = `state <> 'held'`;
    this.#sql.exec(
      `DELETE FROM held WHERE ${ended} AND pr_hash NOT IN
       (SELECT pr_hash FROM held WHERE ${ended} ORDER BY until DESC LIMIT ?)`,
      MOST_ROWS,
    );
  }

  /** What stays after a failure here is not readable once the key has expired, and removed by its own alarm. */
  #shred({ attempt }: Row): void {
    this.ctx.waitUntil(shred(this.env, attempt).catch(() => {}));
  }

  async #wake(): Promise<void> {
    const { at } = this.#sql.exec<{ at: number | null }>('SELECT min(until) AS at FROM held').one();
    if (at === null) await this.ctx.storage.deleteAlarm();
    else await this.ctx.storage.setAlarm(Math.max(at, Date.now() + MINUTE_MS));
  }
}

/** What one client may have: a part of what the others leave, so that it is never all used up. */
const shareOf = (most: number, others: number): number => MOST_OF_ONE_CLIENT * (most - others);

/** Whether somebody tried to publish it, including a process that died and left its lease. */
function isBegun({ reason, failures, lease }: Row): boolean {
  return reason === 'busy' || failures > 0 || lease !== null;
}

function viewOf(row: Row, isBeingPublished: boolean): HeldView {
  const { prHash, host, reason, state, same, from, to, until } = row;
  const said = JSON.parse(row.said) as string[];
  const view = { prHash, host, reason, state, said, same, from, to, until, isUpdate: row.isUpdate === 1 };
  return { ...view, isBegun: isBegun(row), isBeingPublished };
}

function spoolIn({ attempt, rowEnds }: Row): HeldSpool {
  return { attempt, rowEnds: JSON.parse(rowEnds) as number[] };
}

function toReviewOf(row: Row): HoldToReview {
  const { prHash, host, bytes, commits, entryBytes, heldAt } = row;
  const isUpdate = row.isUpdate === 1;
  return { prHash, host, spool: spoolIn(row), bytes, commits, entryBytes, heldAt, isUpdate };
}
