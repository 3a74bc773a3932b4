/** When the operator is told, or was told last, that pushes wait for them. Stored for an hour: it tells when somebody has pushed. */
import { REVIEW_ALERT_PAUSE_MS } from '../../limits/limits.ts';
import { isAhead } from '../../isolate/clock.ts';

const KEY = 'review-told';

export class ReviewTold {
  readonly #kv: SyncKvStorage;

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** When to tell what there is to tell now: at once, or as long after the last time as it must be. */
  next(now: number): number {
    const last = this.#kv.get<number>(KEY) ?? 0;
    if (isAhead(last, REVIEW_ALERT_PAUSE_MS, now)) return last;
    return Math.max(now, Math.min(now, last) + REVIEW_ALERT_PAUSE_MS);
  }

  /** @param at from `next`. */
  set(at: number): void {
    if (this.#kv.get<number>(KEY) !== at) this.#kv.put(KEY, at);
  }

  /** Answers when there is something to forget; null: there is nothing. */
  forgetOld(now: number): number | null {
    const told = this.#kv.get<number>(KEY);
    if (told === undefined) return null;
    const end = told + REVIEW_ALERT_PAUSE_MS;
    if (isAhead(end, 2 * REVIEW_ALERT_PAUSE_MS, now)) return end;
    this.#kv.delete(KEY);
    return null;
  }
}
