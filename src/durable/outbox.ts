/**
 * Messages that are not delivered yet. Each stays until its receiver accepts it, also after a
 * crash, or until it is too old, and may arrive twice.
 */
import type { Config } from '../config/config.ts';
import { Recent } from '../isolate/recent.ts';
import { loggerOf } from '../log.ts';
import { NotificationError } from '../notify/ntfy.ts';
import { type TroubleReason, troubleOf } from '../notify/trouble.ts';
import { dueAgainAt, earliest, isDue } from './due-rows.ts';

/** The most messages of one run, because each may have to wait for its receiver's timeout. */
const PER_RUN = 20;

export interface Waiting {
  /** The time at which it happened, in milliseconds since 1970. */
  readonly at: number;
  attempts: number;
  /** The time before which it does not leave, in milliseconds since 1970. */
  dueAt: number;
}

/** `interrupted`: something else is more urgent, so the run ends, and nothing has failed. */
export type DeliveryResult =
  | { readonly kind: 'done' | 'interrupted' }
  | {
      readonly kind: 'failed';
      /** The time for which the receiver asks to wait; 0: none. */
      readonly askedMs: number;
      /** True if the other messages to it would fail now, too. */
      readonly all: boolean;
    };

/** Servers, and why they take nothing, that this isolate has logged within the hour. */
const logged = new Recent<true>({ lifeMs: 60 * 60 * 1000, most: 100 });

/**
 * A refusal lasts until the operator does something. Anything else lasts if the second attempt
 * fails, too.
 */
const isLasting = (reason: TroubleReason, attempts: number): boolean => reason === 'refused' || attempts > 0;

/**
 * Answers that a message was not taken. If that lasts, it is logged, once an hour.
 * @param attempts that had failed before.
 */
export function notTaken(server: string, config: Config, error: unknown, attempts: number): DeliveryResult {
  const { reason, status } = troubleOf(error);
  const key = `${server} ${reason} ${status}`;
  if (isLasting(reason, attempts) && logged.get(key) === null) {
    logged.set(key, true);
    const fields = { hostName: new URL(server).host, reason, ...(status !== null && { status }) };
    loggerOf(config).error(
      'the notification service takes no messages; to see why, run npm run doctor -- --alert',
      fields,
    );
  }
  const refusal = error instanceof NotificationError ? error : null;
  return { kind: 'failed', askedMs: refusal?.retryAfterMs ?? 0, all: refusal?.concernsTopic === true };
}

interface OutboxRules<Entry> {
  /** Where the entries are stored, oldest first. The outbox changes the list. */
  readonly entries: Entry[];
  save(): void;
  /** The time for which an entry is tried. */
  lifeMs(entry: Entry): number;
  readonly receiver: (entry: Entry) => string;
  /** The longest pause, unless the receiver asks for a longer one. */
  readonly longestMs?: number;
}

export class Outbox<Entry extends Waiting> {
  readonly #rules: OutboxRules<Entry>;

  constructor(rules: OutboxRules<Entry>) {
    this.#rules = rules;
  }

  /** The caller saves it. */
  remove(entry: Entry | undefined): void {
    const { entries } = this.#rules;
    const index = entries.findIndex((other) => other === entry);
    if (index !== -1) entries.splice(index, 1);
  }

  /**
   * Hands over up to `PER_RUN` entries that are due, those with the fewest attempts first, so that
   * one that fails again and again holds up no other.
   * @param isHeld entries that are not to leave yet; they do not count for the answer either.
   * @returns when to come back; null: never.
   */
  async empty(
    deliver: (entry: Entry) => Promise<DeliveryResult>,
    isHeld: (entry: Entry) => boolean = () => false,
  ): Promise<number | null> {
    const waiting = () => this.#rules.entries.filter((entry) => !isHeld(entry));
    for (let turn = 0; turn < PER_RUN; turn++) {
      const due = waiting().filter(({ dueAt }) => isDue(dueAt, Date.now()));
      const [entry] = due.toSorted((a, b) => a.attempts - b.attempts);
      if (entry === undefined) break;
      const isTooOld = Date.now() - entry.at > this.#rules.lifeMs(entry);
      const delivery: DeliveryResult = isTooOld ? { kind: 'done' } : await deliver(entry);
      if (delivery.kind === 'interrupted') break;
      if (delivery.kind === 'failed') this.#postpone(entry, Date.now(), delivery.askedMs, delivery.all);
      else this.remove(entry);
      this.#rules.save();
    }
    return earliest(...waiting().map(({ dueAt }) => Math.max(Date.now(), dueAt)));
  }

  #postpone(entry: Entry, now: number, askedMs: number, all: boolean): void {
    const { entries, receiver, longestMs } = this.#rules;
    entry.dueAt = dueAgainAt(entry.attempts, now, askedMs, longestMs);
    entry.attempts += 1;
    if (!all) return;
    for (const other of entries.filter((one) => receiver(one) === receiver(entry))) {
      other.dueAt = Math.max(other.dueAt, entry.dueAt);
      // Whichever of them is tried next has failed as often.
      other.attempts = Math.max(other.attempts, entry.attempts);
    }
  }
}
