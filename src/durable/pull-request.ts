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
import type { HostEvent } from '../events/host-event.ts';
import { publish, pullRequestTopic } from '../notify/ntfy.ts';
import { openLedger } from '../stats/open-ledger.ts';

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

/** What a push does to it. */
export type PullRequestEvent = 'opened' | 'updated';

type EntryKind = 'notification' | 'ledger';

type OutboxEvent = PullRequestEvent | HostEvent['kind'];

const IN_WORDS: Readonly<Record<OutboxEvent, string>> = {
  opened: 'was opened',
  updated: 'was updated',
  commented: 'was commented on',
  merged: 'was merged',
  closed: 'was closed',
};

interface OutboxEntry extends Record<string, SqlStorageValue> {
  id: number;
  kind: EntryKind;
  event: OutboxEvent;
  /** The page that shows the event: the pull request's, or the comment's. */
  url: string;
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
      kind TEXT NOT NULL, event TEXT NOT NULL, url TEXT NOT NULL, at INTEGER NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0
    )`);
    this.#sql.exec('CREATE TABLE IF NOT EXISTS told (key TEXT PRIMARY KEY)');
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

  /**
   * Sees to it that the topic hears of what happened on the host; of each event once, by its key.
   * False if no push has written this pull request down.
   */
  async tell(events: readonly HostEvent[], at: number): Promise<boolean> {
    if (this.#sql.exec('SELECT 1 FROM record').toArray().length === 0) return false;
    const news = events.filter(
      ({ key }) =>
        this.#sql.exec('INSERT OR IGNORE INTO told VALUES (?) RETURNING key', key).toArray().length > 0,
    );
    for (const { kind, url } of news) this.#enqueue('notification', kind, url, at);
    if (news.length > 0) await this.ctx.storage.setAlarm(at);
    return true;
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
    // What came in meanwhile has set the alarm for itself.
    if (undelivered > 0 && (await this.ctx.storage.getAlarm()) === null) {
      await this.ctx.storage.setAlarm(now + retryMs);
    }
  }

  #enqueue(kind: EntryKind, event: OutboxEvent, url: string, at: number): void {
    this.#sql.exec('INSERT INTO outbox (kind, event, url, at) VALUES (?, ?, ?, ?)', kind, event, url, at);
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
        await openLedger(this.env, config.config).recordPullRequest({
          owner,
          repo,
          prUrl: entry.url,
          createdAt,
        });
      } else {
        await publish(config.config.notifyBaseUrl, {
          topic: pullRequestTopic(prHash),
          title: `${owner}/${repo}: pull request ${entry.event}`,
          message: `Your anonymous pull request ${IN_WORDS[entry.event]}: ${entry.url}`,
          click: entry.url,
        });
      }
      return true;
    } catch {
      // Whatever went wrong, the entry stays in the outbox and is tried again.
      return false;
    }
  }
}
