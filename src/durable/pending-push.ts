/**
 * One push from its first bytes until its answer has gone out, by the hash of what is pushed and where to.
 *
 * A push that died before its answer was sent is simply pushed again. It then finds here what it was working on: the
 * same pr_hash, so that no second pull request is opened, and the same date, so that the commits get the same ids. What
 * was answered is forgotten: the same commit pushed once more is a new pull request.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Env } from '../env.ts';
import { Lease } from './lease.ts';

/** After this long a push that nobody has repeated is forgotten. */
const LIFE_MS = 60 * 60 * 1000;

/** What a push decides once, and keeps when it is repeated. */
export interface PushIntent {
  /** Of the pull request that it opens. */
  readonly prHash: string;
  /** Seconds since 1970: the date of its commits. */
  readonly committedAt: number;
}

export type BegunPush =
  /** The same push is under way. */
  | { readonly kind: 'busy' }
  | {
      readonly kind: 'begun';
      readonly lease: number;
      readonly intent: PushIntent;
      readonly isRepeated: boolean;
    };

export class PendingPush extends DurableObject<Env> {
  readonly #lease = new Lease();

  /** @param proposed what the push decides, if it is not a repetition. @param at milliseconds since 1970. */
  async begin(proposed: PushIntent, at: number): Promise<BegunPush> {
    const { kv } = this.ctx.storage;
    const lease = this.#lease.take(at);
    if (lease === null) return { kind: 'busy' };
    const earlier = kv.get<PushIntent & { until: number }>('intent');
    if (earlier !== undefined && at < earlier.until) {
      const { prHash, committedAt } = earlier;
      return { kind: 'begun', lease, intent: { prHash, committedAt }, isRepeated: true };
    }
    kv.put('intent', { ...proposed, until: at + LIFE_MS });
    await this.ctx.storage.setAlarm(at + LIFE_MS);
    return { kind: 'begun', lease, intent: proposed, isRepeated: false };
  }

  /** @param isAnswered the answer has gone out, and the push is over; if not, it may be repeated. */
  async end(lease: number, isAnswered: boolean): Promise<void> {
    this.#lease.release(lease);
    if (isAnswered) await this.#forget();
  }

  override async alarm(): Promise<void> {
    await this.#forget();
  }

  async #forget(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }
}
