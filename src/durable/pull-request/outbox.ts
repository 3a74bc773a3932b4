/** Who must be told of a pull request: its topic, the statistics and the guard. */
import { Outbox, type Waiting } from '../outbox.ts';
import { TRACKED_MS } from '../guard/rollback.ts';
import { shortUrl } from './history.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * How long to try. News is of no use after a week; a count or a list that lacks a pull request is wrong for ever. A
 * rollback closes nothing that is older than what the guard tracks.
 */
const LIFE_MS = {
  notification: 7 * DAY_MS,
  statistics: 365 * DAY_MS,
  tracking: TRACKED_MS,
} as const;
/** The newest of them are kept: while a topic is out of reach, a flood of comments must not fill the stored value. */
export const MAX_NOTIFICATIONS = 200;

/** What a topic tells of (contract, section 6). */
export type OutboxEvent = 'opened' | 'updated' | 'commented' | 'merged' | 'closed';

export interface OutboxEntry extends Waiting {
  readonly kind: keyof typeof LIFE_MS;
  readonly event: OutboxEvent;
  /** Of the pull request that the statistics are to count; empty: the recorded one. Notifications need none. */
  readonly url: string;
  /** Of statistics: what the pull request was opened with (src/stats/recorded-hashes.ts). */
  readonly works?: readonly string[];
}

export interface KeptOutbox {
  /** Oldest first. */
  readonly outbox: OutboxEntry[];
}

export class PullRequestOutbox extends Outbox<OutboxEntry> {
  readonly #entries: OutboxEntry[];

  constructor({ outbox: entries }: KeptOutbox, save: () => void) {
    super({ entries, save, lifeMs: ({ kind }) => LIFE_MS[kind], receiver: ({ kind }) => kind });
    this.#entries = entries;
  }

  /** The caller saves it. */
  add(
    kind: OutboxEntry['kind'],
    event: OutboxEvent,
    url: string,
    at: number,
    works?: readonly string[],
  ): void {
    const told = { kind, event, url: shortUrl(url), at, ...(works !== undefined && { works }) };
    this.#entries.push({ ...told, attempts: 0, dueAt: 0 });
    const notifications = this.#entries.filter((entry) => entry.kind === 'notification');
    const oldest = notifications.find((entry) => entry.event === 'commented') ?? notifications[0];
    if (notifications.length > MAX_NOTIFICATIONS) this.remove(oldest);
  }
}
