/**
 * One pull request, by its pr_hash: what it is, and an outbox of what the world has still to be told about it.
 *
 * A push ends when the pull request is written down here. The notification and the entry in the ledger leave from the
 * alarm, so that a dead notification service or database delays no push and loses nothing: an entry stays until it was
 * taken, across crashes, and may in rare cases arrive twice.
 */
import { DurableObject } from 'cloudflare:workers';
import { parseConfig } from '../config.ts';
import type { Env } from '../env.ts';
import { publish, pullRequestTopic } from '../notify/ntfy.ts';
import { recordPullRequest } from '../stats/ledger.ts';

const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 60 * 60 * 1000;
/** After this long an undelivered entry is of no use to anyone. */
const ENTRY_LIFE_MS = 7 * 24 * 60 * 60 * 1000;

export interface PullRequestRecord {
  readonly prHash: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  readonly url: string;
}

export type PullRequestEvent = 'opened' | 'updated';

type EntryKind = 'notification' | 'ledger';

interface OutboxEntry extends Record<string, SqlStorageValue> {
  id: number;
  kind: EntryKind;
  event: PullRequestEvent;
  pr_url: string;
  at: number;
  attempts: number;
}

export class PullRequest extends DurableObject<Env> {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS record (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      pr_hash TEXT NOT NULL, owner TEXT NOT NULL, repo TEXT NOT NULL, number INTEGER NOT NULL, url TEXT NOT NULL
    )`);
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL, event TEXT NOT NULL, pr_url TEXT NOT NULL, at INTEGER NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0
    )`);
  }

  /**
   * Writes down what a push has done, and sees to it that the world hears of it.
   * @param at milliseconds since 1970.
   */
  async record(pullRequest: PullRequestRecord, event: PullRequestEvent, at: number): Promise<void> {
    const { prHash, owner, repo, number, url } = pullRequest;
    this.#sql.exec(
      'INSERT OR REPLACE INTO record VALUES (1, ?, ?, ?, ?, ?)',
      prHash,
      owner,
      repo,
      number,
      url,
    );
    if (event === 'opened') this.#enqueue('ledger', event, url, at);
    this.#enqueue('notification', event, url, at);
    await this.ctx.storage.setAlarm(at);
  }

  override async alarm(): Promise<void> {
    const now = Date.now();
    let retryMs = LONGEST_RETRY_MS;
    let undelivered = 0;
    for (const entry of this.#sql.exec<OutboxEntry>('SELECT * FROM outbox ORDER BY id').toArray()) {
      const delivered = now - entry.at > ENTRY_LIFE_MS || (await this.#deliver(entry));
      if (delivered) {
        this.#sql.exec('DELETE FROM outbox WHERE id = ?', entry.id);
        continue;
      }
      this.#sql.exec('UPDATE outbox SET attempts = attempts + 1 WHERE id = ?', entry.id);
      retryMs = Math.min(retryMs, FIRST_RETRY_MS * 2 ** entry.attempts);
      undelivered += 1;
    }
    if (undelivered > 0) await this.ctx.storage.setAlarm(now + retryMs);
  }

  #enqueue(kind: EntryKind, event: PullRequestEvent, url: string, at: number): void {
    this.#sql.exec('INSERT INTO outbox (kind, event, pr_url, at) VALUES (?, ?, ?, ?)', kind, event, url, at);
  }

  /** False if it has to be tried again. */
  async #deliver(entry: OutboxEntry): Promise<boolean> {
    const [record] = this.#sql.exec<{ pr_hash: string; owner: string; repo: string }>(
      'SELECT pr_hash, owner, repo FROM record',
    );
    const config = parseConfig({ ...this.env });
    if (record === undefined || config.kind === 'invalid') return false;
    const { owner, repo, pr_hash: prHash } = record;
    try {
      if (entry.kind === 'ledger') {
        const createdAt = new Date(entry.at).toISOString();
        await recordPullRequest(this.env.DB, { owner, repo, prUrl: entry.pr_url, createdAt });
      } else {
        await publish(config.config.notifyBaseUrl, {
          topic: pullRequestTopic(prHash),
          title: `${owner}/${repo}: pull request ${entry.event}`,
          message: `Your anonymous pull request was ${entry.event}: ${entry.pr_url}`,
          click: entry.pr_url,
        });
      }
      return true;
    } catch {
      // Whatever went wrong, the entry stays in the outbox and is tried again.
      return false;
    }
  }
}
