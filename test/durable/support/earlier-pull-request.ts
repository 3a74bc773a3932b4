/** A pull request as earlier versions have kept it: in tables of its object. */
import { runInDurableObject } from 'cloudflare:test';
import type { PullRequest } from '../../../src/durable/pull-request/pull-request.ts';
import type { PullRequestRecord } from '../../../src/durable/pull-request/record.ts';

export const EARLIER_TIP = 'b';

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS pull_request (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    pr_hash TEXT NOT NULL, owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER NOT NULL, url TEXT NOT NULL,
    tip TEXT NOT NULL, key_hash BLOB
  )`,
  `CREATE TABLE IF NOT EXISTS dates (
    id INTEGER PRIMARY KEY, committed_at INTEGER NOT NULL, commits BLOB NOT NULL, until INTEGER NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL, event TEXT NOT NULL, url TEXT NOT NULL, at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0
  )`,
];
const PAGES = [
  `CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, url TEXT NOT NULL, at INTEGER NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS standing (
    only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL
  )`,
];

interface Earlier {
  /** Null: none. */
  readonly keyHash?: Uint8Array | null;
  /** The keys of the events that were told. */
  readonly told?: readonly string[];
  /** What it has written; none: it is from before there were pages. */
  readonly page?: { readonly state: string; readonly at: number; readonly events: readonly string[] };
  readonly dates?: { readonly commits: Uint8Array; readonly until: number };
  /** When the notification of an update, which is in the outbox, was written there. */
  readonly notifiedAt?: number;
}

/** Writes as it did; reads nothing. What it finds of its own tables, it goes on with. */
export function writeAsEarlier(
  object: DurableObjectStub<PullRequest>,
  { prHash, host, owner, repo, number, url }: PullRequestRecord,
  { keyHash = null, told = [], page, dates, notifiedAt }: Earlier,
): Promise<void> {
  return runInDurableObject(object, async (_, { storage }) => {
    const { sql, kv } = storage;
    for (const statement of SCHEMA) sql.exec(statement);
    if (host !== 'gh') kv.put('host', host);
    sql.exec(
      `INSERT INTO pull_request VALUES (1, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (only) DO UPDATE SET tip = excluded.tip`,
      prHash,
      owner,
      repo,
      number,
      url,
      EARLIER_TIP,
      keyHash,
    );
    if (told.length > 0) sql.exec('CREATE TABLE IF NOT EXISTS told (key TEXT PRIMARY KEY) WITHOUT ROWID');
    for (const key of told) sql.exec('INSERT OR IGNORE INTO told VALUES (?)', key);
    if (dates !== undefined) {
      sql.exec(
        'INSERT INTO dates (committed_at, commits, until) VALUES (1, ?, ?)',
        dates.commits,
        dates.until,
      );
    }
    if (page !== undefined) {
      for (const statement of PAGES) sql.exec(statement);
      sql.exec('INSERT OR REPLACE INTO standing VALUES (1, ?, ?, ?)', number, page.state, page.at);
      for (const kind of page.events) {
        sql.exec('INSERT INTO events (kind, url, at) VALUES (?, ?, ?)', kind, url, page.at);
      }
    }
    if (notifiedAt === undefined) return;
    sql.exec(
      "INSERT INTO outbox (kind, event, url, at) VALUES ('notification', 'updated', ?, ?)",
      url,
      notifiedAt,
    );
    await storage.setAlarm(notifiedAt);
  });
}
