/** What is known of a held push without its key. */
import type { KeptSpool } from '../../spool/spool.ts';

/** `delay`: for a chosen time. `busy`: until the code host takes it. `review`: until the operator has seen it. */
export type HoldReason = 'delay' | 'busy' | 'review';

/**
 * `failed`: it cannot be published. `cancelled`: by its person, or by a newer push. `discarded`: by the operator, or
 * because it has waited for too long.
 */
export type HoldState = 'held' | 'failed' | 'cancelled' | 'discarded';

/** Where its spool is. The key is elsewhere, in KV. */
export type HeldSpool = Omit<KeptSpool, 'key'>;

export interface NewHold {
  readonly prHash: string;
  /** The key of the code host. */
  readonly host: string;
  readonly reason: HoldReason;
  /** A keyed hash of what is pushed and where to. */
  readonly push: string;
  /** The same with its texts and options: of a push that is repeated. */
  readonly same: string;
  /** A random name of the client that pushes. */
  readonly client: string;
  readonly isUpdate: boolean;
  /** It was tried to publish it, and nobody knows how far that came. */
  readonly isBegun: boolean;
  readonly spool: HeldSpool;
  /** How many bytes of the spool are entries; the verdict lies behind them. */
  readonly entryBytes: number;
  readonly commits: number;
  /** All in milliseconds since 1970. */
  readonly heldAt: number;
  /** Between which times the person was told that it will be published. */
  readonly from: number;
  readonly to: number;
  /** Drawn between them, and told nobody. Null: when the operator has published it. */
  readonly dueAt: number | null;
  /** Until when it is kept at most. */
  readonly until: number;
}

/** What its page and the next push of the same person may know. */
export interface HeldView extends Pick<
  NewHold,
  'prHash' | 'host' | 'reason' | 'same' | 'from' | 'to' | 'until' | 'isUpdate' | 'isBegun'
> {
  readonly state: HoldState;
  /** Why it ended, and what to do; while it is held: why it could not be published yet. */
  readonly said: readonly string[];
  readonly isBeingPublished: boolean;
}

/** What publishing it needs. */
export interface LeasedHold extends Pick<
  NewHold,
  'prHash' | 'host' | 'client' | 'reason' | 'spool' | 'entryBytes' | 'isUpdate'
> {
  /** Whether it was tried before. */
  readonly failures: number;
}

/** A push that waits for the operator, as far as it can be known without its key. */
export interface HoldToReview extends Pick<
  NewHold,
  'prHash' | 'host' | 'spool' | 'entryBytes' | 'commits' | 'isUpdate' | 'heldAt'
> {
  /** Of its spool. */
  readonly bytes: number;
}

/**
 * What the operator has seen. Its author may replace it at any moment, and nobody may publish what they have not seen.
 * @property attempt names its spool.
 */
export interface SeenHold {
  readonly prHash: string;
  readonly attempt: string;
}

/** Why a hold ends, or why it could not be published yet. */
export type HoldFailure =
  | { readonly kind: 'final'; readonly said: readonly string[] }
  /** @property askedMs how long the refusing side asks to wait. @property counts whether the next pause grows. */
  | {
      readonly kind: 'later';
      readonly said: readonly string[];
      readonly askedMs: number;
      readonly counts: boolean;
    };

/** The reasons that an operator may give. */
export const DISCARD_REASONS = {
  spam: 'It looks like spam or advertising.',
  'off-topic': 'It has nothing to do with the repository.',
  illegal: 'It may break the law, or harm somebody.',
  private: 'It seems to hold private data of somebody.',
  other: 'It does not fit what this service is for.',
} as const;
export type DiscardReason = keyof typeof DISCARD_REASONS;
