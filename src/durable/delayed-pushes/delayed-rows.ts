/** The table of delayed pushes: what is stored of one while it waits, and what stays when it has ended. */
import type {
  DelayedIntent,
  DelayedSpool,
  DelayedView,
  DelayState,
  LeasedPush,
  ListedPush,
  NewDelayedPush,
  PublishedAs,
} from './delayed-push.ts';
import { DAY_MS } from './seen-clock.ts';

/** How long the page of one that has ended tells it. */
const TOLD_MS = 14 * DAY_MS;
/** How long the same push finds one that has ended. */
const FOUND_MS = DAY_MS;
/** After this time, two pushes of one client have no name in common. */
const NAMED_MS = DAY_MS;
/** How many wait; and of how many that have ended the pages stay for a while. */
const MOST_ROWS = 10_000;
/** A step of publishing may take this long without a sign of life. */
export const LEASE_MS = 5 * 60_000;
/** Of all rows and bytes, for the pushes of one client. */
const MOST_OF_ONE_CLIENT = 1 / 10;

/** As a query answers it. Of one that has ended, times, counts and names are empty. */
export interface Row extends Record<string, SqlStorageValue> {
  name: string;
  host: string;
  reason: NewDelayedPush['reason'];
  state: DelayState;
  /** JSON. */
  said: string;
  push: string | null;
  same: string | null;
  client: string | null;
  attempt: string;
  /** JSON. */
  rowEnds: string;
  entryBytes: number;
  bytes: number;
  commits: number;
  keptAt: number;
  from: number;
  to: number;
  /** Null: it waits for the operator. */
  dueAt: number | null;
  until: number;
  failures: number;
  isApproved: number;
  /** Its person wants it no more, but part of it may be public. */
  isGivenUp: number;
  /** JSON. */
  intent: string | null;
  /** JSON. */
  published: string | null;
  lease: string | null;
  leaseUntil: number;
}

const COLUMNS = `name, host, reason, state, said, push, same, client, attempt, row_ends AS rowEnds,
  entry_bytes AS entryBytes, bytes, commits, kept_at AS keptAt, from_at AS "from", to_at AS "to", due_at AS dueAt, until,
  failures, is_approved AS isApproved, is_given_up AS isGivenUp, intent, published, lease, lease_until AS leaseUntil`;

export class DelayedRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.create();
  }

  /** Once more when everything was deleted. */
  create(): void {
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS delayed (
      name TEXT PRIMARY KEY, host TEXT NOT NULL, reason TEXT NOT NULL, state TEXT NOT NULL, said TEXT NOT NULL,
      push TEXT, same TEXT, client TEXT, attempt TEXT NOT NULL, row_ends TEXT NOT NULL, entry_bytes INTEGER NOT NULL,
      bytes INTEGER NOT NULL, commits INTEGER NOT NULL, kept_at INTEGER NOT NULL, from_at INTEGER NOT NULL,
      to_at INTEGER NOT NULL, due_at INTEGER, until INTEGER NOT NULL, failures INTEGER NOT NULL,
      is_approved INTEGER NOT NULL, is_given_up INTEGER NOT NULL, intent TEXT, published TEXT, lease TEXT, lease_until INTEGER NOT NULL
    ) WITHOUT ROWID`);
  }

  /** @param shiftMs added to all its times. */
  add(push: NewDelayedPush, shiftMs: number): void {
    this.#sql.exec(
      `INSERT INTO delayed VALUES (?, ?, ?, 'waiting', '[]', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, NULL, NULL, NULL, 0)`,
      push.name,
      push.host,
      push.reason,
      push.push,
      push.same,
      push.client,
      push.spool.attempt,
      JSON.stringify(push.spool.rowEnds),
      push.entryBytes,
      bytesOf(push),
      push.commits,
      push.keptAt + shiftMs,
      push.from + shiftMs,
      push.to + shiftMs,
      push.dueAt === null ? null : push.dueAt + shiftMs,
      push.until + shiftMs,
    );
  }

  /** One that has ended, once more when everything was deleted. */
  restore({ name, host, reason, state, said, push, same, until, published }: Row): void {
    this.#sql.exec(
      `INSERT INTO delayed VALUES (?, ?, ?, ?, ?, ?, ?, NULL, '', '[]', 0, 0, 0, 0, 0, 0, NULL, ?, 0, 0, 0, NULL, ?, NULL, 0)`,
      name,
      host,
      reason,
      state,
      said,
      push,
      same,
      until,
      published,
    );
  }

  /** @param condition SQL, with `?` for each of the values. */
  select(condition: string, ...values: readonly SqlStorageValue[]): Row[] {
    return this.#sql.exec<Row>(`SELECT ${COLUMNS} FROM delayed WHERE ${condition}`, ...values).toArray();
  }

  get(name: string): Row | undefined {
    return this.select('name = ?', name)[0];
  }

  /** @param changes SQL, with `?` for each of the values. */
  update(name: string, changes: string, ...values: readonly SqlStorageValue[]): void {
    this.#sql.exec(`UPDATE delayed SET ${changes} WHERE name = ?`, ...values, name);
  }

  /** The same push: one that waits to be published, or the last one that has ended within a day. */
  find(push: string): Row | undefined {
    return this.select(
      `push = ? AND NOT is_given_up ORDER BY state <> 'waiting', until DESC LIMIT 1`,
      push,
    )[0];
  }

  get isWaiting(): boolean {
    return this.select(`state = 'waiting' LIMIT 1`).length > 0;
  }

  /** Whether one waits, or can still be found by what was pushed. */
  get isNamed(): boolean {
    return this.select('push IS NOT NULL LIMIT 1').length > 0;
  }

  countWaiting(): number {
    return this.#sql
      .exec<{ count: number }>(`SELECT count(*) AS count FROM delayed WHERE state = 'waiting'`)
      .one().count;
  }

  /** Of what has ended, nothing but its end is kept, and its hashes for a day. */
  end(
    name: string,
    state: Exclude<DelayState, 'waiting'>,
    said: readonly string[],
    published: PublishedAs | null,
    now: number,
  ): void {
    this.update(
      name,
      `state = ?, said = ?, published = ?, until = ?, client = NULL, attempt = '', row_ends = '[]', entry_bytes = 0,
      bytes = 0, commits = 0, kept_at = 0, from_at = 0, to_at = 0, due_at = NULL, failures = 0, is_approved = 0,
      is_given_up = 0, intent = NULL, lease = NULL, lease_until = 0`,
      state,
      JSON.stringify(said),
      published && JSON.stringify(published),
      now + TOLD_MS,
    );
    this.#sql.exec(
      `DELETE FROM delayed WHERE state <> 'waiting' AND name NOT IN
       (SELECT name FROM delayed WHERE state <> 'waiting' ORDER BY until DESC LIMIT ?)`,
      MOST_ROWS,
    );
  }

  /** What has ended takes no room. */
  hasRoom(push: Pick<NewDelayedPush, 'client' | 'spool'>, mostBytes: number): boolean {
    const { rows, all, ownRows, own } = this.#sql
      .exec<Record<'rows' | 'all' | 'ownRows' | 'own', number>>(
        `SELECT count(*) AS rows, total(bytes) AS "all", count(*) FILTER (WHERE client = ?1) AS ownRows,
        total(bytes) FILTER (WHERE client = ?1) AS own FROM delayed WHERE state = 'waiting'`,
        push.client,
      )
      .one();
    const bytes = bytesOf(push);
    const isWithin = all + bytes <= mostBytes && rows < MOST_ROWS;
    const isFair =
      own + bytes <= shareOf(mostBytes, all - own) && ownRows < shareOf(MOST_ROWS, rows - ownRows);
    return isWithin && isFair;
  }

  /**
   * Removes names and times that have served, and what was told for long enough. Answers when the next is due; null:
   * nothing is left.
   */
  forget(now: number): number | null {
    const sql = this.#sql;
    sql.exec(`UPDATE delayed SET client = NULL WHERE client IS NOT NULL AND kept_at <= ?`, now - NAMED_MS);
    // The day says nothing that the pull request does not say.
    sql.exec(
      `UPDATE delayed SET push = NULL, same = NULL, until = until - until % ?1
       WHERE state <> 'waiting' AND push IS NOT NULL AND until <= ?2`,
      DAY_MS,
      now + TOLD_MS - FOUND_MS,
    );
    sql.exec(`DELETE FROM delayed WHERE state <> 'waiting' AND until <= ?`, now);
    return sql
      .exec<{ at: number | null }>(
        `SELECT min(CASE WHEN state <> 'waiting' AND push IS NOT NULL THEN until - ?1
           WHEN client IS NOT NULL THEN min(until, kept_at + ?2) ELSE until END) AS at FROM delayed`,
        TOLD_MS - FOUND_MS,
        NAMED_MS,
      )
      .one().at;
  }
}

/** What one client may have: a part of what the others leave, so that it is never all used up. */
const shareOf = (most: number, others: number): number => MOST_OF_ONE_CLIENT * (most - others);

function bytesOf({ spool }: Pick<NewDelayedPush, 'spool'>): number {
  return spool.rowEnds.at(-1) ?? 0;
}

/** @param now by the clock of the object. A lease from a time to which that had jumped by mistake is none. */
export function isLeased({ lease, leaseUntil }: Pick<Row, 'lease' | 'leaseUntil'>, now: number): boolean {
  return lease !== null && now < leaseUntil && leaseUntil <= now + LEASE_MS;
}

export function viewOf(row: Row, now: number): DelayedView {
  const { name, host, reason, state, from, to, until } = row;
  return {
    name,
    host,
    reason,
    state,
    from,
    to,
    until,
    same: row.same ?? '',
    waitsForReview: state === 'waiting' && row.dueAt === null,
    isGivenUp: row.isGivenUp === 1,
    isBeingPublished: isLeased(row, now),
    isBegun: row.intent !== null,
    said: JSON.parse(row.said) as string[],
    published: row.published === null ? null : (JSON.parse(row.published) as PublishedAs | null),
  };
}

export function leasedOf(row: Row): LeasedPush {
  const { name, host, reason, entryBytes, failures } = row;
  const more = { isApproved: row.isApproved === 1, spool: spoolOf(row), intent: intentOf(row) };
  return { name, host, reason, entryBytes, failures, client: row.client ?? name, ...more };
}

export function listedOf(row: Row): ListedPush {
  const { name, host, reason, entryBytes, commits, keptAt, from, to, bytes, dueAt } = row;
  const facts = { name, host, reason, entryBytes, commits, keptAt, from, to, bytes };
  return { ...facts, spool: spoolOf(row), waitsForReview: dueAt === null };
}

export function intentOf({ intent }: Pick<Row, 'intent'>): DelayedIntent | null {
  return intent === null ? null : (JSON.parse(intent) as DelayedIntent);
}

function spoolOf({ attempt, rowEnds }: Row): DelayedSpool {
  return { attempt, rowEnds: JSON.parse(rowEnds) as number[] };
}
