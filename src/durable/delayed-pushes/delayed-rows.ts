/**
 * The table of delayed pushes. Each row is one value, in the form of version 1.0.0, which both
 * versions read; what is asked for stands in columns that follow from it.
 */
import { keepOnly } from '../keep-only.ts';
import type { PushIntent } from '../pending-push/pending-push.ts';
import { bytesOf, DAY_MS, type DelayState, type NewDelayedPush, type PublishedAs } from './delayed-push.ts';
import type { Told } from './endings.ts';
import { dueAtOf, intentOf, isEnding, isUnwanted, moved } from './stages.ts';
import type { Stage, StagedPush, StageEvent } from './stages.ts';

/** How long the page of a push that has ended says so. */
const TOLD_MS = 14 * DAY_MS;
/**
 * The room for pushes that wait, of which the last tenth stays empty, and the most pages of pushes
 * that have ended.
 */
const MOST_ROWS = 10_000;
/** The most ended pushes with which the file is written anew when none waits any more. */
const MOST_REWRITTEN = 1_000;
/**
 * The part of all rows and bytes that the pushes of one client may have. It is fixed, because a
 * part of the room that others leave would tell what they keep, to whoever tries many sizes.
 */
const PART_OF_ONE_CLIENT = 1 / 20;
/**
 * Room that nobody gets when less than this is left, because the place where room ends would tell
 * the sum of all sizes to the byte.
 */
const STEP_BYTES = 100_000_000;
const STEP_PART = 1 / 10;

/** The stage of a row, as version 1.0.0 stores it. */
export interface StoredStage {
  readonly state: DelayState;
  readonly dueAt: number | null;
  readonly intent: PushIntent | null;
  readonly isGivenUp: boolean;
  readonly lease: string | null;
  readonly leaseUntil: number;
  readonly published: PublishedAs | null;
}

type StoredPush = Omit<StagedPush, 'stage'> & StoredStage;

export class DelayedRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#create();
  }

  #create(): void {
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

  put({ stage, ...facts }: StagedPush): void {
    const value = JSON.stringify({ ...facts, ...storedStage(stage) } satisfies StoredPush);
    this.#sql.exec('INSERT OR REPLACE INTO delayed_pushes (name, value) VALUES (?, ?)', facts.name, value);
  }

  add({ dueAt, ...push }: NewDelayedPush): StagedPush {
    const stage: Stage = dueAt === null ? { kind: 'review' } : { kind: 'due', dueAt };
    const row = { ...push, ...NOTHING_YET, stage };
    this.put(row);
    return row;
  }

  /** @param condition SQL, with `?` for each of the values */
  select(condition: string, ...values: readonly SqlStorageValue[]): StagedPush[] {
    const query = `SELECT value FROM delayed_pushes WHERE ${condition}`;
    const rows = this.#sql.exec<{ value: string }>(query, ...values).toArray();
    return rows.map(({ value }) => readPush(JSON.parse(value) as StoredPush));
  }

  /** @param more SQL that follows the condition that they wait */
  waiting(more = '', ...values: readonly SqlStorageValue[]): StagedPush[] {
    return this.select(`state = 'waiting' ${more}`, ...values);
  }

  get(name: string): StagedPush | undefined {
    return this.select('name = ?', name)[0];
  }

  /**
   * Finds the same push as long as nobody has begun to publish it. After that, its commits can be
   * guessed from what is public.
   */
  findWaiting(push: string | null): StagedPush | undefined {
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

  /** Keeps only the end, and the day until which its page tells of it. */
  end(push: StagedPush, event: StageEvent, { end, said }: Told, now: number): void {
    const { name, host, reason, stage } = moved(push, event, end);
    const until = now + TOLD_MS;
    this.put({ ...NOTHING_KEPT, name, host, reason, stage, said, until: until - (until % DAY_MS) });
    this.#sql.exec(
      `DELETE FROM delayed_pushes WHERE state <> 'waiting' AND name NOT IN
       (SELECT name FROM delayed_pushes WHERE state <> 'waiting' ORDER BY until DESC LIMIT ?)`,
      MOST_ROWS,
    );
  }

  /**
   * Answers whether there is room for one more. Pushes that have ended take none.
   * @param earlier names under which the client may have kept others
   */
  hasRoom(
    { client, spool }: Pick<NewDelayedPush, 'client' | 'spool'>,
    earlier: readonly string[],
    mostBytes: number,
  ): boolean {
    const own = 'FILTER (WHERE client IN (SELECT value FROM json_each(?)))';
    const query = `SELECT count(*) AS rows, total(bytes) AS bytes, count(*) ${own} AS ownRows,
      total(bytes) ${own} AS ownBytes FROM delayed_pushes WHERE state = 'waiting'`;
    const names = JSON.stringify([client, ...earlier]);
    const sums = this.#sql.exec<Record<'rows' | 'bytes' | 'ownRows' | 'ownBytes', number>>(
      query,
      names,
      names,
    );
    const { rows, bytes, ownRows, ownBytes } = sums.one();
    const stepBytes = Math.min(STEP_BYTES, STEP_PART * mostBytes);
    const isNearlyFull = bytes > mostBytes - stepBytes || rows > MOST_ROWS * (1 - STEP_PART);
    const isFair =
      ownBytes + bytesOf({ spool }) <= quotaOf(mostBytes) && ownRows < PART_OF_ONE_CLIENT * MOST_ROWS;
    return !isNearlyFull && isFair;
  }

  /** Deletes old ends. Answers when the next one is old; null: none is left. */
  forget(now: number): number | null {
    this.#sql.exec(`DELETE FROM delayed_pushes WHERE state <> 'waiting' AND until <= ?`, now);
    const next = `SELECT min(until) AS at FROM delayed_pushes WHERE state <> 'waiting'`;
    return this.#sql.exec<{ at: number | null }>(next).one().at;
  }

  /**
   * Writes the file anew, because a deleted row can still be read in it. Not while a push waits: a
   * machine that dies in this moment would lose it. Losing the ends is less bad.
   * @param key names a value that is kept, too
   */
  async erase(storage: DurableObjectStorage, key: string): Promise<void> {
    if (this.isWaiting) return;
    const ended = this.select('true LIMIT ?', MOST_REWRITTEN + 1);
    if (ended.length > MOST_REWRITTEN) return;
    const value = storage.kv.get(key);
    const erased = keepOnly(storage, value === undefined ? [] : [[key, value]], null);
    this.#create();
    for (const row of ended) this.put(row);
    await erased;
  }
}

const NOTHING_YET = { said: [], failures: 0, isApproved: false } as const;

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
} as const;

function storedStage(stage: Stage): StoredStage {
  const push = { stage };
  const isHeld = 'lease' in stage;
  return {
    state: isEnding(stage) ? stage.kind : 'waiting',
    dueAt: dueAtOf(push),
    intent: intentOf(push),
    isGivenUp: isUnwanted(push),
    lease: isHeld ? stage.lease.token : null,
    leaseUntil: isHeld ? stage.lease.until : 0,
    published: stage.kind === 'published' ? stage.as : null,
  };
}

function readPush(stored: StoredPush): StagedPush {
  const { state, dueAt, intent, isGivenUp, lease, leaseUntil, published, ...facts } = stored;
  return { ...facts, stage: readStage({ state, dueAt, intent, isGivenUp, lease, leaseUntil, published }) };
}

function readStage({ state, dueAt, intent, isGivenUp, published, ...stored }: StoredStage): Stage {
  if (state === 'published') return { kind: state, as: published as PublishedAs };
  if (state !== 'waiting') return { kind: state };
  const lease = stored.lease === null ? null : { token: stored.lease, until: stored.leaseUntil };
  if (dueAt === null) {
    if (intent === null) return { kind: 'review' };
    if (lease !== null) return { kind: 'removing', intent, isGivenUp, lease };
    return { kind: isGivenUp ? 'unwanted' : 'stopped', intent };
  }
  if (lease === null) return intent === null ? { kind: 'due', dueAt } : { kind: 'begun', dueAt, intent };
  return intent === null ? { kind: 'leased', dueAt, lease } : { kind: 'publishing', dueAt, lease, intent };
}

/**
 * Computes how many bytes one client may keep.
 * @param mostBytes that all clients may keep
 */
export const quotaOf = (mostBytes: number): number => PART_OF_ONE_CLIENT * mostBytes;
