/**
 * The table of delayed pushes. Each row is one value; what is asked for stands in columns that
 * follow from it.
 * Proved by test/durable/delayed-pushes/delayed-pushes.test.ts.
 */
import { bytesOf, type DelayedPush, type NewDelayedPush } from './delayed-push.ts';
import { DAY_MS } from './seen-clock.ts';

/** How long the page of one that has ended tells it. */
const TOLD_MS = 14 * DAY_MS;
/** After this time, two pushes of one client have no name in common. */
const NAMED_MS = DAY_MS;
/** How many wait; and of how many that have ended the pages stay for a while. */
const MOST_ROWS = 10_000;
/** Of all rows and bytes, for the pushes of one client. */
const MOST_OF_ONE_CLIENT = 1 / 10;

type End = Pick<DelayedPush, 'state' | 'said' | 'published'>;

export class DelayedRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.create();
  }

  /** Once more when everything was deleted. */
  create(): void {
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS delayed_pushes (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL,
      state TEXT AS (value ->> 'state') STORED,
      push TEXT AS (value ->> 'push') STORED,
      client TEXT AS (value ->> 'client') STORED,
      bytes INTEGER AS (value ->> '$.spool.rowEnds[#-1]') STORED,
      keptAt INTEGER AS (value ->> 'keptAt') STORED,
      dueAt INTEGER AS (value ->> 'dueAt') STORED,
      until INTEGER AS (value ->> 'until') STORED
    ) WITHOUT ROWID`);
  }

  put(row: DelayedPush): void {
    const value = JSON.stringify(row);
    this.#sql.exec('INSERT OR REPLACE INTO delayed_pushes (name, value) VALUES (?, ?)', row.name, value);
  }

  /** @param shiftMs added to all its times. */
  add(push: NewDelayedPush, shiftMs: number): DelayedPush {
    const { keptAt, from, to, until, dueAt } = push;
    const row: DelayedPush = {
      ...push,
      keptAt: keptAt + shiftMs,
      from: from + shiftMs,
      to: to + shiftMs,
      until: until + shiftMs,
      dueAt: dueAt === null ? null : dueAt + shiftMs,
      ...NOTHING_YET,
      state: 'waiting',
    };
    this.put(row);
    return row;
  }

  /** @param condition SQL, with `?` for each of the values. */
  select(condition: string, ...values: readonly SqlStorageValue[]): DelayedPush[] {
    const query = `SELECT value FROM delayed_pushes WHERE ${condition}`;
    const rows = this.#sql.exec<{ value: string }>(query, ...values).toArray();
    return rows.map(({ value }) => JSON.parse(value) as DelayedPush);
  }

  get(name: string): DelayedPush | undefined {
    return this.select('name = ?', name)[0];
  }

  /**
   * Finds the same push as long as nobody has begun to publish it. After that, its commits can be
   * guessed from what is public.
   */
  findWaiting(push: string | null): DelayedPush | undefined {
    const isUntouched = `value ->> 'intent' IS NULL AND NOT value ->> 'isGivenUp'`;
    return this.select(`push = ? AND state = 'waiting' AND ${isUntouched}`, push)[0];
  }

  get isWaiting(): boolean {
    return this.select(`state = 'waiting' LIMIT 1`).length > 0;
  }

  countWaiting(): number {
    const query = `SELECT count(*) AS count FROM delayed_pushes WHERE state = 'waiting'`;
    return this.#sql.exec<{ count: number }>(query).one().count;
  }

  /** Keeps nothing but the end. Its day says nothing that the pull request does not say. */
  end({ name, host, reason }: DelayedPush, end: End, now: number): void {
    const until = now + TOLD_MS;
    this.put({ ...NOTHING_KEPT, name, host, reason, ...end, until: until - (until % DAY_MS) });
    this.#sql.exec(
      `DELETE FROM delayed_pushes WHERE state <> 'waiting' AND name NOT IN
       (SELECT name FROM delayed_pushes WHERE state <> 'waiting' ORDER BY until DESC LIMIT ?)`,
      MOST_ROWS,
    );
  }

  /** What has ended takes no room. */
  hasRoom(push: Pick<NewDelayedPush, 'client' | 'spool'>, mostBytes: number): boolean {
    const query = `SELECT count(*) AS rows, total(bytes) AS "all", count(*) FILTER (WHERE client = ?1) AS ownRows,
      total(bytes) FILTER (WHERE client = ?1) AS own FROM delayed_pushes WHERE state = 'waiting'`;
    const sums = this.#sql.exec<Record<'rows' | 'all' | 'ownRows' | 'own', number>>(query, push.client);
    const { rows, all, ownRows, own } = sums.one();
    const bytes = bytesOf(push);
    const isWithin = all + bytes <= mostBytes && rows < MOST_ROWS;
    const isFair =
      own + bytes <= quotaOf(mostBytes, all - own) && ownRows < quotaOf(MOST_ROWS, rows - ownRows);
    return isWithin && isFair;
  }

  /** Removes names and times that have served, and old ends. Answers when the next is due; null: nothing is left. */
  forget(now: number): number | null {
    for (const row of this.select('client IS NOT NULL AND keptAt <= ?', now - NAMED_MS))
      this.put({ ...row, client: null });
    this.#sql.exec(`DELETE FROM delayed_pushes WHERE state <> 'waiting' AND until <= ?`, now);
    const next = `SELECT min(CASE WHEN client IS NOT NULL THEN min(until, keptAt + ?) ELSE until END) AS at
      FROM delayed_pushes`;
    return this.#sql.exec<{ at: number | null }>(next, NAMED_MS).one().at;
  }
}

const NOTHING_YET = {
  said: [],
  failures: 0,
  isApproved: false,
  isGivenUp: false,
  intent: null,
  published: null,
  lease: null,
  leaseUntil: 0,
} as const;

const NOTHING_KEPT = {
  ...NOTHING_YET,
  push: null,
  client: null,
  spool: { attempt: '', rowEnds: [] },
  entryBytes: 0,
  commits: 0,
  keptAt: 0,
  from: 0,
  to: 0,
  dueAt: null,
} as const;

/** What one client may have: a part of what the others leave, so that it is never all used up. */
const quotaOf = (most: number, others: number): number => MOST_OF_ONE_CLIENT * (most - others);
