/**
 * Messages about a pull request that are not delivered yet. An entry stays until it was accepted, even after a crash,
 * and may in rare cases arrive twice. The receiver must tolerate that.
 */
import { dueAgainAt, isDue } from '../due-rows.ts';
import { TRACKED_MS } from '../guard/tracked-pull-requests.ts';
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

export interface OutboxEntry {
  readonly kind: keyof typeof LIFE_MS;
  readonly event: OutboxEvent;
  /** Of the pull request that the statistics are to count; empty: the recorded one. Notifications need none. */
  readonly url: string;
  readonly at: number;
  /** Of statistics: what the pull request was opened with (src/stats/recorded-hashes.ts). */
  readonly work?: string;
  attempts: number;
  /** Not before; milliseconds since 1970. */
  dueAt: number;
}

export interface KeptOutbox {
  /** Oldest first. */
  outbox: OutboxEntry[];
}

/** What became of an attempt. */
export type Delivery = { readonly kind: 'done' } | Failed;

/** To be tried again. */
interface Failed {
  readonly kind: 'failed';
  /** How long the receiver asks to wait; 0 if it does not. */
  readonly askedMs: number;
  /** Whether the other entries of the same kind would fail now, too. */
  readonly all: boolean;
}

const DONE: Delivery = { kind: 'done' };

export class Outbox {
  readonly #kept: KeptOutbox;
  readonly #save: () => void;

  constructor(kept: KeptOutbox, save: () => void) {
    this.#kept = kept;
    this.#save = save;
  }

  /** The caller saves it. */
  add(kind: OutboxEntry['kind'], event: OutboxEvent, url: string, at: number, work?: string): void {
    const { outbox } = this.#kept;
    outbox.push({
      kind,
      event,
      url: shortUrl(url),
      at,
      ...(work !== undefined && { work }),
      attempts: 0,
      dueAt: 0,
    });
    const notifications = outbox.filter((entry) => entry.kind === 'notification');
    const oldest = notifications.find((entry) => entry.event === 'commented') ?? notifications[0];
    if (notifications.length > MAX_NOTIFICATIONS) this.#remove(oldest);
  }

  /**
   * Hands over every entry that is due, oldest first. Answers when to come back, in milliseconds since 1970; null:
   * never.
   * @param mayNotify while it answers false, notifications wait.
   */
  async empty(
    now: number,
    deliver: (entry: OutboxEntry) => Promise<Delivery>,
    mayNotify = (): boolean => true,
  ): Promise<number | null> {
    const waiting = () => this.#kept.outbox.filter(({ kind }) => mayNotify() || kind !== 'notification');
    let isSaved = true;
    for (;;) {
      const entry = waiting().find(({ dueAt }) => isDue(dueAt, now));
      if (entry === undefined) break;
      const isTooOld = now - entry.at > LIFE_MS[entry.kind];
      const delivery = isTooOld ? DONE : await deliver(entry);
      if (delivery.kind === 'done') this.#remove(entry);
      else this.#postpone(entry, delivery, now);
      // After a crash, a topic would tell it twice. Whatever else is not saved is tried again without harm.
      isSaved = entry.kind === 'notification' && delivery.kind === 'done';
      if (isSaved) this.#save();
    }
    if (!isSaved) this.#save();
    const left = waiting();
    return left.length === 0 ? null : Math.min(...left.map(({ dueAt }) => dueAt));
  }

  #remove(entry: OutboxEntry | undefined): void {
    this.#kept.outbox = this.#kept.outbox.filter((other) => other !== entry);
  }

  #postpone(entry: OutboxEntry, { askedMs, all }: Failed, now: number): void {
    const dueAt = dueAgainAt(entry.attempts, now, askedMs);
    entry.attempts += 1;
    entry.dueAt = dueAt;
    if (!all) return;
    for (const other of this.#kept.outbox) {
      if (other.kind === entry.kind) other.dueAt = Math.max(other.dueAt, dueAt);
    }
  }
}
