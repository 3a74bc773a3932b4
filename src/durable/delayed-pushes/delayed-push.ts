/**
 * A delayed push as others see it, without its content. All times are milliseconds since 1970.
 * Proved by test/durable/delayed-pushes/delayed-pushes.test.ts.
 */
import type { Env } from '../../env.ts';
import { spoolOf } from '../../objects.ts';
import type { KeptSpool } from '../../spool/spool.ts';
import type { PushIntent } from '../pending-push/pending-push.ts';

/**
 * Why a push waits. `delay`: for a chosen time. `busy`: until limits and host have room. `review`:
 * until the operator has seen it.
 */
export type DelayReason = 'delay' | 'busy' | 'review';

/**
 * The state that its page shows. `failed`: it cannot be published. `discarded`: the operator does
 * not want it, or has not reviewed it in time.
 */
export type DelayState = 'waiting' | 'published' | 'failed' | 'given-up' | 'discarded';

/** It is published at a moment between the two. */
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
  /** How many bytes of the spool are entries. What was judged follows them. */
  readonly entryBytes: number;
  readonly commits: number;
  readonly keptAt: number;
  /** A random moment in the window that nobody is told. Null: it waits for the operator. */
  readonly dueAt: number | null;
  /** The latest moment until which it waits or, once it has ended, its page is there. */
  readonly until: number;
}

/** As the operator sees it, and whoever publishes it. */
export interface DelayedPush extends Omit<NewDelayedPush, 'client'> {
  /** The client that pushed it; null: the push has ended. */
  readonly client: string | null;
  /**
   * Why it ended, or how it was published, and what to do; while it waits: why it could not be
   * published yet.
   */
  readonly said: readonly string[];
  /** How many attempts to publish it have failed. */
  readonly failures: number;
  readonly isApproved: boolean;
}

/** The pull request that it has opened or updated. */
export interface PublishedAs {
  readonly prHash: string;
  readonly url: string;
  /**
   * Whether its page may show the key: the push has opened the pull request, or came with its key.
   * Everybody who knows the hash may update, without the key.
   */
  readonly isKeyShown: boolean;
}

/** The part that its page may tell. The window is 0 once it has ended. */
export interface DelayedView extends Pick<DelayedPush, 'name' | 'reason' | 'from' | 'to' | 'until' | 'said'> {
  readonly state: DelayState;
  /** Its person wants it no more. What is public of it could not be removed yet. */
  readonly isGivenUp: boolean;
  /** The pull request that it has become; null: it is not published. */
  readonly published: PublishedAs | null;
  /** Whether it waits for the operator. */
  readonly waitsForReview: boolean;
  /** Whether somebody publishes it now, or removes it. */
  readonly isBeingPublished: boolean;
  /** Whether somebody has begun to publish it, so that part of it may be public. */
  readonly isBegun: boolean;
}

/** The answer to a push that is to be kept. `clientBytes`: how many one client may keep. */
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
     * The decision of the first attempt to publish it, which every later one uses again; null:
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

/** Names the push that the operator has seen. `attempt` names its spool. */
export type SeenPush = { readonly name: string; readonly attempt: string };

/**
 * The reason why an attempt ended. `review`: the operator has to see the push first, by a setting
 * newer than the push, or because it could not be removed. `askedMs`: how long the refusing side
 * asks to wait. `counts`: whether the next pause grows.
 */
export type DelayFailure =
  | { readonly kind: 'review' }
  | ({ readonly said: readonly string[] } & (
      | { readonly kind: 'final' }
      | { readonly kind: 'later'; readonly askedMs: number; readonly counts: boolean }
    ));

/** How many bytes its spool holds. */
export const bytesOf = ({ spool }: Pick<DelayedPush, 'spool'>): number => spool.rowEnds.at(-1) ?? 0;

/**
 * Makes a push unreadable for good: deletes its key, then its rows. If it rejects, the rest goes
 * when it expires.
 */
export async function shred(
  env: Pick<Env, 'DELAYED_KEYS' | 'SPOOL' | 'ONE_MACHINE'>,
  attempt: string,
): Promise<void> {
  await env.DELAYED_KEYS.delete(attempt);
  while (await spoolOf(env, attempt).remove(attempt));
}
