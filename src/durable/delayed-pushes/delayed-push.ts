/**
 * What is known of a delayed push without its key. All times are milliseconds since 1970.
 * Proved by test/durable/delayed-pushes/delayed-pushes.test.ts.
 */
import type { Env } from '../../env.ts';
import { spoolOf } from '../../objects.ts';
import type { KeptSpool } from '../../spool/spool.ts';
import type { PushIntent } from '../pending-push/pending-push.ts';

/**
 * `delay`: for a chosen time. `busy`: until limits and host have room. `review`: until the operator
 * has seen it.
 */
export type DelayReason = 'delay' | 'busy' | 'review';

/**
 * `failed`: it cannot be published. `discarded`: by the operator, or because nobody has reviewed it
 * in time.
 */
export type DelayState = 'waiting' | 'published' | 'failed' | 'given-up' | 'discarded';

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
  /**
   * A keyed hash of everything that was pushed, by which the same push again finds it.
   * Null: it updates a pull request, and is not looked for.
   */
  readonly push: string | null;
  /** The client that pushes, by one of its names: src/service/push-store.ts. */
  readonly client: string;
  /** Its key is elsewhere, in KV. */
  readonly spool: Omit<KeptSpool, 'key'>;
  /** How many bytes of the spool are entries; what was judged lies behind them. */
  readonly entryBytes: number;
  readonly commits: number;
  readonly keptAt: number;
  /** Drawn in the window, and told nobody. Null: it waits for the operator. */
  readonly dueAt: number | null;
  /** Until when it waits at most; of one that has ended, until when its page is there. */
  readonly until: number;
}

/** As the operator sees it, and whoever publishes it. */
export interface DelayedPush extends Omit<NewDelayedPush, 'client'> {
  /** Null: it has ended. */
  readonly client: string | null;
  /**
   * Why it ended, or how it was published, and what to do; while it waits: why it could not be
   * published yet.
   */
  readonly said: readonly string[];
  /** How often it was tried in vain. */
  readonly failures: number;
  readonly isApproved: boolean;
}

/** The pull request that it has opened or updated. */
export interface PublishedAs {
  readonly prHash: string;
  readonly url: string;
  /**
   * Whether its page may show the key: it has opened it, or was pushed with the key. Who knows the
   * hash may update.
   */
  readonly isKeyShown: boolean;
}

/** What its page may tell. The same push again is told the window, which is 0 once it has ended. */
export interface DelayedView extends Pick<DelayedPush, 'name' | 'reason' | 'from' | 'to' | 'until' | 'said'> {
  readonly state: DelayState;
  /** Its person wants it no more. What is public of it could not be removed yet. */
  readonly isGivenUp: boolean;
  /** Null: it is not published. */
  readonly published: PublishedAs | null;
  /** Whether the operator has to see it yet. */
  readonly waitsForReview: boolean;
  /** Or removed, if it is given up. */
  readonly isBeingPublished: boolean;
  /** Somebody has begun to publish it: part of it may be public. */
  readonly isBegun: boolean;
}

/** `clientBytes`: what one client may keep in all. */
export type KeepAnswer =
  | { readonly kind: 'kept' | 'found'; readonly view: DelayedView }
  | { readonly kind: 'full'; readonly clientBytes: number };

export const DAY_MS = 24 * 60 * 60 * 1000;

/** Shows that its holder may publish or remove the push. */
export type DelayedLease = { readonly name: string; readonly lease: string };

/** As whoever publishes it sees it. */
export type LeasedPush = DelayedPush &
  DelayedLease & {
    /**
     * What the first attempt to publish it has decided, and every later one uses again. Null:
     * nobody has begun.
     */
    readonly intent: PushIntent | null;
  };

export const leaseOf = ({ name, lease }: LeasedPush): DelayedLease => ({ name, lease });

/**
 * One that somebody has begun to publish, leased to whoever is to remove its branch and its pull
 * request.
 */
export type BegunPush = LeasedPush & { readonly intent: PushIntent };

/** Which push the operator has seen. `attempt` names its spool. */
export type SeenPush = { readonly name: string; readonly attempt: string };

/**
 * Why it ends, or waits on. `review`: the operator has to see it first, by a setting newer than the
 * push, or because it could not be removed. `askedMs`: how long the refusing side asks to wait.
 * `counts`: whether the next pause grows.
 */
export type DelayFailure =
  | { readonly kind: 'review' }
  | ({ readonly said: readonly string[] } & (
      | { readonly kind: 'final' }
      | { readonly kind: 'later'; readonly askedMs: number; readonly counts: boolean }
    ));

/** What the page of a push says that a rollback has discarded. */
export const ROLLED_BACK = [
  'It came with a burst of pushes, which the operator has rolled back. You may push it again.',
] as const;

export const DISCARD_REASONS = {
  spam: 'It looks like spam or advertising.',
  'off-topic': 'It has nothing to do with the repository.',
  illegal: 'It may break the law, or harm somebody.',
  private: 'It seems to hold private data of somebody.',
  other: 'It does not fit what this service is for.',
} as const;
export type DiscardReason = keyof typeof DISCARD_REASONS;

/** Of its spool. */
export const bytesOf = ({ spool }: Pick<DelayedPush, 'spool'>): number => spool.rowEnds.at(-1) ?? 0;

/**
 * Makes one unreadable for good: its key goes, then its rows. If it rejects, what stays goes at its
 * expiry.
 */
export async function shred(
  env: Pick<Env, 'DELAYED_KEYS' | 'SPOOL' | 'ONE_MACHINE'>,
  attempt: string,
): Promise<void> {
  await env.DELAYED_KEYS.delete(attempt);
  while (await spoolOf(env, attempt).remove(attempt));
}
