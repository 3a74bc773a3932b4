/**
 * The tables in which earlier versions kept a pull request. They are read once, and dropped. After an operator has gone
 * back to such a version for a while, what it has written is added to what there was before.
 */
import { MAIN_HOST } from '../../config/hosts.ts';
import { hasTable } from '../tables.ts';
import type { HistoryEvent, Standing } from './history.ts';
import { type Kept, saveKept } from './kept.ts';
import { MAX_NOTIFICATIONS, type OutboxEntry } from './outbox.ts';
import { DATES_LIFE_MS, type RecordStore } from './record.ts';

/** Under which they stored the key of a further code host. */
const HOST_KEY = 'host';

type Row<T> = { [K in keyof T]: T[K] & SqlStorageValue };

interface Tables {
  pull_request: {
    pr_hash: string;
    owner: string;
    repo: string;
    number: number;
    url: string;
    tip: string;
    key_hash: ArrayBuffer | null;
  };
  /** A push prolongs the life of all of them. */
  dates: { committed_at: number; commits: ArrayBuffer; until: number };
  standing: Row<Standing>;
  events: Row<HistoryEvent>;
  /** The oldest ones had no `due_at`. */
  outbox: Row<Omit<OutboxEntry, 'dueAt'>> & { due_at?: number };
}

export function takeTables(storage: DurableObjectStorage, kept: Kept, record: RecordStore): void {
  const { sql, kv } = storage;
  if (!hasTable(sql, 'pull_request')) return;
  const host = kv.get<string>(HOST_KEY) ?? kept.record?.host ?? MAIN_HOST;
  storage.transactionSync(() => {
    for (const row of take(sql, 'pull_request')) {
      const { pr_hash: prHash, owner, repo, number, url, tip, key_hash: keyHash } = row;
      record.write({ prHash, host, owner, repo, number, url }, tip, null);
      if (keyHash !== null) kept.keyHash = new Uint8Array(keyHash);
    }
    const dates = take(sql, 'dates');
    const pushes = dates.map((push) => ({
      committedAt: push.committed_at,
      commitHashes: new Uint8Array(push.commits),
    }));
    record.addDates(pushes, (dates.at(-1)?.until ?? 0) - DATES_LIFE_MS);
    for (const { state, at } of take(sql, 'standing')) kept.standing = { state, at };
    const lastId = kept.events.at(-1)?.id ?? 0;
    for (const { id, kind, url, at } of take(sql, 'events')) {
      kept.events.push({ id: lastId + id, kind, url, at });
    }
    // There was no limit: more would not fit into one value.
    for (const row of take(sql, 'outbox').slice(-MAX_NOTIFICATIONS)) {
      const { kind, event, url, at, attempts, due_at: dueAt = 0 } = row;
      kept.outbox.push({ kind, event, url, at, attempts, dueAt });
    }
    saveKept(kv, kept);
  });
}

function take<Name extends keyof Tables>(sql: SqlStorage, table: Name): Tables[Name][] {
  if (!hasTable(sql, table)) return [];
  const rows = sql.exec<Tables[Name]>(`SELECT * FROM ${table} ORDER BY rowid`).toArray();
  sql.exec(`DROP TABLE ${table}`);
  return rows;
}
