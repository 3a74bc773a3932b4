/** What is known of a delayed push without its key. All times are milliseconds since 1970. */
import type { KeptSpool } from '../../spool/spool.ts';

/** `delay`: for a chosen time. `busy`: until the limits and the code host have room. `review`: until the operator has seen it. */
export type DelayReason = 'delay' | 'busy' | 'review';

/** `failed`: it cannot be published. `discarded`: by the operator, or because nobody has reviewed it in time. */
export type DelayState = 'waiting' | 'published' | 'failed' | 'given-up' | 'discarded';

/** Where its spool is. The key is elsewhere, in KV. */
export type DelayedSpool = Omit<KeptSpool, 'key'>;

/** When it is published: at a moment between the two. */
export interface DelayWindow {
  readonly from: number;
  readonly to: number;
}

export interface NewDelayedPush extends DelayWindow {
  /** 128 random bits in hex: who knows it may publish it now or give it up. */
  readonly name: string;
  /** The key of the code host. */
  readonly host: string;
  readonly reason: DelayReason;
  /** A keyed hash of what is pushed and where to: the same push again finds it. */
  readonly push: string;
  /** The same with its texts and options, but not the time. */
  readonly same: string;
  /** A random name of the client that pushes, for a day. */
  readonly client: string;
  readonly spool: DelayedSpool;
  /** How many bytes of the spool are entries; what was judged lies behind them. */
  readonly entryBytes: number;
  readonly commits: number;
  readonly keptAt: number;
  /** Drawn in the window, and told nobody. Null: the operator has not published it yet. */
  readonly dueAt: number | null;
  /** Until when it waits at most. */
  readonly until: number;
}

/** What its page and the same push again may know. */
export interface DelayedView extends Pick<
  NewDelayedPush,
  'name' | 'host' | 'reason' | 'same' | 'from' | 'to' | 'until'
> {
  readonly state: DelayState;
  /** Whether the operator has to see it yet. */
  readonly waitsForReview: boolean;
  readonly isBeingPublished: boolean;
  /** Why it ended, and what to do; while it waits: why it could not be published yet. */
  readonly said: readonly string[];
  /** Of the pull request that it has opened or updated. */
  readonly published: { readonly prHash: string; readonly url: string } | null;
}

/** What the first attempt to publish has decided, and every later one uses again. */
export interface DelayedIntent {
  readonly prHash: string;
  /** Seconds since 1970: the date of its commits. */
  readonly committedAt: number;
}

export interface Lease {
  readonly name: string;
  readonly lease: string;
}

/** What publishing it needs. */
export interface LeasedPush extends Pick<
  NewDelayedPush,
  'name' | 'host' | 'client' | 'reason' | 'spool' | 'entryBytes'
> {
  /** How often it was tried before. */
  readonly failures: number;
  /** Null: nobody has begun to publish it. */
  readonly intent: DelayedIntent | null;
}

/** One that waits, as far as the operator can know it without its key. */
export interface ListedPush extends Pick<
  NewDelayedPush,
  'name' | 'host' | 'reason' | 'spool' | 'entryBytes' | 'commits' | 'keptAt' | 'from' | 'to'
> {
  readonly waitsForReview: boolean;
  /** Of its spool. */
  readonly bytes: number;
}

/** Why it ends, or why it could not be published yet. */
export type DelayFailure =
  | { readonly kind: 'final'; readonly said: readonly string[] }
  /** @property askedMs how long the refusing side asks to wait. @property counts whether the next pause grows. */
  | {
      readonly kind: 'later';
      readonly said: readonly string[];
      readonly askedMs: number;
      readonly counts: boolean;
    };

/** For /metrics, and for the operator. */
export interface DelayedCounts {
  readonly waiting: Readonly<Record<DelayReason, number>>;
  readonly bytes: number;
  /** Since when the oldest one waits; null: there is none. */
  readonly oldestAt: number | null;
}

/** The reasons that an operator may give. */
export const DISCARD_REASONS = {
  spam: 'It looks like spam or advertising.',
  'off-topic': 'It has nothing to do with the repository.',
  illegal: 'It may break the law, or harm somebody.',
  private: 'It seems to hold private data of somebody.',
  other: 'It does not fit what this service is for.',
} as const;
export type DiscardReason = keyof typeof DISCARD_REASONS;
