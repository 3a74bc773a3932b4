/**
 * The stored record of one pull request: where it is, the hash of its key, and when its commits were rewritten.
 *
 * Nothing is written for a pr_hash that no push has recorded, because anyone can ask for any pr_hash.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { MAIN_HOST } from '../../config/hosts.ts';
import { hasTable } from '../tables.ts';

/** How long the dates of rewritten commits are kept after the last push. */
const DATES_LIFE_MS = 90 * 24 * 60 * 60 * 1000;
/**
 * A commit is remembered by the first bytes of the id that it would have if it were dated 1970: enough to tell a pull
 * request's commits apart. Earlier versions stored other hashes, which no commit matches.
 */
export const COMMIT_HASH_BYTES = 8;
/** As many as one push may hold; 240 KB. The oldest push's are forgotten first. */
export const MAX_DATED_COMMITS = 30_000;

export interface PullRequestRecord {
  readonly prHash: string;
  /** The key of the code host. */
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly url: string;
}

/** The commits that one push rewrote. */
export interface DatedCommits {
  /** Seconds since 1970. */
  readonly committedAt: number;
  /** The first bytes of their undated ids, concatenated. */
  readonly commitHashes: Uint8Array;
}

interface RecordRow extends Record<string, SqlStorageValue> {
  pr_hash: string;
  owner: string;
  repo: string;
  number: number;
  url: string;
  tip: string;
  key_hash: ArrayBuffer | null;
}

/**
 * Under which the key of a further code host is stored. It is not a column, because a version from before there were
 * several hosts writes rows without it, and an operator may go back to that version.
 */
const HOST_KEY = 'host';

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS pull_request (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    pr_hash TEXT NOT NULL, owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER NOT NULL, url TEXT NOT NULL,
    tip TEXT NOT NULL, key_hash BLOB
  )`,
  `CREATE TABLE IF NOT EXISTS dates (
    id INTEGER PRIMARY KEY, committed_at INTEGER NOT NULL, commits BLOB NOT NULL, until INTEGER NOT NULL
  )`,
];

export class RecordStore {
  readonly #sql: SqlStorage;
  readonly #kv: SyncKvStorage;
  #exists: boolean;

  constructor({ sql, kv }: Pick<DurableObjectStorage, 'sql' | 'kv'>) {
    this.#sql = sql;
    this.#kv = kv;
    this.#exists = hasTable(sql, 'pull_request');
  }

  /** Null if no push has recorded it. */
  read(): (RecordRow & { host: string }) | null {
    if (!this.#exists) return null;
    const row = this.#sql.exec<RecordRow>('SELECT * FROM pull_request').toArray()[0];
    return row === undefined ? null : { ...row, host: this.#kv.get<string>(HOST_KEY) ?? MAIN_HOST };
  }

  /** @param key of a pull request that has none yet; null leaves it as it is. */
  write(
    { prHash, host, owner, repo, number, url }: PullRequestRecord,
    tip: string,
    key: string | null,
  ): void {
    if (!this.#exists) for (const statement of SCHEMA) this.#sql.exec(statement);
    this.#exists = true;
    if (host !== MAIN_HOST) this.#kv.put(HOST_KEY, host);
    this.#sql.exec(
      `INSERT INTO pull_request (only, pr_hash, owner, repo, number, url, tip, key_hash)
       VALUES (1, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (only) DO UPDATE SET owner = excluded.owner, repo = excluded.repo, number = excluded.number,
         url = excluded.url, tip = excluded.tip, key_hash = coalesce(excluded.key_hash, key_hash)`,
      prHash,
      owner,
      repo,
      number,
      url,
      tip,
      key === null ? null : sha256(key),
    );
  }

  /** In constant time. */
  hasKey(key: string): boolean {
    const known = this.read()?.key_hash ?? null;
    return known !== null && timingSafeEqual(new Uint8Array(known), sha256(key));
  }

  dates(at: number): DatedCommits[] {
    if (!this.#exists) return [];
    const rows = this.#sql.exec<{ committed_at: number; commits: ArrayBuffer }>(
      'SELECT committed_at, commits FROM dates WHERE until > ? ORDER BY id',
      at,
    );
    return rows
      .toArray()
      .map((row) => ({ committedAt: row.committed_at, commitHashes: new Uint8Array(row.commits) }));
  }

  /** Adds the commits that a push has rewritten, and extends the life of all of them from `at`. Only after `write`. */
  addDates({ committedAt, commitHashes }: DatedCommits, at: number): void {
    const until = at + DATES_LIFE_MS;
    if (commitHashes.byteLength > 0) {
      this.#sql.exec(
        'INSERT INTO dates (committed_at, commits, until) VALUES (?, ?, ?)',
        committedAt,
        commitHashes,
        until,
      );
    }
    this.#sql.exec(
      `DELETE FROM dates WHERE id IN (
         SELECT id FROM (SELECT id, sum(length(commits)) OVER (ORDER BY id DESC) AS bytes FROM dates) WHERE bytes > ?
       )`,
      MAX_DATED_COMMITS * COMMIT_HASH_BYTES,
    );
    this.#sql.exec('UPDATE dates SET until = ?1 WHERE until < ?1', until);
  }

  /** Deletes what has expired. Answers when the rest will expire, in milliseconds since 1970. */
  expireDates(at: number): number | null {
    if (!this.#exists) return null;
    this.#sql.exec('DELETE FROM dates WHERE until <= ?', at);
    return this.#sql.exec<{ until: number | null }>('SELECT max(until) AS until FROM dates').one().until;
  }
}

/** The key has 128 random bits, so a plain hash of it reveals nothing. */
function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
